// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <verifier/canonical/node.hpp>

/// Inside engine only: whole-tensor loops that say what verifier/canonical says tile by tile, written so that the
/// compiler vectorises them. Every output is separate from every input.
namespace assay::engine {

/// A row-major matrix of i32, i64 or f32, the last as floats.
template <class T>
struct View {
    T* data = nullptr;
    canonical::Shape shape;
    std::size_t rows() const { return shape.rows; }
    std::size_t cols() const { return shape.cols; }
    std::size_t size() const { return rows() * cols(); }
    T* row(std::size_t i) const { return data + i * cols(); }
};
template <class T>
using In = View<const T>;

using F32 = In<float>;
using I32 = In<std::int32_t>;
using I64 = In<std::int64_t>;

void binary(canonical::Op op, F32 x, F32 y, View<float> out);
void unary(canonical::Op op, F32 x, float constant, View<float> out);
void fill(std::uint32_t bits, View<float> out);

void transpose(In<std::uint32_t> x, View<std::uint32_t> out);
void transpose(In<std::uint64_t> x, View<std::uint64_t> out);
void slice_cols(In<std::uint32_t> x, std::size_t first, View<std::uint32_t> out);
void slice_cols(In<std::uint64_t> x, std::size_t first, View<std::uint64_t> out);
void gather_rows(F32 table, I32 index, View<float> out);
void scatter_add_rows(I32 q, I32 index, View<std::int64_t> out);
void one_hot(I32 index, View<float> out);

void row_max(F32 x, View<float> out);
void row_max(I32 x, View<std::int32_t> out);
void row_exponent(F32 x, std::size_t chunk, View<std::int32_t> out);
void row_sum(I32 q, View<std::int64_t> out);

/// `chunk` is the number of columns that share an exponent; x.cols() when each row has one.
void quantise(F32 x, I32 exponent, std::uint32_t precision, std::size_t chunk, View<std::int32_t> out);
void dequantise(I64 q, I32 exponent, std::uint32_t precision, View<float> out);
void to_double(I32 q, double* out);

/// One chunk of a contraction: columns first .. first+count of both operands, summed modulo 2^64.
struct Chunk {
    std::size_t index = 0;
    std::size_t first = 0;
    std::size_t count = 0;
};
void multiply_exact(I32 qa, I32 qb, const Chunk& chunk, std::int64_t* out);
/// sums[i,j] (+)= exact[i,j] * 2^(ea-p) * 2^(eb-p); the first chunk sets, the others add.
void add_chunk(const double* exact, I32 ea, I32 eb, const Chunk& chunk, std::uint32_t precision, View<double> sums);
void add_chunk(
    const std::int64_t* exact, I32 ea, I32 eb, const Chunk& chunk, std::uint32_t precision, View<double> sums
);
void round_sums(In<double> sums, View<float> out);

bool is_finite(F32 x);

}  // namespace assay::engine
