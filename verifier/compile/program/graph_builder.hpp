// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <core/canonical/node.hpp>

namespace assay::program {

/// A tensor while a graph is being written: a node's output or a tensor of the state.
using Value = canonical::Input;

/// How accurate a contraction is and how its operands are cut (NUM-16); the names are those of the protocol.
struct Profile {
    std::uint32_t precision = 21;
    std::uint32_t chunk = 2048;
    bool operator==(const Profile&) const = default;
};
inline constexpr Profile kXg21{21, 2048};   ///< fp32-class
inline constexpr Profile kXg24{24, 16384};  ///< for heavy-tailed operands
inline constexpr Profile kXg8{8, 256};      ///< bf16-class
inline constexpr Profile kXg7{7, 65536};    ///< int8-class
/// Bits that the terms of a sum keep; with at most 2^24 terms the sum fits an i64.
inline constexpr std::uint32_t kSumPrecision = 30;

/// Appends nodes with inferred shapes. A node that is already there is not written twice, so that what is computed
/// once (a quantised operand, a transpose) is shared; a view of a view becomes one view where it can, and a view that
/// changes nothing none. Operands that do not fit are a bug of the caller and abort.
class GraphBuilder {
  public:
    /// The tensor `index` of the state before the step.
    static Value state(std::uint32_t index, const canonical::TensorType& type);

    /// A well-formed node as it stands, with inputs of this graph.
    Value append(canonical::Node node);

    Value batch_rows(canonical::Shape shape);
    Value uniform(canonical::Shape shape, float bound, std::uint32_t tensor_id);
    Value fill(canonical::Shape shape, float value);
    /// 1 with probability `keep`, else 0.
    Value bernoulli(canonical::Shape shape, float keep, std::uint32_t tensor_id);
    /// floor(step / divisor), modulo `modulus` unless that is 0; [1,1].
    Value step_count(std::uint32_t divisor, std::uint32_t modulus);

    Value view(const Value& x, canonical::View view, canonical::Shape shape, float fill = 0.0F);
    /// Each of `groups` equal blocks of rows transposed: [G*M,N] -> [G*N,M].
    Value transpose(const Value& x, std::uint32_t groups = 1);
    Value slice_cols(const Value& x, std::uint32_t first, std::uint32_t count);
    Value gather_rows(const Value& table, const Value& index);
    Value scatter_add_rows(const Value& q, const Value& index, canonical::Shape table);
    Value one_hot(const Value& index, std::uint32_t classes);
    Value from_bits(const Value& x);
    Value to_float(const Value& x);
    Value to_int(const Value& x);
    /// 0, 1, .. count-1: [count,1], count at most 2^24.
    Value iota(std::uint32_t count);

    // The second operand may be [M,N], [M,1], [1,N] or [1,1] where x is [M,N].
    Value add(const Value& x, const Value& y);
    Value sub(const Value& x, const Value& y);
    Value mul(const Value& x, const Value& y);
    Value div(const Value& x, const Value& y);
    Value sqrt(const Value& x);
    Value scale(const Value& x, float factor);
    Value add_const(const Value& x, float term);
    Value relu(const Value& x);
    Value relu_grad(const Value& x, const Value& gradient);
    Value max(const Value& x, const Value& y);
    Value min(const Value& x, const Value& y);
    Value less(const Value& x, const Value& y);
    Value equal(const Value& x, const Value& y);
    /// condition != 0 ? x : y
    Value select(const Value& x, const Value& condition, const Value& y);
    Value exp(const Value& x);
    Value log(const Value& x);
    Value tanh(const Value& x);
    Value erf(const Value& x);
    Value sin(const Value& x);
    Value cos(const Value& x);
    Value abs(const Value& x);
    Value floor(const Value& x);
    Value rint(const Value& x);
    /// column <= row modulo `rows` ? x : fill
    Value causal_mask(const Value& x, std::uint32_t rows, float fill);

    Value row_max(const Value& x);
    Value row_arg_max(const Value& x);
    Value row_exponent(const Value& x, std::uint32_t chunk);
    Value row_sum_exact(const Value& q);
    Value quantise(const Value& x, const Value& exponent, std::uint32_t precision, std::uint32_t chunk);
    Value dequantise(const Value& q, const Value& exponent, std::uint32_t precision);

    /// The product of values that are already in fixed point: qa [G*M,K], ea, qb [G*N,K], eb -> [G*M,N].
    Value contract(
        const Value& qa,
        const Value& ea,
        const Value& qb,
        const Value& eb,
        const Profile& profile,
        std::uint32_t groups = 1
    );
    /// a [G*M,K] times the transpose of b [G*N,K], group by group: the exponents and fixed-point values of both, then
    /// kContract. With more than one group M and N are multiples of 32.
    Value matmul_nt(const Value& a, const Value& b, const Profile& profile = kXg21, std::uint32_t groups = 1);
    /// [M,N] -> [M,1], the sum of each row in fixed point with the row's own exponent.
    Value row_sum(const Value& x);
    /// [M,N] -> [1,N].
    Value col_sum(const Value& x);
    /// -> [1,1]: in one sum, or row by row first where there are many elements.
    Value sum(const Value& x);
    /// [M,1] -> [1,1].
    Value mean(const Value& column);
    /// The sum of x over what broadcasting from `shape` repeats: x's shape, or [M,1], [1,N], [1,1].
    Value sum_to(const Value& x, canonical::Shape shape);
    /// x [B,C*D] -> [V,D]: the sum of the row blocks of x that `index` sends to each row, with one exponent for all.
    Value scatter_sum(const Value& x, const Value& index, canonical::Shape table);

    /// The nodes so far; what is not yet used may still be.
    const canonical::Graph& nodes() const { return graph_; }

    /// Appends kCommit over the next state and returns the finished graph.
    canonical::Graph commit(std::span<const Value> state) &&;
    /// The same without the nodes that neither the next state nor `loss` needs; `loss` becomes what it is in that
    /// graph.
    canonical::Graph commit(std::span<const Value> state, Value& loss) &&;

  private:
    Value emit(
        canonical::Op op,
        canonical::DType dtype,
        canonical::Shape shape,
        std::array<std::uint32_t, 2> attributes,
        std::vector<Value> inputs
    );
    Value emit(canonical::Node node);
    Value binary(canonical::Op op, const Value& x, const Value& y);
    Value unary(canonical::Op op, const Value& x, std::uint32_t attribute = 0);

    canonical::Graph graph_;
    std::multimap<std::uint64_t, std::uint32_t> index_;  // a hash of each node
};

}  // namespace assay::program
