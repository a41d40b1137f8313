// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <core/canonical/executor.hpp>
#include <core/canonical/kernels.hpp>

namespace assay::canonical {
namespace {

// Bits to bits, element by element.
template <class F>
void each(const Work& work, Block& out, F f) {
    const std::size_t rows = work.rows();
    const std::size_t cols = work.cols();
    for (std::size_t i = 0; i < rows; ++i) {
        const std::uint32_t* x = work.operands[0]->words.data() + i * kTileDim;
        std::uint32_t* to = out.words.data() + i * kTileDim;
        for (std::size_t j = 0; j < cols; ++j) {
            to[j] = f(x[j]);
        }
    }
}

// NUM-8: one correctly rounded operation or one chain per element.
template <class F>
void unary(const Work& work, Block& out, F f) {
    each(work, out, [f](std::uint32_t x) { return canonical_bits(f(as_f32(x))); });
}

// The elements of broadcast operand `operand` under row `row` of the output tile.
std::array<float, kTileDim> spread_row(const Work& work, std::size_t operand, std::size_t row) {
    std::array<float, kTileDim> out{};
    const Shape shape = work.node.inputs[operand].shape;
    for (std::size_t j = 0; j < kTileDim; ++j) {
        out[j] = as_f32(work.operands[operand]->words[broadcast_index(shape, row, j)]);
    }
    return out;
}

template <class F>
void binary(const Work& work, Block& out, F f) {
    const std::size_t rows = work.rows();
    const std::size_t cols = work.cols();
    for (std::size_t i = 0; i < rows; ++i) {
        const std::uint32_t* x = work.operands[0]->words.data() + i * kTileDim;
        const auto y = spread_row(work, 1, i);
        std::uint32_t* to = out.words.data() + i * kTileDim;
        for (std::size_t j = 0; j < cols; ++j) {
            to[j] = canonical_bits(f(as_f32(x[j]), y[j]));
        }
    }
}

void select(const Work& work, Block& out) {
    const std::size_t rows = work.rows();
    const std::size_t cols = work.cols();
    for (std::size_t i = 0; i < rows; ++i) {
        const std::uint32_t* x = work.operands[0]->words.data() + i * kTileDim;
        const auto condition = spread_row(work, 1, i);
        const auto y = spread_row(work, 2, i);
        std::uint32_t* to = out.words.data() + i * kTileDim;
        for (std::size_t j = 0; j < cols; ++j) {
            to[j] = canonical_bits(condition[j] != 0.0F ? as_f32(x[j]) : y[j]);
        }
    }
}

void causal_mask(const Work& work, Block& out) {
    const std::size_t rows = work.rows();
    const std::size_t cols = work.cols();
    const float fill = as_f32(work.node.attributes[1]);
    for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t row = std::size_t{work.row_tile()} * kTileDim + i;
        const std::size_t last = row % work.node.attributes[0];
        for (std::size_t j = 0; j < cols; ++j) {
            const std::size_t at = i * kTileDim + j;
            const bool is_kept = std::size_t{work.col_tile()} * kTileDim + j <= last;
            out.words[at] = canonical_bits(is_kept ? as_f32(work.operands[0]->words[at]) : fill);
        }
    }
}

float canonical_exp(float x) { return x != x ? x : static_cast<float>(exp_f64(static_cast<double>(x))); }

float canonical_log(float x) {
    if (x != x || x < 0.0F) {
        return as_f32(kCanonicalNan);
    }
    if (x == 0.0F) {
        return as_f32(0xff800000U);
    }
    return x > FLT_MAX ? x : static_cast<float>(log_f64(static_cast<double>(x)));
}

float canonical_tanh(float x) { return x != x ? x : static_cast<float>(tanh_f64(static_cast<double>(x))); }

float canonical_erf(float x) { return x != x ? x : static_cast<float>(erf_f64(static_cast<double>(x))); }

// NUM-27: NaN beyond the limit and for what is not finite.
template <double (*Chain)(double) noexcept>
float canonical_trig(float x) {
    const double wide = static_cast<double>(x);
    const bool is_defined = wide >= -kTrigLimit && wide <= kTrigLimit;
    return is_defined ? static_cast<float>(Chain(wide)) : as_f32(kCanonicalNan);
}

// From here on every f32 is a whole number.
constexpr float kWhole = 0x1.0p23F;

float nearest(float x) {
    const bool is_small = x > -kWhole && x < kWhole;
    return is_small ? static_cast<float>(round_half_even(static_cast<double>(x))) : x;
}

float floor_of(float x) {
    const float rounded = nearest(x);
    return rounded > x ? rounded - 1.0F : rounded;
}

// NUM-37
std::int32_t to_int(float x) {
    if (x != x) {
        return 0;
    }
    if (x >= 0x1.0p31F) {
        return std::numeric_limits<std::int32_t>::max();
    }
    return x < -0x1.0p31F ? std::numeric_limits<std::int32_t>::min() : static_cast<std::int32_t>(x);
}

// NUM-39: `dither` is what is added below the bits that stay.
std::uint32_t upper_half(std::uint32_t bits, std::uint32_t dither) {
    const std::uint32_t half = (bits + dither) >> 16U;
    return half == 0x8000U ? 0 : half;
}

std::uint32_t narrow_to_nearest(std::uint32_t x) {
    const std::uint32_t bits = canonical_bits(as_f32(x));
    return bits == kCanonicalNan ? bits >> 16U : upper_half(bits, 0x7fffU + (bits >> 16U & 1U));
}

std::uint32_t narrow_by_dither(std::uint32_t x, float u) {
    const std::uint32_t bits = canonical_bits(as_f32(x));
    if ((bits & 0x7f800000U) == 0x7f800000U) {
        return bits >> 16U;
    }
    const double wanted = static_cast<double>(u) * 65536.0 + 32768.0;
    const double dither = wanted > 0.0 ? std::min(wanted, 65535.0) : 0.0;
    return upper_half(bits, static_cast<std::uint32_t>(dither));
}

void narrow(const Work& work, Block& out) {
    if (work.node.dtype == DType::kI8) {
        return each(work, out, [](std::uint32_t x) {
            return static_cast<std::uint32_t>(std::clamp(as_i32(x), -128, 127)) & 0xffU;
        });
    }
    if (work.node.inputs.size() == 1) {
        return each(work, out, narrow_to_nearest);
    }
    const std::size_t rows = work.rows();
    const std::size_t cols = work.cols();
    for (std::size_t i = 0; i < rows; ++i) {
        const std::uint32_t* x = work.operands[0]->words.data() + i * kTileDim;
        const auto u = spread_row(work, 1, i);
        std::uint32_t* to = out.words.data() + i * kTileDim;
        for (std::size_t j = 0; j < cols; ++j) {
            to[j] = narrow_by_dither(x[j], u[j]);
        }
    }
}

// NUM-40
void widen(const Work& work, Block& out) {
    if (work.node.dtype == DType::kF32) {
        return each(work, out, [](std::uint32_t x) { return canonical_bits(as_f32(x << 16U)); });
    }
    each(work, out, [](std::uint32_t x) {
        return static_cast<std::uint32_t>(std::int32_t{static_cast<std::int8_t>(x)});
    });
}

void fill(const Work& work, Block& out, float value) {
    const std::uint32_t bits = canonical_bits(value);
    const std::size_t rows = work.rows();
    for (std::size_t i = 0; i < rows; ++i) {
        std::fill_n(out.words.data() + i * kTileDim, work.cols(), bits);
    }
}

// NUM-36
float step_count(const Work& work) {
    const auto [divisor, modulus] = work.node.attributes;
    const std::uint64_t whole = work.context.step / divisor;
    return static_cast<float>(modulus == 0 ? whole : whole % modulus);
}

void run_unary(const Work& work, Block& out) {
    const float constant = as_f32(work.node.attributes[0]);
    switch (work.node.op) {
        case Op::kSqrt:
            return unary(work, out, [](float x) { return std::sqrt(x); });
        case Op::kScale:
            return unary(work, out, [constant](float x) { return x * constant; });
        case Op::kAddConst:
            return unary(work, out, [constant](float x) { return x + constant; });
        case Op::kRelu:
            return unary(work, out, [](float x) { return x > 0.0F ? x : 0.0F; });
        case Op::kAbs:
            return unary(work, out, [](float x) { return x < 0.0F ? -x : x; });
        case Op::kFloor:
            return unary(work, out, floor_of);
        case Op::kRint:
            return unary(work, out, nearest);
        case Op::kExp:
            return unary(work, out, canonical_exp);
        case Op::kTanh:
            return unary(work, out, canonical_tanh);
        case Op::kErf:
            return unary(work, out, canonical_erf);
        case Op::kSin:
            return unary(work, out, canonical_trig<sin_f64>);
        case Op::kCos:
            return unary(work, out, canonical_trig<cos_f64>);
        default:
            return unary(work, out, canonical_log);
    }
}

}  // namespace

