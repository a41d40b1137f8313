// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <verifier/artifacts/hashing.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// The checkpoints that a solver keeps: files in its store, and the journal's list of them.
class CheckpointShelf {
  public:
    explicit CheckpointShelf(WorkerContext& context) : context_(context) {}

    /// How many checkpoints of a task are kept: 0 to n - 1.
    std::uint32_t count(const contracts::TaskId& task) const;
    /// A kept checkpoint from the disk; nullopt when it is damaged.
    std::optional<std::vector<canonical::Tensor>> load(const TaskArtifacts& artifacts, std::uint32_t index) const;
    /// Keeps the next checkpoint, and returns its state root.
    Hash256 keep(
        const TaskArtifacts& artifacts, const std::vector<canonical::Tensor>& state, const artifacts::Leaves& leaves,
        std::uint32_t index, std::optional<std::uint64_t> diverged_at
    );
    /// Writes a checkpoint's file into the store, and nothing into the journal. Of a private task, whose keys the
    /// context has, it is sealed. Returns its name and size.
    artifacts::ContentStore::Entry store(
        const TaskArtifacts& artifacts, const std::vector<canonical::Tensor>& state, const artifacts::Leaves& leaves,
        std::uint32_t index
    );
    /// The leaves of a state. Frozen tensors are hashed once for all checkpoints of a task.
    artifacts::Leaves leaves_of(const TaskArtifacts& artifacts, const std::vector<canonical::Tensor>& state);
    /// Forgets a damaged checkpoint, and those after it, which will be made again.
    void drop_damaged(const contracts::TaskId& task, std::uint32_t index);
    void forget(const contracts::TaskId& task) { frozen_leaves_.erase(task); }

  private:
    /// Of a private task, whose keys the context has: a checkpoint from its sealed file; nullopt when it is damaged.
    std::optional<std::vector<canonical::Tensor>> open(
        const TaskArtifacts& artifacts, const Journal::StoredCheckpoint& stored, const artifacts::StoredFile& file
    ) const;
    contracts::SealedFile seal(
        const TaskArtifacts& artifacts, const std::vector<canonical::Tensor>& state, const Hash256& root,
        std::uint32_t index
    );

    WorkerContext& context_;
    std::map<contracts::TaskId, artifacts::Leaves> frozen_leaves_;  ///< empty lists for the other tensors
};

}  // namespace assay::worker
