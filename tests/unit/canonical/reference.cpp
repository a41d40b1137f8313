// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <tests/unit/canonical/samples.hpp>

namespace assay::canonical::test {
namespace {

std::uint32_t canon(float x) {
    if (std::isnan(x)) {
        return 0x7fc00000;
    }
    return x == 0.0F ? 0 : std::bit_cast<std::uint32_t>(x);
}

int clamped(std::int64_t k) { return static_cast<int>(std::clamp<std::int64_t>(k, -1000, 1000)); }

// A whole tensor read at (row, col), a dimension of 1 repeated.
std::size_t at(const Tensor& t, std::size_t row, std::size_t col) {
    return (t.shape.rows == 1 ? 0 : row) * t.shape.cols + (t.shape.cols == 1 ? 0 : col);
}

float chain(Op op, float x) {
    const double wide{x};
    if (std::isnan(x)) {
        return x;
    }
    if (op == Op::kSin || op == Op::kCos) {
        const double result = std::fabs(wide) > 0x1p30 ? std::nan("") : op == Op::kSin ? sin_f64(wide) : cos_f64(wide);
        return static_cast<float>(result);
    }
    if (op == Op::kLog) {
        if (x == 0.0F) {
            return -std::numeric_limits<float>::infinity();
        }
        if (x < 0.0F) {
            return std::numeric_limits<float>::quiet_NaN();
        }
        return std::isinf(x) ? x : static_cast<float>(log_f64(wide));
    }
    return static_cast<float>(op == Op::kExp ? exp_f64(wide) : op == Op::kTanh ? tanh_f64(wide) : erf_f64(wide));
}

float step_count(const Sample& s) {
    const auto [divisor, modulus] = s.node.attributes;
    std::uint64_t count = s.context.step / divisor;
    count = modulus == 0 ? count : count % modulus;
    // The two halves are exact in a long double of 64 bits; so is their sum.
    return static_cast<float>(
        std::ldexp(static_cast<long double>(count >> 32U), 32) + static_cast<long double>(count & 0xffffffffU)
    );
}

float elementwise(const Sample& s, std::size_t row, std::size_t col) {
    const auto [a, b] = s.node.attributes;
    const float c = std::bit_cast<float>(a);
    const auto operand = [&](std::size_t i) {
        return s.inputs.size() <= i ? 0.0F : get_f32(s.inputs[i], at(s.inputs[i], row, col));
    };
    const float x = operand(0);
    const float y = operand(1);
    switch (s.node.op) {
        case Op::kStepCount:
            return step_count(s);
        case Op::kFromBits:
            return x;
        case Op::kToFloat: {
            const std::int32_t value = get_i32(s.inputs[0], at(s.inputs[0], row, col));
            return static_cast<float>(static_cast<double>(value));
        }
        case Op::kAbs:
            return std::fabs(x);
        case Op::kFloor:
            return std::floor(x);
        case Op::kRint:
            return std::nearbyint(x);
        case Op::kMax:
            return x > y ? x : y;
        case Op::kMin:
            return x < y ? x : y;
        case Op::kLess:
            return std::isless(x, y) ? 1.0F : 0.0F;
        case Op::kEqual:
            return x == y ? 1.0F : 0.0F;
        case Op::kSelect:
            return y != 0.0F ? x : operand(2);
        case Op::kCausalMask:
            return col <= row % a ? x : std::bit_cast<float>(b);
        case Op::kFill:
            return c;
        case Op::kAdd:
            return x + y;
        case Op::kSub:
            return x - y;
        case Op::kMul:
            return x * y;
        case Op::kDiv:
            return x / y;
        case Op::kSqrt:
            return std::sqrt(x);
        case Op::kScale:
            return x * c;
        case Op::kAddConst:
            return x + c;
        case Op::kRelu:
            return x > 0 ? x : 0.0F;
        case Op::kReluGrad:
            return x > 0 ? y : 0.0F;
        default:
            return chain(s.node.op, x);
    }
}

std::uint32_t random_element(const Sample& s, std::size_t n) {
    const auto word = [](std::uint64_t x) { return static_cast<std::uint32_t>(x & 0xffffffffU); };
    const auto words = philox4x32(
        {word(n / 4), s.node.attributes[1], word(s.context.step), word(s.context.step >> 32U)},
        {word(s.context.seed), word(s.context.seed >> 32U)}
    );
    if (s.node.op == Op::kBernoulli) {
        return canon(words[n % 4] < s.node.attributes[0] ? 1.0F : 0.0F);
    }
    const float bound = std::bit_cast<float>(s.node.attributes[0]);
    const double u = std::ldexp(double(words[n % 4] >> 8U), -24);
    const auto scaled = static_cast<float>(u * (2.0 * double{bound}));
    return canon(static_cast<float>(double{scaled} - double{bound}));
}

// The flat index of the input's element under flat output element `n`; -1 for fill.
std::int64_t source_of(const View& view, std::size_t n) {
    __extension__ using Wide = __int128;
    std::vector<std::int64_t> index(view.dims.size());
    for (std::size_t i = index.size(); i > 0; --i) {
        index[i - 1] = static_cast<std::int64_t>(n % view.dims[i - 1]);
        n /= view.dims[i - 1];
    }
    std::int64_t flat = 0;
    for (const ViewAxis& axis : view.axes) {
        Wide sum = axis.offset;
        for (std::size_t i = 0; i < index.size(); ++i) {
            sum += static_cast<Wide>(axis.strides[i]) * index[i];
        }
        const Wide coordinate = sum < 0 ? -1 : sum / axis.divisor;
        if (coordinate * axis.divisor != sum || coordinate < 0 || coordinate >= axis.size) {
            return -1;
        }
        flat = flat * axis.size + static_cast<std::int64_t>(coordinate);
    }
    return flat;
}

void view(const Sample& s, Tensor& out) {
    for (std::size_t n = 0; n < s.node.shape.element_count(); ++n) {
        const std::int64_t source = source_of(*s.node.view, n);
        const auto at = static_cast<std::size_t>(source);
        if (s.node.dtype == DType::kI64) {
            set_i64(out, n, source < 0 ? 0 : get_i64(s.inputs[0], at));
        } else if (source >= 0) {
            set_u32(out, n, get_u32(s.inputs[0], at));
        } else {
            const std::uint32_t fill = s.node.attributes[0];
            set_u32(out, n, s.node.dtype == DType::kF32 ? canon(std::bit_cast<float>(fill)) : fill);
        }
    }
}

void movement(const Sample& s, const RowSource& rows, Tensor& out) {
    const auto [m, n] = s.node.shape;
    const auto copy = [&](std::size_t to, const Tensor& from, std::size_t index) {
        const std::size_t size = size_of(from.dtype);
        std::copy_n(
            from.data.begin() + static_cast<std::ptrdiff_t>(index * size), size,
            out.data.begin() + static_cast<std::ptrdiff_t>(to * size)
        );
    };
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            const std::size_t to = i * n + j;
            if (s.node.op == Op::kOneHot) {
                set_f32(out, to, get_i32(s.inputs[0], i) == static_cast<std::int64_t>(j) ? 1.0F : 0.0F);
            } else if (s.node.op == Op::kGatherRows) {
                const std::size_t depth = s.inputs[0].shape.cols;
                const std::int32_t index = get_i32(s.inputs[1], i * s.inputs[1].shape.cols + j / depth);
                if (index >= 0 && static_cast<std::uint32_t>(index) < s.inputs[0].shape.rows) {
                    copy(to, s.inputs[0], static_cast<std::size_t>(index) * depth + j % depth);
                }
            } else {
                const std::uint64_t row = batch_row(s.context.seed, s.context.step * m + i, s.context.dataset.rows);
                std::copy_n(rows.row(row).data() + j * 4, 4, out.data.begin() + static_cast<std::ptrdiff_t>(to * 4));
            }
        }
    }
}

