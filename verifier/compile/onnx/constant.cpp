// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/onnx/constant.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <core/base/assert.hpp>
#include <verifier/compile/onnx/limits.hpp>

namespace assay::onnx {
namespace {

Constant empty_like(ElementType type, program::Dims dims) { return Constant{type, std::move(dims), {}, {}}; }

// One element stands for all where they are equal, so that large uniform arrays cost nothing.
template <class T>
void shrink(std::vector<T>& values) {
    const auto differs = [&](const T& value) { return !(value == values.front()); };
    if (values.size() > 1 && std::none_of(values.begin(), values.end(), differs)) {
        values.resize(1);
        values.shrink_to_fit();
    }
}

// The flat position in the input of one element of a view's output, or nothing.
std::optional<std::size_t> source_of(const canonical::View& view, std::span<const std::uint32_t> index) {
    std::size_t flat = 0;
    for (const canonical::ViewAxis& axis : view.axes) {
        std::int64_t at = axis.offset;
        for (std::size_t d = 0; d < index.size(); ++d) {
            at += std::int64_t{axis.strides[d]} * index[d];
        }
        if (at < 0 || at % axis.divisor != 0 || at / axis.divisor >= axis.size) {
            return std::nullopt;
        }
        flat = flat * axis.size + static_cast<std::size_t>(at / axis.divisor);
    }
    return flat;
}

void advance(std::vector<std::uint32_t>& index, const program::Dims& dims) {
    for (std::size_t d = dims.size(); d-- > 0;) {
        if (++index[d] < dims[d]) {
            return;
        }
        index[d] = 0;
    }
}

}  // namespace

std::uint64_t Constant::count() const { return checked_elements(dims); }

double Constant::real(std::size_t i) const {
    if (!is_real()) {
        return static_cast<double>(integer(i));
    }
    return reals.size() == 1 ? reals[0] : reals[i];
}

std::int64_t Constant::integer(std::size_t i) const {
    ASSERT(!is_real());
    return integers.size() == 1 ? integers[0] : integers[i];
}

Constant make_reals(ElementType type, program::Dims dims, std::vector<double> values) {
    Constant out = empty_like(type, std::move(dims));
    out.reals = std::move(values);
    shrink(out.reals);
    return out;
}

Constant make_integers(ElementType type, program::Dims dims, std::vector<std::int64_t> values) {
    Constant out = empty_like(type, std::move(dims));
    out.integers = std::move(values);
    shrink(out.integers);
    return out;
}

Constant make_uniform(ElementType type, program::Dims dims, double value) {
    if (kind_of(type) == Kind::kReal) {
        return make_reals(type, std::move(dims), {value});
    }
    return make_integers(type, std::move(dims), {static_cast<std::int64_t>(value)});
}

Constant make_index(std::span<const std::int64_t> values) {
    return make_integers(
        ElementType::kInt64, {static_cast<std::uint32_t>(values.size())}, {values.begin(), values.end()}
    );
}

Constant to_constant(const HostTensor& tensor) {
    if (checked_elements(tensor.dims) > kMaxConstant) {
        refuse_too_large("an array of dimensions " + to_text(tensor.dims) + " is too large to compute with at import");
    }
    const std::size_t count = count_of(tensor);
    Constant out = empty_like(tensor.type, tensor.dims);
    for (std::size_t i = 0; i < count; ++i) {
        if (out.is_real()) {
            out.reals.push_back(real_at(tensor, i));
        } else {
            out.integers.push_back(integer_at(tensor, i));
        }
    }
    shrink(out.reals);
    shrink(out.integers);
    return out;
}

double rounded(ElementType type, double value) {
    return type == ElementType::kFloat ? static_cast<double>(static_cast<float>(value)) : value;
}

std::int64_t wrapped(ElementType type, std::int64_t value) {
    const std::uint32_t bits = integer_bits(type);
    if (type == ElementType::kBool) {
        return value != 0 ? 1 : 0;
    }
    if (bits == 0 || bits >= 64) {
        return value;
    }
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    const std::uint64_t low = static_cast<std::uint64_t>(value) & mask;
    const bool is_negative = is_signed(type) && (low >> (bits - 1)) != 0;
    return static_cast<std::int64_t>(is_negative ? low | ~mask : low);
}

Constant cast_constant(const Constant& x, ElementType to) {
    Constant out = empty_like(to, x.dims);
    const std::size_t stored = x.is_real() ? x.reals.size() : x.integers.size();
    for (std::size_t i = 0; i < stored; ++i) {
        if (out.is_real()) {
            out.reals.push_back(rounded(to, x.real(i)));
        } else if (!x.is_real()) {
            out.integers.push_back(wrapped(to, x.integers[i]));
        } else if (to == ElementType::kBool) {
            out.integers.push_back(x.reals[i] != 0.0 ? 1 : 0);
        } else {
            constexpr double kLimit = 0x1p62;
            const double value = std::isnan(x.reals[i]) ? 0.0 : std::clamp(std::trunc(x.reals[i]), -kLimit, kLimit);
            out.integers.push_back(wrapped(to, static_cast<std::int64_t>(value)));
        }
    }
    shrink(out.reals);
    shrink(out.integers);
    return out;
}

Constant view_constant(const Constant& x, const canonical::View& view, double fill) {
    Constant out = empty_like(x.type, view.dims);
    const std::uint64_t count = out.count();
    std::vector<std::uint32_t> index(view.dims.size(), 0);
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto from = source_of(view, index);
        if (x.is_real()) {
            out.reals.push_back(from ? x.real(*from) : fill);
        } else {
            out.integers.push_back(from ? x.integer(*from) : static_cast<std::int64_t>(fill));
        }
        advance(index, view.dims);
    }
    shrink(out.reals);
    shrink(out.integers);
    return out;
}

