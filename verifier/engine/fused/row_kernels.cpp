// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/row_kernels.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <verifier/engine/fused/lanes.hpp>
#include <verifier/engine/fused/vectorised.hpp>

namespace assay::engine::fused {

using canonical::Op;

namespace {

template <class F>
ASSAY_INLINE void map(const float* __restrict x, const float* __restrict y, float* __restrict out, std::size_t n, F f) {
    for (std::size_t i = 0; i < n; ++i) {
        out[i] = canonical_f32(f(x[i], y[i]));
    }
}

template <class F>
ASSAY_INLINE void map_constant(const float* __restrict x, float y, float* __restrict out, std::size_t n, F f) {
    for (std::size_t i = 0; i < n; ++i) {
        out[i] = canonical_f32(f(x[i], y));
    }
}

template <class F>
ASSAY_INLINE void map_spread(Extent at, const float* x, const float* y, Spread spread, float* out, F f) {
    switch (spread) {
        case Spread::kNone:
            return map(x, y, out, at.size(), f);
        case Spread::kEverywhere:
            return map_constant(x, *y, out, at.size(), f);
        case Spread::kAlongRow:
            for (std::size_t i = 0; i < at.rows; ++i) {
                map_constant(x + i * at.cols, y[i], out + i * at.cols, at.cols, f);
            }
            return;
        case Spread::kAlongColumn:
            for (std::size_t i = 0; i < at.rows; ++i) {
                map(x + i * at.cols, y, out + i * at.cols, at.cols, f);
            }
            return;
    }
}

#define ASSAY_BINARY(name, expression)                                                                 \
    ASSAY_VECTORISED void name(Extent at, const float* x, const float* y, Spread spread, float* out) { \
        map_spread(at, x, y, spread, out, [](float a, float b) { return expression; });                \
    }
ASSAY_BINARY(add, a + b)
ASSAY_BINARY(sub, a - b)
ASSAY_BINARY(mul, a* b)
ASSAY_BINARY(div, a / b)
ASSAY_BINARY(relu_grad, a > 0.0F ? b : 0.0F)
ASSAY_BINARY(larger, a > b ? a : b)
ASSAY_BINARY(smaller, a < b ? a : b)
ASSAY_BINARY(less, a < b ? 1.0F : 0.0F)
ASSAY_BINARY(equal, a == b ? 1.0F : 0.0F)
#undef ASSAY_BINARY

#define ASSAY_UNARY(name, expression)                                                                        \
    ASSAY_VECTORISED void name(std::size_t n, const float* x, [[maybe_unused]] float constant, float* out) { \
        map_constant(x, constant, out, n, [](float a, [[maybe_unused]] float b) { return expression; });     \
    }
ASSAY_UNARY(scale, a* b)
ASSAY_UNARY(add_const, a + b)
ASSAY_UNARY(relu, a > 0.0F ? a : 0.0F)
ASSAY_UNARY(square_root, std::sqrt(a))
ASSAY_UNARY(absolute, std::fabs(a))
#undef ASSAY_UNARY

// A chain in doubles, then one rounding.
#define ASSAY_CHAIN(name, function)                                                               \
    ASSAY_VECTORISED void name(std::size_t n, const float* __restrict x, float* __restrict out) { \
        for (std::size_t i = 0; i < n; ++i) {                                                     \
            out[i] = function(x[i]);                                                              \
        }                                                                                         \
    }
ASSAY_CHAIN(exponential, exp_lane)
ASSAY_CHAIN(logarithm, log_lane)
ASSAY_CHAIN(tangent, tanh_lane)
ASSAY_CHAIN(error_function, erf_lane)
ASSAY_CHAIN(sine, sin_lane)
ASSAY_CHAIN(cosine, cos_lane)
ASSAY_CHAIN(round_down, floor_lane)
ASSAY_CHAIN(round_nearest, rint_lane)
#undef ASSAY_CHAIN

}  // namespace

void run_binary(Op op, Extent at, const float* x, const float* y, Spread spread, float* out) {
    switch (op) {
        case Op::kAdd:
            return add(at, x, y, spread, out);
        case Op::kSub:
            return sub(at, x, y, spread, out);
        case Op::kMul:
            return mul(at, x, y, spread, out);
        case Op::kDiv:
            return div(at, x, y, spread, out);
        case Op::kMax:
            return larger(at, x, y, spread, out);
        case Op::kMin:
            return smaller(at, x, y, spread, out);
        case Op::kLess:
            return less(at, x, y, spread, out);
        case Op::kEqual:
            return equal(at, x, y, spread, out);
        default:
            return relu_grad(at, x, y, spread, out);
    }
}

void run_unary(Op op, std::size_t count, const float* x, float constant, float* out) {
    switch (op) {
        case Op::kScale:
            return scale(count, x, constant, out);
        case Op::kAddConst:
            return add_const(count, x, constant, out);
        case Op::kRelu:
            return relu(count, x, constant, out);
        case Op::kSqrt:
            return square_root(count, x, constant, out);
        case Op::kAbs:
            return absolute(count, x, constant, out);
        case Op::kExp:
            return exponential(count, x, out);
        case Op::kLog:
            return logarithm(count, x, out);
        case Op::kTanh:
            return tangent(count, x, out);
        case Op::kErf:
            return error_function(count, x, out);
        case Op::kSin:
            return sine(count, x, out);
        case Op::kCos:
            return cosine(count, x, out);
        case Op::kFloor:
            return round_down(count, x, out);
        default:
            return round_nearest(count, x, out);
    }
}

ASSAY_VECTORISED void run_select(
    Extent at, const float* x, const float* condition, Spread condition_spread, const float* y, Spread y_spread,
    float* out
) {
    const auto start = [](const float* p, Spread spread, std::size_t row, std::size_t cols) {
        return spread == Spread::kNone ? p + row * cols : spread == Spread::kAlongRow ? p + row : p;
    };
    const std::size_t condition_step = condition_spread == Spread::kNone || condition_spread == Spread::kAlongColumn;
    const std::size_t y_step = y_spread == Spread::kNone || y_spread == Spread::kAlongColumn;
    for (std::size_t i = 0; i < at.rows; ++i) {
        const float* __restrict from = x + i * at.cols;
        const float* __restrict c = start(condition, condition_spread, i, at.cols);
        const float* __restrict other = start(y, y_spread, i, at.cols);
        float* __restrict to = out + i * at.cols;
        for (std::size_t j = 0; j < at.cols; ++j) {
            to[j] = canonical_f32(c[j * condition_step] != 0.0F ? from[j] : other[j * y_step]);
        }
    }
}

void run_causal_mask(Extent at, const float* x, std::uint32_t period, float fill, float* out) {
    const float value = canonical_f32(fill);
    for (std::size_t i = 0; i < at.rows; ++i) {
        const std::size_t seen = std::min<std::size_t>((at.first_row + i) % period + 1, at.cols);
        add_const(seen, x + i * at.cols, 0.0F, out + i * at.cols);
        std::fill_n(out + i * at.cols + seen, at.cols - seen, value);
    }
}

ASSAY_VECTORISED void run_from_bits(std::size_t count, const std::int32_t* x, float* out) {
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = canonical_f32(std::bit_cast<float>(x[i]));
    }
}

