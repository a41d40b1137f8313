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

/// Reverse-mode automatic differentiation on the graph. The tape records operations rather than primitives, because
/// some primitives, such as rounding to fixed point, have no useful derivative. An operation appends its forward nodes
/// at once, and its backward nodes when gradients() walks the tape. Values are f32 matrices unless stated otherwise;
/// only values that depend on a parameter get backward nodes.
class Tape {
  public:
    explicit Tape(GraphBuilder& graph, const Profile& profile = kXg21) : graph_(graph), profile_(profile) {}

    GraphBuilder& graph() { return graph_; }
    /// Sets the profile of contractions appended from here on, forward and backward.
    void set_profile(const Profile& profile) { profile_ = profile; }

    // Movement.
    Value view(const Value& x, const canonical::View& view, canonical::Shape shape, float fill = 0.0F);
    /// The output shape follows from the view's dimensions (array.hpp).
    Value view(const Value& x, const canonical::View& view, float fill = 0.0F);
    Value transpose(const Value& x, std::uint32_t groups = 1);
    /// table [V,D], D a multiple of 32, index i32 [B,C] -> [B,C*D].
    Value embed(const Value& table, const Value& index);
    /// Concatenates arrays of `dims`, which differ only along `axis`, along that axis.
    Value concat(std::span<const Value> values, std::span<const Dims> dims, std::uint32_t axis);

    // Elementwise operations. If x is [M,N], y and a condition may be [M,N], [M,1], [1,N] or [1,1].
    Value add(const Value& x, const Value& y);
    Value sub(const Value& x, const Value& y);
    Value mul(const Value& x, const Value& y);
    Value div(const Value& x, const Value& y);
    Value max(const Value& x, const Value& y);  ///< on ties the gradient goes to y
    Value min(const Value& x, const Value& y);  ///< on ties the gradient goes to y
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
    /// x where column <= row modulo `rows`, else minus infinity; applied before a softmax.
    Value causal_mask(const Value& x, std::uint32_t rows);
    Value causal_softmax(const Value& x, std::uint32_t rows);  ///< softmax of causal_mask(x, rows)
    /// Zeroes elements with probability `drop` and scales the others by 1 / (1 - drop).
    Value dropout(const Value& x, float drop, std::uint32_t tensor_id);

    /// `output` stands for x from here on, [M,N] as x is; `back` makes the gradient of x from that of `output`.
    Value replaced(
        const Value& x, const Value& output, std::function<Value(GraphBuilder&, const Value& gradient)> back
    );

    // Reductions.
    Value row_sum(const Value& x);   ///< [M,N] -> [M,1]
    Value row_mean(const Value& x);  ///< [M,N] -> [M,1]
    Value row_max(const Value& x);   ///< [M,N] -> [M,1]; on ties the gradient goes to the first maximum
    Value col_sum(const Value& x);   ///< [M,N] -> [1,N]
    Value sum(const Value& x);       ///< -> [1,1]

    /// a [G*M,K], b [G*N,K] -> [G*M,N]: a times b transposed, for each group. With more than one group, M, N and K must
    /// be multiples of 32.
    Value matmul_nt(const Value& a, const Value& b, std::uint32_t groups = 1);
    /// x [M,K], weight [N,K], bias [1,N] -> [M,N].
    Value linear(const Value& x, const Value& weight, const Value& bias);

    // Operations on rows as vectors.
    Value softmax(const Value& x);
    Value log_softmax(const Value& x);
    Value layer_norm(const Value& x, const Value& gain, const Value& bias, float epsilon);
    Value rms_norm(const Value& x, const Value& gain, float epsilon);
    /// Batch normalisation: normalises each column of x [M,C] over its rows.
    struct Normalised {
        Value output;
        Value mean;      ///< [1,C], mean of this batch
        Value variance;  ///< [1,C], biased variance of this batch (divided by M)
    };
    Normalised batch_norm(const Value& x, const Value& gain, const Value& bias, float epsilon);

