// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/canonical/node.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/engine/backend/observer.hpp>

namespace assay::worker {

/// Hashes all outputs of a step as they are produced, and keeps 32 bytes of each (TRC-2).
class OutputCommitments final : public engine::OutputObserver {
  public:
    /// `graph` must outlive it.
    explicit OutputCommitments(const canonical::Graph& graph);
    void see(const engine::OutputRows& rows) override;
    /// The commitments of all nodes but kCommit, in order, after a step that was not abandoned.
    std::vector<Hash256> take();

  private:
    /// What is known of an output of which some rows are still missing.
    struct Partly {
        std::once_flag begun;
        std::vector<Hash256> leaves;
        std::atomic<std::uint32_t> rows_left{0};
    };
    const canonical::Graph& graph_;
    std::vector<Partly> partly_;
    std::vector<Hash256> commitments_;
};

/// Copies the outputs of some nodes, and is done when it has them.
class CollectedOutputs final : public engine::OutputObserver {
  public:
    CollectedOutputs(const canonical::Graph& graph, const std::set<std::uint32_t>& nodes);
    void see(const engine::OutputRows& rows) override;
    bool is_done() const override { return rows_left_ == 0; }
    std::map<std::uint32_t, canonical::Tensor>& outputs() { return outputs_; }

  private:
    std::map<std::uint32_t, canonical::Tensor> outputs_;
    std::atomic<std::uint64_t> rows_left_{0};
};

}  // namespace assay::worker