ASSAY_VECTORISED void run_to_float(std::size_t count, const std::int32_t* x, float* out) {
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = static_cast<float>(x[i]);
    }
}

void run_to_int(std::size_t count, const float* x, std::int32_t* out) {
    for (std::size_t i = 0; i < count; ++i) {
        const double clamped = std::clamp(
            x[i] != x[i] ? 0.0 : static_cast<double>(x[i]), double{std::numeric_limits<std::int32_t>::min()},
            double{std::numeric_limits<std::int32_t>::max()}
        );
        out[i] = static_cast<std::int32_t>(clamped);
    }
}

void run_one_hot(Extent at, const std::int32_t* index, float* out) {
    std::fill_n(out, at.size(), 0.0F);
    for (std::size_t i = 0; i < at.rows; ++i) {
        if (index[i] >= 0 && static_cast<std::size_t>(index[i]) < at.cols) {
            out[i * at.cols + static_cast<std::size_t>(index[i])] = 1.0F;
        }
    }
}

void run_gather(std::size_t count, const std::int32_t* index, const float* table, canonical::Shape shape, float* out) {
    for (std::size_t i = 0; i < count; ++i, out += shape.cols) {
        const std::int64_t row = index[i];
        if (row < 0 || row >= shape.rows) {
            std::fill_n(out, shape.cols, 0.0F);  // NUM-12
        } else {
            std::copy_n(table + row * shape.cols, shape.cols, out);
        }
    }
}

void run_fill(std::size_t count, float value, float* out) { std::fill_n(out, count, canonical_f32(value)); }

namespace {

template <class F>
void map_random(Extent at, const canonical::StepContext& context, std::uint32_t tensor, float* out, F f) {
    const std::uint64_t first = at.first_row * at.cols;
    std::array<std::uint32_t, 4> words{};
    for (std::size_t i = 0; i < at.size(); ++i) {
        const std::uint64_t element = first + i;
        if (i == 0 || element % 4 == 0) {
            words = canonical::philox4x32(
                {static_cast<std::uint32_t>(element / 4), tensor, static_cast<std::uint32_t>(context.step),
                 static_cast<std::uint32_t>(context.step >> 32U)},
                {static_cast<std::uint32_t>(context.seed), static_cast<std::uint32_t>(context.seed >> 32U)}
            );
        }
        out[i] = f(words[element % 4]);
    }
}

}  // namespace

void run_bernoulli(
    Extent at, const canonical::StepContext& context, std::uint32_t limit, std::uint32_t tensor, float* out
) {
    map_random(at, context, tensor, out, [limit](std::uint32_t word) { return word < limit ? 1.0F : 0.0F; });
}

void run_uniform(
    Extent at, const canonical::StepContext& context, std::uint32_t bound, std::uint32_t tensor, float* out
) {
    const float half = std::bit_cast<float>(bound);
    const float span = 2.0F * half;
    map_random(at, context, tensor, out, [half, span](std::uint32_t word) {
        const float u = static_cast<float>(word >> 8U) * 0x1.0p-24F;
        return canonical_f32(u * span - half);
    });
}

}  // namespace assay::engine::fused