BroadcastIndex::BroadcastIndex(const program::Dims& from, const program::Dims& to) : to_(to), strides_(to.size(), 0) {
    std::size_t stride = 1;
    for (std::size_t d = from.size(); d-- > 0;) {
        const std::size_t axis = d + to.size() - from.size();
        strides_[axis] = from[d] == 1 ? 0 : stride;
        stride *= from[d];
    }
}

std::size_t BroadcastIndex::operator()(std::size_t i) const {
    std::size_t out = 0;
    for (std::size_t d = to_.size(); d-- > 0;) {
        out += i % to_[d] * strides_[d];
        i /= to_[d];
    }
    return out;
}

namespace {

// `f` of the two constants' elements at the same place, into `out`; once where both have one value only.
template <class Values, class F>
void zip(
    const Constant& a, const Constant& b, const program::Dims& dims, std::uint64_t count, Values& out, const F& f
) {
    const BroadcastIndex ia(a.dims, dims);
    const BroadcastIndex ib(b.dims, dims);
    const bool is_uniform = a.is_uniform() && b.is_uniform();
    for (std::uint64_t i = 0; i < (is_uniform ? std::min<std::uint64_t>(count, 1) : count); ++i) {
        out.push_back(f(ia(i), ib(i)));
    }
    shrink(out);
}

}  // namespace

Constant zip_reals(
    const Constant& a, const Constant& b, const program::Dims& dims, ElementType type, const RealOperation& f
) {
    Constant out = empty_like(type, dims);
    zip(a, b, dims, out.count(), out.reals,
        [&](std::size_t i, std::size_t j) { return rounded(type, f(a.real(i), b.real(j))); });
    return out;
}

Constant zip_integers(
    const Constant& a, const Constant& b, const program::Dims& dims, ElementType type, const IntegerOperation& f
) {
    Constant out = empty_like(type, dims);
    zip(a, b, dims, out.count(), out.integers,
        [&](std::size_t i, std::size_t j) { return wrapped(type, f(a.integer(i), b.integer(j))); });
    return out;
}

Constant compare_constants(
    const Constant& a, const Constant& b, const program::Dims& dims, const std::function<bool(double, double)>& f
) {
    Constant out = empty_like(ElementType::kBool, dims);
    const std::uint64_t count = out.count();
    const BroadcastIndex ia(a.dims, dims);
    const BroadcastIndex ib(b.dims, dims);
    for (std::uint64_t i = 0; i < count; ++i) {
        if (a.is_real()) {
            out.integers.push_back(f(a.real(ia(i)), b.real(ib(i))) ? 1 : 0);
        } else {
            // By their order: an i64 need not fit a double.
            const std::int64_t x = a.integer(ia(i));
            const std::int64_t y = b.integer(ib(i));
            out.integers.push_back(f((x > y ? 1.0 : 0.0) - (x < y ? 1.0 : 0.0), 0.0) ? 1 : 0);
        }
    }
    shrink(out.integers);
    return out;
}

Constant where_constant(const Constant& condition, const Constant& x, const Constant& y, const program::Dims& dims) {
    Constant out = empty_like(x.type, dims);
    const std::uint64_t count = out.count();
    const BroadcastIndex ic(condition.dims, dims);
    const BroadcastIndex ix(x.dims, dims);
    const BroadcastIndex iy(y.dims, dims);
    for (std::uint64_t i = 0; i < count; ++i) {
        const bool first = condition.integer(ic(i)) != 0;
        if (x.is_real()) {
            out.reals.push_back(first ? x.real(ix(i)) : y.real(iy(i)));
        } else {
            out.integers.push_back(first ? x.integer(ix(i)) : y.integer(iy(i)));
        }
    }
    shrink(out.reals);
    shrink(out.integers);
    return out;
}

Constant take_constant(const Constant& x, std::size_t axis, std::span<const std::int64_t> indices) {
    Constant out = empty_like(x.type, x.dims);
    out.dims[axis] = static_cast<std::uint32_t>(indices.size());
    std::size_t inner = 1;
    for (std::size_t d = axis + 1; d < x.dims.size(); ++d) {
        inner *= x.dims[d];
    }
    const std::uint64_t count = out.count();
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::size_t block = i / inner / indices.size();
        const auto at = static_cast<std::size_t>(indices[i / inner % indices.size()]);
        const std::size_t from = (block * x.dims[axis] + at) * inner + i % inner;
        if (out.is_real()) {
            out.reals.push_back(x.real(from));
        } else {
            out.integers.push_back(x.integer(from));
        }
    }
    shrink(out.reals);
    shrink(out.integers);
    return out;
}

Constant concat_constants(std::span<const Constant* const> parts, std::size_t axis, program::Dims dims) {
    Constant out = empty_like(parts[0]->type, std::move(dims));
    std::size_t outer = 1;
    for (std::size_t d = 0; d < axis; ++d) {
        outer *= out.dims[d];
    }
    for (std::size_t block = 0; block < outer; ++block) {
        for (const Constant* part : parts) {
            const std::size_t width = part->count() / outer;
            for (std::size_t i = block * width; i < (block + 1) * width; ++i) {
                if (out.is_real()) {
                    out.reals.push_back(part->real(i));
                } else {
                    out.integers.push_back(part->integer(i));
                }
            }
        }
    }
    shrink(out.reals);
    shrink(out.integers);
    return out;
}

}  // namespace assay::onnx