void run_elementwise(const Work& work, Block& out) noexcept {
    const float constant = as_f32(work.node.attributes[0]);
    switch (work.node.op) {
        case Op::kFill:
            return fill(work, out, constant);
        case Op::kStepCount:
            return fill(work, out, step_count(work));
        case Op::kAdd:
            return binary(work, out, [](float x, float y) { return x + y; });
        case Op::kSub:
            return binary(work, out, [](float x, float y) { return x - y; });
        case Op::kMul:
            return binary(work, out, [](float x, float y) { return x * y; });
        case Op::kDiv:
            return binary(work, out, [](float x, float y) { return x / y; });
        case Op::kReluGrad:
            return binary(work, out, [](float x, float g) { return x > 0.0F ? g : 0.0F; });
        case Op::kMax:
            return binary(work, out, [](float x, float y) { return x > y ? x : y; });
        case Op::kMin:
            return binary(work, out, [](float x, float y) { return x < y ? x : y; });
        case Op::kLess:
            return binary(work, out, [](float x, float y) { return x < y ? 1.0F : 0.0F; });
        case Op::kEqual:
            return binary(work, out, [](float x, float y) { return x == y ? 1.0F : 0.0F; });
        case Op::kSelect:
            return select(work, out);
        case Op::kCausalMask:
            return causal_mask(work, out);
        case Op::kFromBits:
            return unary(work, out, [](float x) { return x; });
        case Op::kToFloat:
            return each(work, out, [](std::uint32_t x) { return canonical_bits(static_cast<float>(as_i32(x))); });
        case Op::kToInt:
            return each(work, out, [](std::uint32_t x) { return static_cast<std::uint32_t>(to_int(as_f32(x))); });
        case Op::kNarrow:
            return narrow(work, out);
        case Op::kWiden:
            return widen(work, out);
        default:
            return run_unary(work, out);
    }
}

}  // namespace assay::canonical