void scatter(const Sample& s, Tensor& out) {
    const Tensor& q = s.inputs[0];
    const Tensor& index = s.inputs[1];
    const std::size_t depth = s.node.shape.cols;
    for (std::size_t i = 0; i < index.shape.element_count(); ++i) {
        const std::int32_t row = get_i32(index, i);
        if (row < 0 || static_cast<std::uint32_t>(row) >= s.node.shape.rows) {
            continue;
        }
        for (std::size_t j = 0; j < depth; ++j) {
            const std::size_t to = static_cast<std::size_t>(row) * depth + j;
            set_i64(out, to, get_i64(out, to) + get_i32(q, i * depth + j));
        }
    }
}

void reduce_row(const Sample& s, std::size_t row, Tensor& out) {
    const Tensor& x = s.inputs[0];
    const std::size_t cols = x.shape.cols;
    std::int64_t sum = 0;
    std::int32_t largest = std::numeric_limits<std::int32_t>::min();
    float largest_f = -std::numeric_limits<float>::infinity();
    std::int32_t first = -1;
    for (std::size_t j = 0; j < cols; ++j) {
        sum += get_i32(x, row * cols + j);
        largest = std::max(largest, get_i32(x, row * cols + j));
        const float value = get_f32(x, row * cols + j);
        largest_f = !std::isnan(value) && value > largest_f ? value : largest_f;
    }
    for (std::size_t j = cols; j > 0; --j) {
        first = get_f32(x, row * cols + j - 1) == largest_f ? static_cast<std::int32_t>(j - 1) : first;
    }
    if (s.node.op == Op::kRowSum) {
        set_i64(out, row, sum);
    } else if (s.node.op == Op::kRowArgMax) {
        set_i32(out, row, std::max(first, 0));
    } else if (x.dtype == DType::kI32) {
        set_i32(out, row, largest);
    } else {
        set_u32(out, row, canon(largest_f));
    }
}

