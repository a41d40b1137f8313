// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <core/canonical/executor.hpp>
#include <core/canonical/node.hpp>

/// Loops over a block of whole rows, small enough to stay in cache between operations. Each computes what
/// core/canonical computes tile by tile. Outputs must not overlap inputs unless stated otherwise; `cols` is the width
/// of the first operand.
namespace assay::engine::fused {

/// How an operand other than the first is broadcast (NUM-8).
enum class Spread : std::uint8_t { kNone, kAlongRow, kAlongColumn, kEverywhere };
constexpr Spread spread_of(canonical::Shape operand, canonical::Shape full) {
    if (operand == full) {
        return Spread::kNone;
    }
    if (operand.rows == full.rows) {
        return Spread::kAlongRow;
    }
    return operand.cols == full.cols ? Spread::kAlongColumn : Spread::kEverywhere;
}

struct Extent {
    std::size_t rows = 0;
    std::size_t cols = 0;
    std::uint64_t first_row = 0;  ///< first row of the block within the whole tensor
    std::size_t size() const { return rows * cols; }
};

void run_binary(canonical::Op op, Extent at, const float* x, const float* y, Spread spread, float* out);
void run_unary(canonical::Op op, std::size_t count, const float* x, float constant, float* out);
void run_select(
    Extent at, const float* x, const float* condition, Spread condition_spread, const float* y, Spread y_spread,
    float* out
);
void run_causal_mask(Extent at, const float* x, std::uint32_t period, float fill, float* out);

void run_from_bits(std::size_t count, const std::int32_t* x, float* out);
void run_to_float(std::size_t count, const std::int32_t* x, float* out);
void run_to_int(std::size_t count, const float* x, std::int32_t* out);
/// NUM-39: to bf16, the nearest or with a dither; to i8.
void run_narrow(std::size_t count, const float* x, std::uint16_t* out);
void run_narrow(Extent at, const float* x, const float* dither, Spread spread, std::uint16_t* out);
void run_narrow(std::size_t count, const std::int32_t* x, std::int8_t* out);
/// NUM-40
void run_widen(std::size_t count, const std::uint16_t* x, float* out);
void run_widen(std::size_t count, const std::int8_t* x, std::int32_t* out);
void run_one_hot(Extent at, const std::int32_t* index, float* out);
void run_gather(std::size_t count, const std::int32_t* index, const float* table, canonical::Shape shape, float* out);
void run_fill(std::size_t count, float value, float* out);
/// Random numbers of kBernoulli and kUniform (NUM-32, NUM-35): `limit` is the threshold, `bound` the bits of the bound.
void run_bernoulli(
    Extent at, const canonical::StepContext& context, std::uint32_t limit, std::uint32_t tensor, float* out
);
void run_uniform(
    Extent at, const canonical::StepContext& context, std::uint32_t bound, std::uint32_t tensor, float* out
);

void run_row_max(Extent at, const float* x, float* out);
void run_row_max(Extent at, const std::int32_t* x, std::int32_t* out);
void run_row_arg_max(Extent at, const float* x, std::int32_t* out);
/// One exponent for each row and `chunk` columns.
void run_row_exponent(Extent at, const float* x, std::size_t chunk, std::int32_t* out);
void run_row_sum(Extent at, const std::int32_t* q, std::int64_t* out);
/// Fuses run_quantise with one exponent per row (or one shared exponent) and run_row_sum, without storing the quantised
/// values. cols <= 2^22.
void run_quantised_sum(
    Extent at, const float* x, const std::int32_t* exponent, bool is_shared, std::uint32_t precision, std::int64_t* out
);

/// `exponent` has `chunks` values per row, or one for all rows if is_shared.
struct Quantisation {
    const std::int32_t* exponent = nullptr;
    std::size_t chunks = 1;
    std::size_t chunk = 0;  ///< columns per exponent
    bool is_shared = false;
    std::uint32_t precision = 0;
};
/// Quantises (NUM-14), as integers or as the number type that a product multiplies.
void run_quantise(Extent at, const float* x, const Quantisation& how, std::int32_t* out);
void run_quantise(Extent at, const float* x, const Quantisation& how, float* out);
void run_quantise(Extent at, const float* x, const Quantisation& how, std::int16_t* out);
void run_dequantise(
    Extent at, const std::int64_t* q, const std::int32_t* exponent, bool is_shared, std::uint32_t precision, float* out
);

/// NUM-17 for one chunk of a block of rows: sums (+)= exact * 2^(ea-p) * 2^(eb-p). `scale_b` has 2^(eb-p) for each
/// column; exponents of a have row stride `stride_a`. Sets `sums` if is_first, else adds.
void scale_product(
    Extent at, const double* exact, const std::int32_t* exponent_a, std::size_t stride_a, std::uint32_t precision,
    const double* scale_b, bool is_first, double* sums
);
void round_sums(std::size_t count, const double* sums, float* out);
/// sums += x for exact integers stored as floats; sets `sums` if is_first.
void add_exact(std::size_t count, const float* x, bool is_first, double* sums);

/// NUM-19: adds row i of q to the row of `out` that index i names, restricted to columns begin .. end-1. `out` has
/// shape `shape`, `index` has `count` elements.
void scatter_add_rows(
    const std::int32_t* q, const std::int32_t* index, std::size_t count, canonical::Shape shape, std::size_t begin,
    std::size_t end, std::int64_t* out
);

double power_of_two(std::int64_t k);
/// NUM-14: the largest magnitude of a value quantised to `precision` bits.
double limit_of(std::uint32_t precision);
/// Whether quantising values times 2^k to `precision` bits gives the same in floats as in doubles.
bool fits_floats(std::uint32_t precision, std::int64_t k);
bool all_finite(std::size_t count, const float* x);
bool all_finite(std::size_t count, const std::uint16_t* x);  ///< of bf16

}  // namespace assay::engine::fused
