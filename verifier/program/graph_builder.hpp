// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <verifier/canonical/node.hpp>

namespace assay::program {

/// A tensor while a graph is being written: a node's output or a tensor of the state.
using Value = canonical::Input;

/// The accuracy of contractions: p = 21, chunks of 2048 (NUM-16).
inline constexpr std::uint32_t kContractPrecision = 21;
inline constexpr std::uint32_t kContractChunk = 2048;
/// Bits that the terms of a sum keep; with at most 2^24 terms the sum fits an i64.
inline constexpr std::uint32_t kSumPrecision = 30;

/// Appends nodes with inferred shapes. A node that is already there is not written twice, so that what is computed
/// once (a quantised operand, a transpose) is shared. Operands that do not fit are a bug of the caller and abort.
class GraphBuilder {
  public:
    /// The tensor `index` of the state before the step.
    static Value state(std::uint32_t index, const canonical::TensorType& type);

    Value batch_rows(canonical::Shape shape);
    Value uniform(canonical::Shape shape, float bound, std::uint32_t tensor_id);
    Value fill(canonical::Shape shape, float value);

    Value transpose(const Value& x);
    Value slice_cols(const Value& x, std::uint32_t first, std::uint32_t count);
    Value gather_rows(const Value& table, const Value& index);
    Value scatter_add_rows(const Value& q, const Value& index, canonical::Shape table);
    Value one_hot(const Value& index, std::uint32_t classes);

    Value add(const Value& x, const Value& y);
    Value sub(const Value& x, const Value& y);
    Value mul(const Value& x, const Value& y);
    Value div(const Value& x, const Value& y);
    Value sqrt(const Value& x);
    Value scale(const Value& x, float factor);
    Value add_const(const Value& x, float term);
    Value relu(const Value& x);
    Value relu_grad(const Value& x, const Value& gradient);
    Value exp(const Value& x);
    Value log(const Value& x);

    Value row_max(const Value& x);
    Value row_exponent(const Value& x, std::uint32_t chunk);
    Value row_sum_exact(const Value& q);
    Value quantise(const Value& x, const Value& exponent, std::uint32_t precision, std::uint32_t chunk);
    Value dequantise(const Value& q, const Value& exponent, std::uint32_t precision);

    /// a [M,K] times the transpose of b [N,K]: the exponents and fixed-point values of both, then kContract.
    Value matmul_nt(const Value& a, const Value& b);
    /// [M,N] -> [M,1], the sum of each row in fixed point with the row's own exponent.
    Value row_sum(const Value& x);
    /// [M,N] -> [1,N].
    Value col_sum(const Value& x);
    /// [M,1] -> [1,1].
    Value mean(const Value& column);
    /// x [B,C*D] -> [V,D]: the sum of the row blocks of x that `index` sends to each row, with one exponent for all.
    Value scatter_sum(const Value& x, const Value& index, canonical::Shape table);

    /// Appends kCommit over the next state and returns the finished graph.
    canonical::Graph commit(std::span<const Value> state) &&;

  private:
    Value emit(canonical::Op op, canonical::DType dtype, canonical::Shape shape, std::array<std::uint32_t, 2> attributes,
               std::vector<Value> inputs);
    Value binary(canonical::Op op, const Value& x, const Value& y);
    Value unary(canonical::Op op, const Value& x, std::uint32_t attribute = 0);

    canonical::Graph graph_;
};

}  // namespace assay::program
