// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <verifier/compile/program/array.hpp>
#include <verifier/compile/program/graph_builder.hpp>

namespace assay::program {

/// Reverse-mode differentiation on the graph. A backward pass cannot be made of the primitives one by one (a rounding
/// to fixed point has no derivative), so the tape remembers operations: each writes its forward nodes at once, and its
/// backward nodes when gradients() walks the tape back. All values are f32 matrices unless said otherwise; only what
/// depends on a parameter gets backward nodes.
class Tape {
  public:
    explicit Tape(GraphBuilder& graph, const Profile& profile = kXg21) : graph_(graph), profile_(profile) {}

    GraphBuilder& graph() { return graph_; }
    /// The profile of the contractions written from here on, forward and backward.
    void set_profile(const Profile& profile) { profile_ = profile; }

    // Movement.
    Value view(const Value& x, const canonical::View& view, canonical::Shape shape, float fill = 0.0F);
    /// The view's own dimensions as the shape (array.hpp).
    Value view(const Value& x, const canonical::View& view, float fill = 0.0F);
    Value transpose(const Value& x, std::uint32_t groups = 1);
    /// table [V,D], D a multiple of 32, index i32 [B,C] -> [B,C*D].
    Value embed(const Value& table, const Value& index);
    /// Arrays of `dims`, which differ along `axis` only, one after another along that axis.
    Value concat(std::span<const Value> values, std::span<const Dims> dims, std::uint32_t axis);

    // Elementwise; y, and a condition, may be [M,N], [M,1], [1,N] or [1,1] where x is [M,N].
    Value add(const Value& x, const Value& y);
    Value sub(const Value& x, const Value& y);
    Value mul(const Value& x, const Value& y);
    Value div(const Value& x, const Value& y);
    Value max(const Value& x, const Value& y);  ///< of equal ones the gradient goes to y
    Value min(const Value& x, const Value& y);  ///< of equal ones the gradient goes to y
    /// condition != 0 ? x : y
    Value select(const Value& x, const Value& condition, const Value& y);
    Value scale(const Value& x, float factor);
    Value add_const(const Value& x, float term);
    Value abs(const Value& x);
    Value sqrt(const Value& x);
    Value exp(const Value& x);
    Value log(const Value& x);
    Value tanh(const Value& x);
    Value erf(const Value& x);
    Value sin(const Value& x);
    Value cos(const Value& x);
    Value relu(const Value& x);
    Value sigmoid(const Value& x);
    Value silu(const Value& x);
    Value gelu(const Value& x);       ///< x * (1 + erf(x / sqrt 2)) / 2
    Value gelu_tanh(const Value& x);  ///< the tanh approximation
    /// x where column <= row modulo `rows`, else minus infinity: before a softmax.
    Value causal_mask(const Value& x, std::uint32_t rows);
    Value causal_softmax(const Value& x, std::uint32_t rows);  ///< the softmax of causal_mask
    /// Zeroes elements with probability `drop` and scales the others by 1 / (1 - drop).
    Value dropout(const Value& x, float drop, std::uint32_t tensor_id);

    // Reductions.
    Value row_sum(const Value& x);   ///< [M,N] -> [M,1]
    Value row_mean(const Value& x);  ///< [M,N] -> [M,1]
    Value row_max(const Value& x);   ///< [M,N] -> [M,1]; the gradient goes to the first of equal maxima
    Value col_sum(const Value& x);   ///< [M,N] -> [1,N]
    Value sum(const Value& x);       ///< -> [1,1]

    /// a [G*M,K], b [G*N,K] -> [G*M,N]: a times the transpose of b, group by group. With more than one group M, N and
    /// K are multiples of 32.
    Value matmul_nt(const Value& a, const Value& b, std::uint32_t groups = 1);
    /// x [M,K], weight [N,K], bias [1,N] -> [M,N].
    Value linear(const Value& x, const Value& weight, const Value& bias);

    // Rows as vectors.
    Value softmax(const Value& x);
    Value log_softmax(const Value& x);
    Value layer_norm(const Value& x, const Value& gain, const Value& bias, float epsilon);
    Value rms_norm(const Value& x, const Value& gain, float epsilon);
    /// Normalises each column over its rows: x [M,C].
    struct Normalised {
        Value output;
        Value mean;      ///< [1,C], of this batch
        Value variance;  ///< [1,C], of this batch, divided by M
    };
    Normalised batch_norm(const Value& x, const Value& gain, const Value& bias, float epsilon);