    /// logits [B,V], target i32 [B,1] -> [B,1]: -log softmax(logits)[target]; 0 if the target is out of range.
    Value cross_entropy(const Value& logits, const Value& target);
    /// Mean of cross_entropy over all B rows, [1,1].
    Value mean_cross_entropy(const Value& logits, const Value& target);
    Value mean_square_error(const Value& x, const Value& target);

    // x is an array [batch, spatial..., channels] as a matrix (matrix_shape); the result has dimensions window_dims.
    /// weight [out channels, kernel... * channels], bias [1, out channels] -> [batch, out spatial..., out channels].
    Value conv(const Value& x, const Dims& dims, const Windows& windows, const Value& weight, const Value& bias);
    Value conv(const Value& x, const Dims& dims, const Windows& windows, const Value& weight);
    /// On ties the gradient goes to the first maximum in row-major order.
    Value max_pool(const Value& x, const Dims& dims, const Windows& windows);
    /// Mean over the kernel, padding included.
    Value avg_pool(const Value& x, const Dims& dims, const Windows& windows);
    /// The same with an array for each place of the kernel, as the two above do where a window for each row would be
    /// more than 2^24 rows. The maximum is the same to the bit, with its gradient; the mean is rounded elsewhere.
    Value max_pool_by_places(const Value& x, const Dims& dims, const Windows& windows);
    Value avg_pool_by_places(const Value& x, const Dims& dims, const Windows& windows);

    /// Causal self-attention. q, k, v and the result are [batch * tokens, heads * depth]; tokens and depth must be
    /// multiples of 32.
    Value causal_attention(const Value& q, const Value& k, const Value& v, std::uint32_t tokens, std::uint32_t heads);
    /// Rotary position embedding of x [batch * tokens, heads * depth]: rotates pairs (i, i + depth/2) by position *
    /// base^(-2i/depth).
    Value rotary(const Value& x, std::uint32_t tokens, std::uint32_t heads, float base);

    /// Appends the backward pass of `loss` [1,1] and returns the gradients of `parameters`, which are state tensors or
    /// nodes; zeros for a parameter that the loss does not depend on.
    std::vector<Value> gradients(const Value& loss, std::span<const Value> parameters);

  private:
    /// Backward rule of an operation: given its output gradient, appends the input gradients and calls accumulate().
    using Rule = std::function<void(Tape&, const Value& gradient)>;
    struct Record {
        Value output;
        Rule rule;
    };
    using Key = std::pair<canonical::Source, std::uint32_t>;
    static Key key_of(const Value& value) { return {value.source, value.index}; }

    /// Records the backward rule of `output`, unless it has one already: a deduplicated value keeps its first rule.
    Value record(const Value& output, Rule rule);
    /// Records a unary operation whose input gradient is what `rule` returns.
    using PointwiseRule = std::function<Value(GraphBuilder&, const Value& gradient)>;
    Value pointwise(const Value& x, const Value& output, PointwiseRule rule);
    /// Whether `value` depends on a parameter of the current gradients() call; other values get no gradient.
    bool wants(const Value& value) const;
    /// Adds to the gradient of `value`. A gradient of shape [M,1], [1,N] or [1,1] is broadcast.
    void accumulate(const Value& value, const Value& gradient);
    /// Reduces `gradient` over broadcast axes to the shape of `value`, and accumulates it.
    void accumulate_broadcast(const Value& value, const Value& gradient);
    Value add_gradients(const Value& a, const Value& b, canonical::Shape shape);
    Value expand(const Value& x, canonical::Shape shape);
    void choice_back(const Value& x, const Value& y, const Value& is_second, const Value& gradient);
    void find_dependents(std::span<const Value> parameters);
    /// The gradient of a view's input: for each input element, the sum of `gradient` over the outputs that read it.
    Value sum_back(const canonical::View& view, const Value& gradient, canonical::Shape shape);

    struct Softmax {
        Value shifted;  ///< x minus the row maximum
        Value powers;
        Value total;  ///< [M,1]
    };
    Softmax softmax_parts(const Value& x);
    /// softmax of `masked`, which equals x wherever the result is not 0.
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
    std::map<Key, Value> gradients_;  // partial sums; may still need broadcasting
    std::set<Key> parameters_;
    std::vector<bool> depends_;  // indexed by node
};

}  // namespace assay::program
