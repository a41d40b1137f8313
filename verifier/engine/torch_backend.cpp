// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <core/base/assert.hpp>
#include <verifier/canonical/transcendental.hpp>
#include <verifier/engine/backend.hpp>

namespace assay::engine {
namespace {

using canonical::DType;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Tensor;

constexpr std::int64_t kCanonicalNan = 0x7fc00000;
constexpr std::int64_t kInfinity = 0x7f800000;
constexpr std::int64_t kMagnitude = 0x7fffffff;
constexpr std::int64_t kHalfBits = 12;  // how a product in two doubles cuts its right operand

at::ScalarType scalar_type(DType dtype) {
    return dtype == DType::kF32 ? at::kFloat : dtype == DType::kI32 ? at::kInt : at::kLong;
}

std::int64_t rows_of(const at::Tensor& x) { return x.size(0); }
std::int64_t cols_of(const at::Tensor& x) { return x.size(1); }

// Operations on one device. Constants are 0-dim tensors of the device: dividing by a host scalar is not a division
// on every device. No operation multiplies and adds at once.
class Arithmetic {
  public:
    explicit Arithmetic(const std::string& device)
        : device_(device),
          zero_(f32(0.0)),
          nan_(bits(kCanonicalNan)),
          minus_infinity_(bits(0xff800000)),
          plus_infinity_(bits(kInfinity)),
          bias_(f64(canonical::kRoundingBias)) {}

    at::Device device() const { return device_; }
    at::Tensor f64(double x) const { return at::full({}, x, at::TensorOptions(device_).dtype(at::kDouble)); }
    at::Tensor f32(double x) const { return at::full({}, x, at::TensorOptions(device_).dtype(at::kFloat)); }
    /// The f32 with these bits, whatever they mean.
    at::Tensor bits(std::int64_t word) const {
        const auto as_int = static_cast<std::int32_t>(word);
        return at::full({1}, as_int, at::TensorOptions(device_).dtype(at::kInt)).view(at::kFloat).reshape({});
    }

    /// NUM-6
    at::Tensor canonical_f32(const at::Tensor& x) const { return at::where(x.ne(x), nan_, at::add(x, zero_)); }
    /// NUM-10: 2^k, k i64, clamped to +-1000.
    static at::Tensor power_of_two(const at::Tensor& k) {
        return ((k.clamp(-1000, 1000) + 1023) * (std::int64_t{1} << 52)).contiguous().view(at::kDouble);
    }
    at::Tensor rint(const at::Tensor& x) const { return at::sub(at::add(x, bias_), bias_); }
    static at::Tensor magnitude(const at::Tensor& x) { return x.contiguous().view(at::kInt).bitwise_and(kMagnitude); }

    at::Tensor binary(Op op, const at::Tensor& x, const at::Tensor& y) const {
        switch (op) {
            case Op::kAdd: return canonical_f32(at::add(x, y));
            case Op::kSub: return canonical_f32(at::sub(x, y));
            case Op::kMul: return canonical_f32(at::mul(x, y));
            case Op::kDiv: return canonical_f32(at::div(x, y));
            default: return canonical_f32(at::where(x.gt(zero_), y, zero_));
        }
    }

    at::Tensor unary(Op op, const at::Tensor& x, std::uint32_t attribute) const {
        switch (op) {
            case Op::kSqrt: return canonical_f32(at::sqrt(x));
            case Op::kScale: return canonical_f32(at::mul(x, bits(attribute)));
            case Op::kAddConst: return canonical_f32(at::add(x, bits(attribute)));
            case Op::kRelu: return canonical_f32(at::where(x.gt(zero_), x, zero_));
            case Op::kExp: return exp(x);
            default: return log(x);
        }
    }

    at::Tensor row_max(const at::Tensor& x) const {
        if (x.scalar_type() == at::kInt) {
            return x.amax(1, true);
        }
        return canonical_f32(at::where(x.ne(x), minus_infinity_, x).amax(1, true));
    }

