// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <core/canonical/node.hpp>

namespace assay::program {

/// A tensor of a graph under construction: a node's output or a state tensor.
using Value = canonical::Input;

/// Precision of a contraction and chunk size of its operands (NUM-16); the constants' names are those of the protocol.
struct Profile {
    std::uint32_t precision = 21;
    std::uint32_t chunk = 2048;
    bool operator==(const Profile&) const = default;
};
inline constexpr Profile kXg21{21, 2048};   ///< fp32-class
inline constexpr Profile kXg24{24, 16384};  ///< for heavy-tailed operands
inline constexpr Profile kXg11{11, 256};    ///< TF32-class
inline constexpr Profile kXg8{8, 256};      ///< bf16-class
inline constexpr Profile kXg7{7, 65536};    ///< int8-class

struct NamedProfile {
    std::string_view name;
    Profile profile;
};
/// The profiles that have a name, from the most precise on; the first is the default.
inline constexpr std::array kProfiles{
    NamedProfile{"XG-21", kXg21}, NamedProfile{"XG-24", kXg24}, NamedProfile{"XG-11", kXg11},
    NamedProfile{"XG-8", kXg8}, NamedProfile{"XG-7", kXg7}};
/// Returns the profile with this name, if there is one.
std::optional<Profile> profile_named(std::string_view name);

/// Precision in bits of the terms of a sum; with at most 2^24 terms the sum fits an i64.
inline constexpr std::uint32_t kSumPrecision = 30;

/// Appends nodes, inferring their shapes. Deduplicates identical nodes, such as quantised operands and transposes;
/// merges a view of a view into one view where possible, and omits identity views. Operands whose shapes do not match
/// are a caller's bug and abort.
class GraphBuilder {
  public:
    /// State tensor `index`, before the step.
    static Value state(std::uint32_t index, const canonical::TensorType& type);

    /// Appends a well-formed node unchanged; its inputs must belong to this graph.
    Value append(canonical::Node node);

    Value batch_rows(canonical::Shape shape);
    Value uniform(canonical::Shape shape, float bound, std::uint32_t tensor_id);
    Value fill(canonical::Shape shape, float value);
    /// 1 with probability `keep`, else 0.
    Value bernoulli(canonical::Shape shape, float keep, std::uint32_t tensor_id);
    /// floor(step / divisor), modulo `modulus` unless that is 0; [1,1].
    Value step_count(std::uint32_t divisor, std::uint32_t modulus);

    Value view(const Value& x, canonical::View view, canonical::Shape shape, float fill = 0.0F);
    /// Transposes each of `groups` equal blocks of rows: [G*M,N] -> [G*N,M].
    Value transpose(const Value& x, std::uint32_t groups = 1);
    Value slice_cols(const Value& x, std::uint32_t first, std::uint32_t count);
    Value gather_rows(const Value& table, const Value& index);
    Value scatter_add_rows(const Value& q, const Value& index, canonical::Shape table);
    Value one_hot(const Value& index, std::uint32_t classes);
    Value from_bits(const Value& x);
    Value to_float(const Value& x);
    Value to_int(const Value& x);
    /// To bf16 (the nearest, or by a dither from -1/2 to 1/2 of a step), or of an i32 to i8.
    Value narrow(const Value& x);
    Value narrow(const Value& x, const Value& dither);
    Value widen(const Value& x);
    /// 0, 1, .. count-1: [count,1], count at most 2^24.
    Value iota(std::uint32_t count);

    // If x is [M,N], the second operand may be [M,N], [M,1], [1,N] or [1,1].
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

    /// Product of operands that are already in fixed point: qa [G*M,K], ea, qb [G*N,K], eb -> [G*M,N].
    Value contract(
        const Value& qa, const Value& ea, const Value& qb, const Value& eb, const Profile& profile,
        std::uint32_t groups = 1
    );
    /// a [G*M,K] times b [G*N,K] transposed, for each group: computes exponents, quantises both and appends kContract.
    /// With more than one group, M and N must be multiples of 32.
    Value matmul_nt(const Value& a, const Value& b, const Profile& profile = kXg21, std::uint32_t groups = 1);
    /// [M,N] -> [M,1]: row sums in fixed point, each row with its own exponent.
    Value row_sum(const Value& x);
    /// [M,N] -> [1,N]: column sums.
    Value col_sum(const Value& x);
    /// -> [1,1]: sum of all elements, in one step or, if there are many, row by row first.
    Value sum(const Value& x);
    /// [M,1] -> [1,1]: mean.
    Value mean(const Value& column);
    /// Reduces x over the axes that broadcasting from `shape` repeats. `shape` is x's shape, [M,1], [1,N] or [1,1].
    Value sum_to(const Value& x, canonical::Shape shape);
    /// x [B,C*D] -> [V,D]: each row of the result is the sum of the row blocks of x that `index` maps to it, with one
    /// shared exponent.
    Value scatter_sum(const Value& x, const Value& index, canonical::Shape table);

    /// The nodes appended so far, including those not used yet.
    const canonical::Graph& nodes() const { return graph_; }

    /// Appends kCommit over the next state and returns the finished graph.
    canonical::Graph commit(std::span<const Value> state) &&;
    /// Like the other commit(), but drops nodes that neither the next state nor `loss` needs; updates `loss` to its
    /// index in the result.
    canonical::Graph commit(std::span<const Value> state, Value& loss) &&;

  private:
    Value emit(
        canonical::Op op, canonical::DType dtype, canonical::Shape shape, std::array<std::uint32_t, 2> attributes,
        std::vector<Value> inputs
    );
    Value emit(canonical::Node node);
    Value binary(canonical::Op op, const Value& x, const Value& y);
    Value unary(canonical::Op op, const Value& x, std::uint32_t attribute = 0);

    canonical::Graph graph_;
    std::multimap<std::uint64_t, std::uint32_t> index_;  // hash of each node -> its index
};

}  // namespace assay::program
