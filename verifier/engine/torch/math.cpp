// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/torch/math.hpp>

#include <bit>
#include <limits>

namespace assay::engine {

using canonical::DType;
using canonical::Node;
using canonical::Op;
using canonical::Shape;

namespace {

constexpr std::uint32_t kCanonicalNan = 0x7fc00000;
constexpr std::uint32_t kWhole = 0x4b000000;  // 2^23: from here on every f32 is a whole number

}  // namespace

at::ScalarType scalar_type(DType dtype) {
    switch (dtype) {
        case DType::kF32:
            return at::kFloat;
        case DType::kI32:
            return at::kInt;
        case DType::kBf16:
            return at::kBFloat16;
        case DType::kI8:
            return at::kChar;
        default:
            return at::kLong;
    }
}

std::vector<std::int64_t> sizes_of(Shape shape) { return {shape.rows, shape.cols}; }

DeviceMath::DeviceMath(at::Device device) : device_(device), zero_(f32(0)), nan_(f32(kCanonicalNan)) {}

at::Tensor DeviceMath::f64(double x) const {
    at::Tensor& held = doubles_[std::bit_cast<std::uint64_t>(x)];
    if (!held.defined()) {
        held = at::full({}, x, at::TensorOptions(device_).dtype(at::kDouble));
    }
    return held;
}

at::Tensor DeviceMath::f32(std::uint32_t bits) const {
    at::Tensor& held = floats_[bits];
    if (!held.defined()) {
        const auto word = std::bit_cast<std::int32_t>(bits);
        held = at::full({1}, word, at::TensorOptions(device_).dtype(at::kInt)).view(at::kFloat).reshape({});
    }
    return held;
}

at::Tensor DeviceMath::iota(std::int64_t count, at::ScalarType type) const {
    return at::arange(count, at::TensorOptions(device_).dtype(type));
}

at::Tensor DeviceMath::canon(const at::Tensor& x) const { return at::where(x.ne(x), nan_, at::add(x, zero_)); }

at::Tensor DeviceMath::power_of_two(const at::Tensor& k) {
    return ((k.clamp(-1000, 1000) + 1023) * (std::int64_t{1} << 52U)).contiguous().view(at::kDouble);
}

at::Tensor DeviceMath::rint(const at::Tensor& x) const {
    const at::Tensor bias = f64(canonical::kRoundingBias);
    return at::sub(at::add(x, bias), bias);
}

at::Tensor DeviceMath::magnitude(const at::Tensor& x) {
    return x.contiguous().view(at::kInt).bitwise_and(std::numeric_limits<std::int32_t>::max());
}

at::Tensor DeviceMath::nearest(const at::Tensor& x) const {
    const at::Tensor limit = f32(kWhole);
    const at::Tensor is_small = at::abs(x).lt(limit);
    const at::Tensor small = at::where(is_small, x, zero_).to(at::kDouble);
    return at::where(is_small, rint(small).to(at::kFloat), x);
}

at::Tensor DeviceMath::floor(const at::Tensor& x) const {
    const at::Tensor rounded = nearest(x);
    return at::where(rounded.gt(x), at::sub(rounded, f32(std::bit_cast<std::uint32_t>(1.0F))), rounded);
}

// NUM-37; within the range of i32 no device's conversion is in doubt.
at::Tensor DeviceMath::to_int(const at::Tensor& x) const {
    const at::Tensor low = f64(std::numeric_limits<std::int32_t>::min());
    const at::Tensor high = f64(std::numeric_limits<std::int32_t>::max());
    at::Tensor wide = at::where(x.ne(x), zero_, x).to(at::kDouble);
    wide = at::where(wide.lt(low), low, wide);
    wide = at::where(wide.gt(high), high, wide);
    return wide.to(at::kInt);
}

// NUM-39, in 64-bit integers: no sum wraps.
at::Tensor DeviceMath::narrow(const Node& node, std::span<const at::Tensor> inputs) const {
    if (node.dtype == DType::kI8) {
        return inputs[0].clamp(-128, 127).to(at::kChar);
    }
    constexpr std::int64_t kHalves = std::int64_t{1} << 16U;
    const at::Tensor x = canon(inputs[0]).contiguous();
    const at::Tensor bits = x.view(at::kInt).to(at::kLong).bitwise_and(std::int64_t{0xffffffff});
    const at::Tensor is_finite = magnitude(x).lt(kInfinity);
    at::Tensor dither;
    if (inputs.size() == 1) {
        dither = at::bitwise_right_shift(bits, 16).bitwise_and(1) + 0x7fff;
    } else {
        const at::Tensor u = inputs[1].to(at::kDouble);
        const at::Tensor wanted = at::add(at::mul(u, f64(65536.0)), f64(32768.0));
        dither = limited(at::where(wanted.gt(f64(0.0)), wanted, f64(0.0)), 65535.0).to(at::kLong);
    }
    const at::Tensor sum = bits + at::where(is_finite, dither, at::zeros_like(dither));
    const at::Tensor half = at::bitwise_right_shift(sum, 16);
    // The sign's bit makes a short negative; a zero has none.
    const at::Tensor as_short = at::where(half.ge(kHalves / 2), half - kHalves, half);
    return at::where(half.eq(kHalves / 2), at::zeros_like(half), as_short)
        .to(at::kShort)
        .contiguous()
        .view(at::kBFloat16);
}

// NUM-40
at::Tensor DeviceMath::widen(const Node& node, const at::Tensor& x) const {
    if (node.dtype == DType::kI32) {
        return x.to(at::kInt);
    }
    const at::Tensor half = x.contiguous().view(at::kShort).to(at::kInt);
    return canon((half * (std::int64_t{1} << 16U)).contiguous().view(at::kFloat));
}

at::Tensor DeviceMath::causal_mask(const Node& node, const at::Tensor& x) const {
    const auto [period, fill] = node.attributes;
    const at::Tensor last = iota(node.shape.rows, at::kLong).remainder(std::int64_t{period}).unsqueeze(1);
    const at::Tensor is_kept = iota(node.shape.cols, at::kLong).unsqueeze(0).le(last);
    return at::where(is_kept, x, f32(fill));
}

at::Tensor DeviceMath::unary(const Node& node, const at::Tensor& x) const {
    switch (node.op) {
        case Op::kSqrt:
            // Some builds take f32 roots from a library that does not round them correctly. One of doubles is nowhere
            // near halfway between two floats, so its own last bit cannot change the result.
            return at::sqrt(x.to(at::kDouble)).to(at::kFloat);
        case Op::kScale:
            return at::mul(x, f32(node.attributes[0]));
        case Op::kAddConst:
            return at::add(x, f32(node.attributes[0]));
        case Op::kRelu:
            return at::where(x.gt(zero_), x, zero_);
        case Op::kAbs:
            return at::abs(x);
        case Op::kFloor:
            return floor(x);
        case Op::kRint:
            return nearest(x);
        case Op::kExp:
            return exp(x);
        case Op::kLog:
            return log(x);
        case Op::kTanh:
            return tanh(x);
        case Op::kErf:
            return erf(x);
        case Op::kSin:
            return trig(x, 0);
        case Op::kCos:
            return trig(x, 1);
        case Op::kFromBits:
            return x.contiguous().view(at::kFloat);
        case Op::kToFloat:
            return x.to(at::kFloat);
        default:
            return causal_mask(node, x);
    }
}

at::Tensor DeviceMath::binary(Op op, const at::Tensor& x, const at::Tensor& y) const {
    switch (op) {
        case Op::kAdd:
            return at::add(x, y);
        case Op::kSub:
            return at::sub(x, y);
        case Op::kMul:
            return at::mul(x, y);
        case Op::kDiv:
            return at::div(x, y);
        case Op::kMax:
            return at::where(x.gt(y), x, y);
        case Op::kMin:
            return at::where(x.lt(y), x, y);
        case Op::kLess:
            return truth(x.lt(y));
        case Op::kEqual:
            return truth(x.eq(y));
        default:
            return at::where(x.gt(zero_), y, zero_);
    }
}

at::Tensor DeviceMath::elementwise(const Node& node, std::span<const at::Tensor> inputs) const {
    if (node.op == Op::kToInt) {
        return to_int(inputs[0]);
    }
    if (node.op == Op::kNarrow) {
        return narrow(node, inputs);
    }
    if (node.op == Op::kWiden) {
        return widen(node, inputs[0]);
    }
    if (node.op == Op::kSelect) {
        return canon(at::where(inputs[1].ne(zero_), inputs[0], inputs[2]));
    }
    return canon(inputs.size() == 2 ? binary(node.op, inputs[0], inputs[1]) : unary(node, inputs[0]));
}

}  // namespace assay::engine