    // NUM-13: the exponent from the bits; a denormal's from the bits of its own bits as a number.
    static at::Tensor row_exponent(const at::Tensor& x, std::int64_t chunk) {
        const at::Tensor all = magnitude(x);
        const at::Tensor finite = all * all.lt(kInfinity).to(at::kInt);
        const std::int64_t chunks = (cols_of(x) + chunk - 1) / chunk;
        const at::Tensor padded = at::constant_pad_nd(finite, {0, chunks * chunk - cols_of(x)}, 0);
        const at::Tensor best = padded.view({rows_of(x), chunks, chunk}).amax(2);
        const at::Tensor biased = best.bitwise_right_shift(23);
        const at::Tensor width = best.to(at::kFloat).view(at::kInt).bitwise_right_shift(23) - 126;
        const at::Tensor exponent = at::where(biased.ne(0), biased - 126, width - 149);
        return exponent * best.ne(0).to(at::kInt);
    }

    // NUM-14
    at::Tensor quantise(const at::Tensor& x, const at::Tensor& e, std::int64_t precision, std::int64_t chunk) const {
        at::Tensor scale = power_of_two(precision - e.to(at::kLong));
        if (cols_of(e) > 1) {
            scale = scale.unsqueeze(2).expand({rows_of(e), cols_of(e), chunk}).reshape({rows_of(e), -1});
            scale = scale.narrow(1, 0, cols_of(x));
        }
        const at::Tensor limit = power_of_two(at::full({1}, precision, at::TensorOptions(device_).dtype(at::kLong)));
        const at::Tensor finite = at::where(magnitude(x).lt(kInfinity), x, zero_);
        at::Tensor scaled = at::mul(finite.to(at::kDouble), scale);
        scaled = at::where(scaled.gt(limit), limit, scaled);
        scaled = at::where(scaled.lt(-limit), -limit, scaled);
        return rint(scaled).to(at::kInt);
    }

    at::Tensor dequantise(const at::Tensor& q, const at::Tensor& e, std::int64_t precision) const {
        const at::Tensor scale = power_of_two(e.to(at::kLong) - precision);
        return canonical_f32(at::mul(q.to(at::kDouble), scale).to(at::kFloat));
    }

  private:
    at::Tensor exp(const at::Tensor& x) const;
    at::Tensor log(const at::Tensor& x) const;
    template <std::size_t kTerms>
    at::Tensor polynomial(const std::array<double, kTerms>& terms, const at::Tensor& x) const {
        at::Tensor p = f64(terms[0]);
        for (std::size_t i = 1; i < kTerms; ++i) {
            p = at::add(at::mul(p, x), f64(terms[i]));
        }
        return p;
    }

