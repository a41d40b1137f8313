// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <verifier/plan/turns.hpp>
#include <verifier/worker/checkpoint_shelf.hpp>
#include <verifier/worker/trainer.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// What a member of a group does besides training one segment after the other: it fetches what others posted, and
/// trains its segments of a round of local replicas while others train theirs.
class GroupTraining {
  public:
    GroupTraining(WorkerContext& context, CheckpointShelf& shelf) : context_(context), shelf_(shelf) {}

    /// A segment of ours after the next one that can be trained now, since it starts from what the round begins with.
    std::optional<std::uint32_t> segment_ahead(const contracts::Task& task);
    /// Whether the segment is being trained, or was, before the one before it was posted.
    bool is_ahead(const contracts::TaskId& task, std::uint32_t segment) const;
    /// Trains such a segment for about `budget`. Returns whether it has done something. Throws std::runtime_error if
    /// the engine fails.
    bool train_ahead(const contracts::Task& task, std::uint32_t segment, std::chrono::milliseconds budget);
    /// The state after a segment that was trained ahead, from the checkpoint before it, if the training is over.
    /// nullopt, and the segment is to be trained as any other, if it diverged or its end is altered.
    std::optional<std::vector<canonical::Tensor>> finish(const TaskArtifacts& artifacts, std::uint32_t segment);
    /// Fetches a checkpoint that another member posted, and keeps it. One that cannot be had for some blocks is
    /// computed from the checkpoint before it. Returns whether anything was done. Throws std::runtime_error if the
    /// engine fails.
    bool fetch(const contracts::Task& task, std::uint32_t index, std::chrono::milliseconds budget);
    /// Whether a checkpoint was posted whose state nobody can have: what its segment leaves has another root.
    bool is_stuck(const contracts::TaskId& task) const { return stuck_.contains(task); }
    void forget(const contracts::TaskId& task);

  private:
    struct Ahead {
        std::unique_ptr<Trainer> trainer;
        std::shared_ptr<const Alteration> alteration;
        bool is_finished = false;
    };
    /// The turns of the task's program whose steps are its segments; nothing if there are none.
    const plan::Turns* turns_of(const contracts::Task& task);

    bool recompute(
        const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t index,
        std::chrono::milliseconds budget
    );

    WorkerContext& context_;
    CheckpointShelf& shelf_;
    std::map<contracts::TaskId, std::optional<plan::Turns>> turns_;
    std::map<contracts::TaskId, std::unique_ptr<Trainer>> recomputed_;
    std::set<contracts::TaskId> stuck_;
    std::map<contracts::TaskId, std::map<std::uint32_t, Ahead>> ahead_;
};

}  // namespace assay::worker
