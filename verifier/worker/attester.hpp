// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <contracts/state/drawn_opening.hpp>
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
    void forget(const contracts::TaskId& task) {
        had_.erase(task);
        had_sealed_.erase(task);
    }

  private:
    bool is_due(const contracts::Task& task) const;
    /// Whether the checkpoint is available and matches the posted root. Sets `state` if the committee asks us for one
    /// of its tiles.
    bool has_checkpoint(
        const contracts::Task& task, const TaskArtifacts& artifacts, std::uint32_t index,
        std::optional<std::vector<canonical::Tensor>>& state
    );

    /// What was drawn for us of a checkpoint, once everything was fetched; nullopt before.
    std::optional<contracts::DrawnOpening> open(const contracts::Task& task);
    /// PRV-8: the same of a private task, whose sealed files everybody can check.
    std::optional<contracts::DrawnOpening> open_sealed(const contracts::Task& task);
    /// Whether the sealed file is here, with the root that is its name.
    bool has_sealed(const contracts::Task& task, const char* what, const artifacts::Reference& file);

    WorkerContext& context_;
    std::map<contracts::TaskId, std::set<std::uint32_t>> had_{};   ///< checkpoints already fetched and verified
    std::map<contracts::TaskId, std::set<Hash256>> had_sealed_{};  ///< likewise, by their roots
};

}  // namespace assay::worker