    at::Device device_;
    at::Tensor zero_;
    at::Tensor nan_;
    at::Tensor minus_infinity_;
    at::Tensor plus_infinity_;
    at::Tensor bias_;
};

// NUM-20
at::Tensor Arithmetic::exp(const at::Tensor& x) const {
    const at::Tensor limit = f64(canonical::kExpLimit);
    at::Tensor c = at::where(x.ne(x), zero_, x).to(at::kDouble);
    c = at::where(c.lt(-limit), -limit, c);
    c = at::where(c.gt(limit), limit, c);
    const at::Tensor k = rint(at::mul(c, f64(canonical::kLog2E)));
    const at::Tensor high = at::sub(c, at::mul(k, f64(canonical::kLn2High)));
    const at::Tensor r = at::sub(high, at::mul(k, f64(canonical::kLn2Low)));
    const at::Tensor p = polynomial(canonical::kExpTerms, r);
    const at::Tensor y = at::mul(p, power_of_two(k.to(at::kLong))).to(at::kFloat);
    return canonical_f32(at::where(x.ne(x), nan_, y));
}

// NUM-21; an f32 is never denormal as a double.
at::Tensor Arithmetic::log(const at::Tensor& x) const {
    const at::Tensor one = f64(1.0);
    const at::Tensor word = x.to(at::kDouble).view(at::kLong);
    at::Tensor k = word.bitwise_right_shift(52).bitwise_and(0x7ff) - 1023;
    at::Tensor m = word.bitwise_and(0x000fffffffffffff).bitwise_or(0x3ff0000000000000).view(at::kDouble);
    const at::Tensor is_large = m.ge(f64(canonical::kSqrt2));
    m = at::where(is_large, at::mul(m, f64(0.5)), m);
    k = (k + is_large.to(at::kLong)).to(at::kDouble);
    const at::Tensor s = at::div(at::sub(m, one), at::add(m, one));
    const at::Tensor p = polynomial(canonical::kLogTerms, at::mul(s, s));
    const at::Tensor low = at::add(at::mul(k, f64(canonical::kLn2Low)), at::mul(at::add(s, s), p));
    at::Tensor y = at::add(at::mul(k, f64(canonical::kLn2High)), low).to(at::kFloat);
    y = at::where(x.eq(zero_), minus_infinity_, y);
    y = at::where(x.eq(plus_infinity_), plus_infinity_, y);
    return canonical_f32(at::where(x.ge(zero_), y, nan_));
}

// NUM-16: a b^T modulo 2^64, one column at a time, for operands that nothing bounds: not every device multiplies
// matrices of integers.
at::Tensor multiply_exact(const at::Tensor& a, const at::Tensor& b) {
    const at::Tensor wide_a = a.to(at::kLong);
    const at::Tensor wide_b = b.to(at::kLong).t().contiguous();
    at::Tensor sum = at::zeros({rows_of(a), rows_of(b)}, wide_a.options());
    for (std::int64_t k = 0; k < cols_of(a); ++k) {
        sum = sum + wide_a.narrow(1, k, 1) * wide_b.narrow(0, k, 1);
    }
    return sum;
}

at::Tensor multiply_doubles(const at::Tensor& a, const at::Tensor& b) {
    return at::mm(a.to(at::kDouble), b.to(at::kDouble).t());
}

// The exact sums of one chunk, as doubles rounded once.
at::Tensor multiply_chunk(const Task& task, const at::Tensor& a, const at::Tensor& b) {
    const std::uint32_t precision = task.node.attributes[0];
    if (task.is_bounded && fits_double(task.node, precision)) {
        return multiply_doubles(a, b);
    }
    if (task.is_bounded && precision > kHalfBits && fits_double(task.node, kHalfBits)) {
        const at::Tensor high = b.bitwise_right_shift(kHalfBits);
        const at::Tensor low = b - high * (1 << kHalfBits);
        const at::Tensor sum = multiply_doubles(a, high).to(at::kLong) * (1 << kHalfBits);
        return (sum + multiply_doubles(a, low).to(at::kLong)).to(at::kDouble);
    }
    return multiply_exact(a, b).to(at::kDouble);
}

class TorchBackend final : public Backend {
  public:
    TorchBackend(std::size_t slots, const std::string& device) : slots_(slots), math_(device) {}

    void store(Slot slot, const Tensor& tensor) override {
        const c10::InferenceMode no_autograd;
        // libtorch has no tensors of constants; the clone only reads.
        void* data = const_cast<std::uint8_t*>(tensor.data.data());
        const at::Tensor view = at::from_blob(data, sizes(tensor.shape), scalar_type(tensor.dtype));
        slots_[slot] = view.clone().to(math_.device());
    }

    Tensor load(Slot slot) const override {
        const c10::InferenceMode no_autograd;
        const at::Tensor from = held(slot).to(at::kCPU).contiguous();
        const DType dtype = from.scalar_type() == at::kFloat ? DType::kF32
                            : from.scalar_type() == at::kInt ? DType::kI32
                                                             : DType::kI64;
        const Shape shape{static_cast<std::uint32_t>(rows_of(from)), static_cast<std::uint32_t>(cols_of(from))};
        Tensor out = canonical::make_tensor(dtype, shape);
        ASSERT(from.nbytes() == out.data.size());
        std::memcpy(out.data.data(), from.data_ptr(), out.data.size());
        return out;
    }

    void release(Slot slot) override { slots_[slot].reset(); }

    bool is_finite(Slot slot) const override {
        const c10::InferenceMode no_autograd;
        const at::Tensor& x = held(slot);
        return x.scalar_type() != at::kFloat || Arithmetic::magnitude(x).amax().item<std::int32_t>() < kInfinity;
    }

    void move_all(std::span<const Slot> from, std::span<const Slot> to) override {
        std::vector<at::Tensor> moved;
        for (const Slot slot : from) {
            moved.push_back(held(slot));
        }
        for (std::size_t i = 0; i < to.size(); ++i) {
            slots_[to[i]] = std::move(moved[i]);
        }
    }

    void execute(const Task& task) override {
        const c10::InferenceMode no_autograd;
        at::Tensor out = compute(task).contiguous();
        ASSERT(out.scalar_type() == scalar_type(task.node.dtype) && out.sizes() == sizes(task.node.shape));
        slots_[task.output] = std::move(out);
    }