int exponent(const Tensor& x, std::size_t row, std::size_t first, std::size_t last) {
    float largest = 0.0F;
    for (std::size_t j = first; j < last; ++j) {
        const float magnitude = std::fabs(get_f32(x, row * x.shape.cols + j));
        largest = std::isfinite(magnitude) ? std::max(largest, magnitude) : largest;
    }
    int out = 0;
    std::frexp(largest, &out);
    return out;
}

std::int32_t quantise(const Sample& s, std::size_t row, std::size_t col) {
    const auto [precision, chunk] = s.node.attributes;
    const float x = get_f32(s.inputs[0], row * s.node.shape.cols + col);
    const Tensor& e = s.inputs[1];
    const std::int64_t exponent = get_i32(e, at(e, row, chunk == 0 ? 0 : col / chunk));
    if (!std::isfinite(x)) {
        return 0;
    }
    const double limit = precision == 7 ? 127.0 : std::ldexp(1.0, static_cast<int>(precision));
    const double scaled = std::ldexp(double{x}, clamped(precision - exponent));
    return static_cast<std::int32_t>(std::nearbyint(std::clamp(scaled, -limit, limit)));
}

std::uint32_t contract(const Sample& s, std::size_t row, std::size_t col) {
    __extension__ using Wide = __int128;
    const auto [precision, chunk] = s.node.attributes;
    const std::size_t depth = s.inputs[0].shape.cols;
    const std::size_t chunks = s.inputs[1].shape.cols;
    const std::size_t groups = s.inputs[2].shape.rows / s.node.shape.cols;
    const std::size_t right = row / (s.node.shape.rows / groups) * s.node.shape.cols + col;
    double sum = 0.0;
    for (std::size_t c = 0; c < chunks; ++c) {
        Wide exact = 0;
        for (std::size_t k = c * chunk; k < std::min<std::size_t>(depth, (c + 1) * chunk); ++k) {
            exact += static_cast<Wide>(get_i32(s.inputs[0], row * depth + k)) * get_i32(s.inputs[2], right * depth + k);
        }
        const std::int64_t ea = get_i32(s.inputs[1], row * chunks + c);
        const std::int64_t eb = get_i32(s.inputs[3], right * chunks + c);
        const double once = std::ldexp(static_cast<double>(static_cast<std::int64_t>(exact)), clamped(ea - precision));
        sum += std::ldexp(once, clamped(eb - precision));
    }
    return canon(static_cast<float>(sum));
}

