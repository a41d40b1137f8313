// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// A verifier's committee duty (AVL-3): fetches everything that a replay of the segments needs, then attests.
class Attester {
  public:
    explicit Attester(WorkerContext& context) : context_(context) {}

    /// Starts fetching what the task's committee must have, if this worker is a member that has not attested yet.
    void want(const contracts::Task& task);
    /// Attests if everything has been fetched and verified. Returns whether the attestation was sent.
    bool attend(const contracts::Task& task);
    void forget(const contracts::TaskId& task) { had_.erase(task); }

  private:
    bool is_due(const contracts::Task& task) const;
    /// Whether the checkpoint is available and matches the posted root. Sets `state` if the committee asks us for one
    /// of its tiles.
    bool has_checkpoint(
        const contracts::Task& task, const TaskArtifacts& artifacts, std::uint32_t index,
        std::optional<std::vector<canonical::Tensor>>& state
    );

    WorkerContext& context_;
    std::map<contracts::TaskId, std::set<std::uint32_t>> had_{};  ///< checkpoints already fetched and verified
};

}  // namespace assay::worker
