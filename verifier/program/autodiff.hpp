// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <verifier/program/graph_builder.hpp>

namespace assay::program {

/// Reverse-mode differentiation on the graph. A backward pass cannot be made of the primitives one by one (a rounding
/// to fixed point has no derivative), so the tape remembers layers: each writes its forward nodes at once, and its
/// backward nodes when gradients() walks the tape back.
class Tape {
  public:
    explicit Tape(GraphBuilder& graph) : graph_(graph) {}

    /// table [V,D], index i32 [B,C] -> [B,C*D].
    Value embed(const Value& table, const Value& index);
    /// a [M,K], b [N,K] -> [M,N].
    Value matmul_nt(const Value& a, const Value& b);
    /// x [M,N], row [1,N] -> [M,N].
    Value add_row(const Value& x, const Value& row);
    Value relu(const Value& x);
    /// logits [B,V], target i32 [B,1] -> [1,1]: the mean of -log softmax(logits)[target].
    Value mean_cross_entropy(const Value& logits, const Value& target);

    /// Writes the backward pass of `loss`, which mean_cross_entropy returned, and gives the gradient with respect to
    /// each of `parameters`, every one of which the loss depends on.
    std::vector<Value> gradients(const Value& loss, std::span<const Value> parameters);

  private:
    enum class Layer : std::uint8_t { kEmbed, kMatmul, kAddRow, kRelu, kCrossEntropy };
    struct Record {
        Layer layer = Layer::kEmbed;
        Value output;
        std::vector<Value> inputs;
        std::vector<Value> saved;  ///< what the backward rule needs besides the inputs
    };

    Value record(Layer layer, const Value& output, std::vector<Value> inputs, std::vector<Value> saved = {});
    void back(const Record& record, const Value& gradient);
    void back_matmul(const Record& record, const Value& gradient);
    const Value* gradient_of(const Value& value) const;
    void accumulate(const Value& value, const Value& gradient);

    GraphBuilder& graph_;
    std::vector<Record> records_;
    std::vector<std::pair<Value, Value>> gradients_;  // value, its gradient so far
};

}  // namespace assay::program