// The bf16 on either side of a finite x: the one towards zero, and the next one away from it.
std::uint32_t narrowed(const Sample& s, std::size_t row, std::size_t col) {
    const float x = get_f32(s.inputs[0], at(s.inputs[0], row, col));
    if (std::isnan(x)) {
        return 0x7fc0;
    }
    if (std::isinf(x)) {
        return x > 0 ? 0x7f80 : 0xff80;
    }
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t lower = bits / 65536;
    const std::uint32_t rest = bits % 65536;  // in 65536ths of the step between the two
    bool is_upper = rest > 32768 || (rest == 32768 && lower % 2 == 1);
    if (s.inputs.size() == 2) {
        const double u{get_f32(s.inputs[1], at(s.inputs[1], row, col))};
        const double dither = std::isnan(u) ? 0.0 : std::clamp(u * 65536.0 + 32768.0, 0.0, 65535.0);
        is_upper = rest + std::floor(dither) >= 65536.0;
    }
    const std::uint32_t half = lower + (is_upper ? 1 : 0);
    return half == 0x8000 ? 0 : half;
}

void convert_narrow(const Sample& s, std::size_t row, std::size_t col, Tensor& out) {
    const std::size_t to = row * s.node.shape.cols + col;
    switch (s.node.dtype) {
        case DType::kBf16:
            return set_u16(out, to, static_cast<std::uint16_t>(narrowed(s, row, col)));
        case DType::kI8:
            return set_i8(out, to, static_cast<std::int8_t>(std::clamp(get_i32(s.inputs[0], to), -128, 127)));
        case DType::kI32:
            return set_i32(out, to, get_i8(s.inputs[0], to));
        default:
            return set_u32(out, to, canon(std::bit_cast<float>(get_u16(s.inputs[0], to) * 65536U)));
    }
}

}  // namespace

Tensor reference(const Sample& s, const RowSource& rows) {
    Tensor out = make_tensor(s.node.dtype, s.node.shape);
    const Op op = s.node.op;
    const auto [m, n] = s.node.shape;
    if (op == Op::kScatterAddRows) {
        scatter(s, out);
        return out;
    }
    if (op == Op::kView) {
        view(s, out);
        return out;
    }
    if (op == Op::kBatchRows || op == Op::kGatherRows || op == Op::kOneHot) {
        movement(s, rows, out);
        return out;
    }
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            const std::size_t to = i * n + j;
            if (op == Op::kRowExponent) {
                const std::size_t chunk = s.node.attributes[0];
                const std::size_t last = std::min<std::size_t>(s.inputs[0].shape.cols, (j + 1) * chunk);
                set_i32(out, to, exponent(s.inputs[0], i, j * chunk, last));
            } else if (op == Op::kRowMax || op == Op::kRowSum || op == Op::kRowArgMax) {
                reduce_row(s, i, out);
            } else if (op == Op::kQuantise) {
                set_i32(out, to, quantise(s, i, j));
            } else if (op == Op::kDequantise) {
                const std::int64_t e = get_i32(s.inputs[1], at(s.inputs[1], i, 0));
                const auto q = static_cast<double>(get_i64(s.inputs[0], to));
                set_u32(out, to, canon(static_cast<float>(std::ldexp(q, clamped(e - s.node.attributes[0])))));
            } else if (op == Op::kContract) {
                set_u32(out, to, contract(s, i, j));
            } else if (op == Op::kToInt) {
                const double x{get_f32(s.inputs[0], to)};
                const double whole = std::clamp(std::trunc(x), -0x1p31, 0x1p31 - 1);
                set_i32(out, to, std::isnan(x) ? 0 : static_cast<std::int32_t>(whole));
            } else if (op == Op::kNarrow || op == Op::kWiden) {
                convert_narrow(s, i, j, out);
            } else if (op == Op::kUniform || op == Op::kBernoulli) {
                set_u32(out, to, random_element(s, to));
            } else {
                set_u32(out, to, canon(elementwise(s, i, j)));
            }
        }
    }
    return out;
}

}  // namespace assay::canonical::test
