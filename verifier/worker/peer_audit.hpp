// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>

#include <contracts/arbitration/actions/accusation_actions.hpp>
#include <contracts/state/task.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// How a member of a group that computes each step together finds out that another one does not compute: it replays
/// alone one of so many segments, chosen by itself at random, and accuses whoever was the first to tell it something
/// wrong in it (STM-8). A replay runs in a thread of its own, one at a time, and takes the memory of a verifier.
class PeerAudit {
  public:
    explicit PeerAudit(WorkerContext& context) : context_(context) {}
    /// Aborts the replay before its next step.
    ~PeerAudit();
    PeerAudit(const PeerAudit&) = delete;
    PeerAudit& operator=(const PeerAudit&) = delete;

    /// Chooses among the segments that have ended since the last call, begins a replay, and reports one that has
    /// ended. `task` is in training.
    void attend(const contracts::Task& task);
    void forget(const contracts::TaskId& task);

  private:
    struct Audit {
        contracts::TaskId task;
        std::uint32_t segment = 0;
        std::atomic<bool> stop{false};
        /// The last member, since its destructor waits for the thread.
        std::future<std::optional<contracts::Accuse>> found{};
    };
    /// Per task: segments that were considered, and one that was chosen and not replayed yet.
    struct Choice {
        std::uint32_t considered = 0;
        std::optional<std::uint32_t> segment{};
    };
    void choose(const contracts::Task& task);
    void begin(const contracts::Task& task, std::uint32_t segment);
    void conclude();
    void abort();

    WorkerContext& context_;
    std::map<contracts::TaskId, Choice> choices_;
    std::unique_ptr<Audit> running_;
};

}  // namespace assay::worker
