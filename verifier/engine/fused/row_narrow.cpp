// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <limits>

#include <verifier/engine/fused/lanes.hpp>
#include <verifier/engine/fused/row_kernels.hpp>
#include <verifier/engine/fused/vectorised.hpp>

/// NUM-39 and NUM-40: between the types that are computed with and those that only a state has.
namespace assay::engine::fused {

namespace {

constexpr std::uint32_t kHalfNan = kCanonicalNan >> 16U;
constexpr std::uint32_t kHalfSign = 0x8000;
constexpr std::uint32_t kHalfInfinity = kInfinity >> 16U;

// The sum's upper half, where `bits` are of no NaN.
ASSAY_INLINE std::uint32_t upper_half(std::uint32_t bits, std::uint32_t dither) {
    const std::uint32_t half = (bits + dither) >> 16U;
    return half == kHalfSign ? 0U : half;
}

ASSAY_INLINE std::uint32_t nearest_half(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t half = upper_half(bits, 0x7fffU + (bits >> 16U & 1U));
    return x != x ? kHalfNan : half;
}

ASSAY_INLINE std::uint32_t dithered_half(float x, float u) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    double wanted = static_cast<double>(u) * 65536.0 + 32768.0;
    wanted = wanted > 0.0 ? wanted : 0.0;
    wanted = wanted < 65535.0 ? wanted : 65535.0;
    const bool is_finite = (bits & kInfinity) != kInfinity;
    const auto dither = static_cast<std::uint32_t>(static_cast<std::int32_t>(wanted));
    const std::uint32_t half = upper_half(bits, is_finite ? dither : 0U);
    return x != x ? kHalfNan : half;
}

}  // namespace

ASSAY_VECTORISED void run_narrow(std::size_t count, const float* __restrict x, std::uint16_t* __restrict out) {
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = static_cast<std::uint16_t>(nearest_half(x[i]));
    }
}

ASSAY_VECTORISED void run_narrow(Extent at, const float* x, const float* dither, Spread spread, std::uint16_t* out) {
    const bool steps_rows = spread == Spread::kNone || spread == Spread::kAlongRow;
    const bool steps_cols = spread == Spread::kNone || spread == Spread::kAlongColumn;
    const std::size_t row_step = !steps_rows ? 0 : steps_cols ? at.cols : 1;
    const std::size_t col_step = steps_cols ? 1 : 0;
    for (std::size_t i = 0; i < at.rows; ++i) {
        const float* __restrict from = x + i * at.cols;
        const float* __restrict u = dither + i * row_step;
        std::uint16_t* __restrict to = out + i * at.cols;
        for (std::size_t j = 0; j < at.cols; ++j) {
            to[j] = static_cast<std::uint16_t>(dithered_half(from[j], u[j * col_step]));
        }
    }
}

ASSAY_VECTORISED void run_narrow(std::size_t count, const std::int32_t* __restrict x, std::int8_t* __restrict out) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t low = x[i] < -128 ? -128 : x[i];
        out[i] = static_cast<std::int8_t>(low > 127 ? 127 : low);
    }
}

ASSAY_VECTORISED void run_widen(std::size_t count, const std::uint16_t* __restrict x, float* __restrict out) {
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = canonical_f32(std::bit_cast<float>(std::uint32_t{x[i]} << 16U));
    }
}

ASSAY_VECTORISED void run_widen(std::size_t count, const std::int8_t* __restrict x, std::int32_t* __restrict out) {
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = std::int32_t{x[i]};
    }
}

bool all_finite(std::size_t count, const std::uint16_t* x) {
    return std::none_of(x, x + count, [](std::uint16_t half) { return (half & kHalfInfinity) == kHalfInfinity; });
}

}  // namespace assay::engine::fused
