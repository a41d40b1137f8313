// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include <core/canonical/tile.hpp>
#include <verifier/engine/backend/observer.hpp>

namespace assay::test {

/// Puts the rows of outputs together, and hands each output on when it is whole, until `take` returns false. An engine
/// that executes node by node has them in the order of the graph.
class WholeOutputs final : public engine::OutputObserver {
  public:
    using Take = std::function<bool(std::uint32_t node, const canonical::Tensor& output)>;
    WholeOutputs(const canonical::Graph& graph, Take take) : graph_(graph), take_(std::move(take)) {}

    void see(const engine::OutputRows& rows) override {
        const std::scoped_lock lock(mutex_);
        const canonical::Node& node = graph_[rows.node];
        Partly& partly = partly_[rows.node];
        if (partly.seen == 0) {
            partly.output = canonical::make_tensor(node.dtype, node.shape);
        }
        const std::size_t row_bytes = std::size_t{node.shape.cols} * canonical::size_of(node.dtype);
        const bool is_aligned = rows.first % canonical::kTileDim == 0 &&
                                (rows.count % canonical::kTileDim == 0 || rows.first + rows.count == node.shape.rows);
        is_right_ = is_right_ && is_aligned && rows.first + rows.count <= node.shape.rows;
        std::memcpy(partly.output.data.data() + rows.first * row_bytes, rows.data, rows.count * row_bytes);
        partly.seen += rows.count;
        if (partly.seen == node.shape.rows && !is_done_) {
            is_done_ = !take_(rows.node, partly.output);
            partly.output = {};
        }
        is_right_ = is_right_ && partly.seen <= node.shape.rows;
    }
    bool is_done() const override { return is_done_; }
    /// Whether all rows came as they should.
    bool is_right() const { return is_right_; }

  private:
    struct Partly {
        canonical::Tensor output;
        std::uint32_t seen = 0;
    };
    const canonical::Graph& graph_;
    Take take_;
    std::mutex mutex_;
    std::map<std::uint32_t, Partly> partly_;
    std::atomic<bool> is_done_{false};
    bool is_right_ = true;
};

}  // namespace assay::test
