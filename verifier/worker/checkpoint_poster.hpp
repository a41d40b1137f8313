// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <verifier/worker/publisher.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// GRP-4: the height from which others than the owner may post the next checkpoint of a group's task in training.
std::uint64_t turn_end(WorkerContext& context, const contracts::Task& task);

/// PRV-6: what is posted with a checkpoint of a private task, whose file in the store is the sealed one; nullopt of any
/// other task.
std::optional<contracts::SealedFile> sealed_file(const contracts::Task& task, const Journal::StoredCheckpoint& stored);

/// Posts the checkpoints of a solver, once they lie in as many stores as its operator wants, or its time runs out.
class CheckpointPoster {
  public:
    explicit CheckpointPoster(WorkerContext& context) : context_(context) {}

    /// Whether the next checkpoint to post is still being written to stores; starts it.
    bool is_publishing(const contracts::Task& task);
    /// Posts a stored checkpoint. Returns whether it is on the chain.
    bool post(const contracts::Task& task, std::uint32_t index);

  private:
    Patience patience_of(const contracts::Task& task);
    /// The locations besides the worker's own server; nullopt while it is waited for them.
    std::optional<std::string> publish(const contracts::Task& task, const Journal::StoredCheckpoint& stored);

    WorkerContext& context_;
};

}  // namespace assay::worker