    /// logits [B,V], target i32 [B,1] -> [B,1]: -log softmax(logits)[target]; 0 for a target out of range.
    Value cross_entropy(const Value& logits, const Value& target);
    /// Their mean over all B, [1,1].
    Value mean_cross_entropy(const Value& logits, const Value& target);
    Value mean_square_error(const Value& x, const Value& target);

    // x is an array [batch, spatial..., channels], as matrix_shape says; the result is one of window_dims.
    /// weight [out channels, kernel... * channels], bias [1, out channels] -> [batch, out spatial..., out channels].
    Value conv(const Value& x, const Dims& dims, const Windows& windows, const Value& weight, const Value& bias);
    Value conv(const Value& x, const Dims& dims, const Windows& windows, const Value& weight);
    /// Of equal maxima the first in row-major order gets the gradient.
    Value max_pool(const Value& x, const Dims& dims, const Windows& windows);
    /// The mean over the kernel, padding counted.
    Value avg_pool(const Value& x, const Dims& dims, const Windows& windows);

    /// Causal self-attention. q, k, v [batch * tokens, heads * depth], tokens and depth multiples of 32, -> the same.
    Value causal_attention(const Value& q, const Value& k, const Value& v, std::uint32_t tokens, std::uint32_t heads);
    /// Rotary embedding of x [batch * tokens, heads * depth]: pairs (i, i + depth/2) are turned by
    /// position * base^(-2i/depth).
    Value rotary(const Value& x, std::uint32_t tokens, std::uint32_t heads, float base);

    /// Writes the backward pass of `loss` [1,1] and gives the gradient with respect to each of `parameters`, which are
    /// tensors of the state or nodes; zeros for one that the loss does not depend on.
    std::vector<Value> gradients(const Value& loss, std::span<const Value> parameters);

  private:
    /// Given the gradient of an operation's output, writes those of its inputs and calls accumulate().
    using Rule = std::function<void(Tape&, const Value& gradient)>;
    struct Record {
        Value output;
        Rule rule;
    };
    using Key = std::pair<canonical::Source, std::uint32_t>;
    static Key key_of(const Value& value) { return {value.source, value.index}; }

    /// Remembers how `output` is differentiated, unless that is known: a rule is of a value, however it was written.
    Value record(const Value& output, Rule rule);
    /// The same for an operation of one operand whose gradient is `rule`'s.
    using PointwiseRule = std::function<Value(GraphBuilder&, const Value& gradient)>;
    Value pointwise(const Value& x, const Value& output, PointwiseRule rule);
    /// Whether `value` depends on a parameter of the gradients() that is running; what does not gets no gradient.
    bool wants(const Value& value) const;
    /// Adds to the gradient of `value`; [M,1], [1,N] and [1,1] stand for a gradient that is repeated.
    void accumulate(const Value& value, const Value& gradient);
    /// Sums `gradient` over what broadcasting repeated, so that it has value's shape.
    void accumulate_broadcast(const Value& value, const Value& gradient);
    Value add_gradients(const Value& a, const Value& b, canonical::Shape shape);
    Value expand(const Value& x, canonical::Shape shape);
    void choice_back(const Value& x, const Value& y, const Value& is_second, const Value& gradient);
    void find_dependents(std::span<const Value> parameters);
    /// The sum of what `view`'s output, of gradient `gradient`, read of each element of its input.
    Value sum_back(const canonical::View& view, const Value& gradient, canonical::Shape shape);

    struct Softmax {
        Value shifted;  ///< x - the row's maximum
        Value powers;
        Value total;  ///< [M,1]
    };
    Softmax softmax_parts(const Value& x);
    /// softmax of `masked`, which is x except where the result is 0.
    Value softmax_of(const Value& x, const Value& masked);
    Value sum_of(const Value& x, const Value& output);
    Value normalised_back(const Value& unit, const Value& deviation, const Value& gradient, bool is_centred);
    struct Convolution {
        Dims dims;
        Windows windows;
        Value weight;
        Profile profile;
    };
    Value conv_back(const Convolution& conv, const Value& gradient);

    GraphBuilder& graph_;
    Profile profile_;
    std::vector<Record> records_;
    std::set<Key> recorded_;
    std::map<Key, Value> gradients_;  // so far; perhaps to be repeated
    std::set<Key> parameters_;
    std::vector<bool> depends_;  // by node
};

}  // namespace assay::program