  private:
    static std::vector<std::int64_t> sizes(Shape shape) { return {shape.rows, shape.cols}; }
    const at::Tensor& held(Slot slot) const {
        ASSERT(slots_[slot].defined());
        return slots_[slot];
    }
    const at::Tensor& input(const Task& task, std::size_t i) const { return held(task.inputs[i]); }

    at::Tensor compute(const Task& task) const {
        const Node& node = task.node;
        const auto [a, b] = node.attributes;
        switch (node.op) {
            case Op::kFill:
                return math_.canonical_f32(math_.bits(a)).expand(sizes(node.shape));
            case Op::kTranspose:
                return input(task, 0).t();
            case Op::kSliceCols:
                return input(task, 0).narrow(1, a, node.shape.cols);
            case Op::kGatherRows:
                return gather(input(task, 0), input(task, 1), node.shape);
            case Op::kScatterAddRows:
                return scatter(input(task, 0), input(task, 1), node.shape);
            case Op::kOneHot:
                return at::arange(std::int64_t{node.shape.cols}, input(task, 0).options())
                    .unsqueeze(0)
                    .eq(input(task, 0))
                    .to(at::kFloat);
            case Op::kRowMax:
                return math_.row_max(input(task, 0));
            case Op::kRowExponent:
                return Arithmetic::row_exponent(input(task, 0), a);
            case Op::kRowSum:
                return input(task, 0).to(at::kLong).sum(1, true);
            case Op::kQuantise:
                return math_.quantise(input(task, 0), input(task, 1), a, b);
            case Op::kDequantise:
                return math_.dequantise(input(task, 0), input(task, 1), a);
            case Op::kContract:
                return contract(task);
            default:
                return task.inputs.size() == 2 ? math_.binary(node.op, input(task, 0), input(task, 1))
                                               : math_.unary(node.op, input(task, 0), a);
        }
    }

    // NUM-12: an index out of range stands for a row of zeros.
    static at::Tensor gather(const at::Tensor& table, const at::Tensor& index, Shape shape) {
        const at::Tensor flat = index.flatten().to(at::kLong);
        const at::Tensor is_row = flat.ge(0).logical_and(flat.lt(rows_of(table)));
        const at::Tensor rows = table.index_select(0, flat * is_row.to(at::kLong));
        return at::where(is_row.unsqueeze(1), rows, at::zeros({}, table.options())).view(sizes(shape));
    }

    static at::Tensor scatter(const at::Tensor& q, const at::Tensor& index, Shape shape) {
        const at::Tensor flat = index.flatten().to(at::kLong);
        const at::Tensor is_row = flat.ge(0).logical_and(flat.lt(std::int64_t{shape.rows})).to(at::kLong);
        const at::Tensor terms = q.to(at::kLong).view({-1, std::int64_t{shape.cols}}) * is_row.unsqueeze(1);
        return at::zeros(sizes(shape), terms.options()).index_add(0, flat * is_row, terms);
    }

    at::Tensor contract(const Task& task) const {
        const std::int64_t precision = task.node.attributes[0];
        const std::int64_t chunk = task.node.attributes[1];
        const at::Tensor& qa = input(task, 0);
        const at::Tensor& qb = input(task, 2);
        const at::Tensor scale_a = Arithmetic::power_of_two(input(task, 1).to(at::kLong) - precision);
        const at::Tensor scale_b = Arithmetic::power_of_two(input(task, 3).to(at::kLong) - precision).t().contiguous();
        at::Tensor sum;
        for (std::int64_t first = 0; first < cols_of(qa); first += chunk) {
            const std::int64_t count = std::min(chunk, cols_of(qa) - first);
            const at::Tensor exact = multiply_chunk(task, qa.narrow(1, first, count), qb.narrow(1, first, count));
            const at::Tensor scaled = at::mul(exact, scale_a.narrow(1, first / chunk, 1));
            const at::Tensor v = at::mul(scaled, scale_b.narrow(0, first / chunk, 1));
            sum = sum.defined() ? at::add(sum, v) : v;
        }
        return math_.canonical_f32(sum.to(at::kFloat));
    }

    std::vector<at::Tensor> slots_;
    Arithmetic math_;
};

}  // namespace

std::unique_ptr<Backend> make_torch_backend(std::size_t slots, const std::string& device) {
    return std::make_unique<TorchBackend>(slots, device);
}

}  // namespace assay::engine
