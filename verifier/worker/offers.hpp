// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <vector>

#include <contracts/state/task.hpp>
#include <verifier/roles/defence.hpp>
#include <verifier/roles/offer.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// Upper bound in bytes on the memory that a task needs: for its training within the engine's limit, or for a dispute
/// about one of its steps, which is executed node by node whatever the limit.
std::uint64_t memory_of(const TaskArtifacts& artifacts, const engine::EngineOptions& options);

/// The most memory in bytes that a task may use here: the configured limit, or else what the machine has available.
std::uint64_t memory_max(const WorkerOptions& options);
/// What is executed without a plan takes at most so many times WRK-2's memory: the engine stores the operands of a
/// product twice, the second time in the layout that it multiplies.
inline constexpr std::uint64_t kMemoryFactor = 2;

/// Measured cost of one step of a task, in microseconds.
struct Trial {
    std::uint64_t start_us = 0;
    std::uint64_t step_us = 0;
    bool has_diverged = false;    ///< the initialisation or a step diverged, or the loss is not finite
    bool is_misprofiled = false;  ///< PRV-13: is_misprofiled() was true
};

/// Returns the time of a block in microseconds, as clocks in blocks are counted: that between the last blocks, at most
/// what the chain assumes, since a chain may make no blocks while nothing happens.
std::uint64_t clock_block_us(Chain& chain);

/// Runs a task's initialisation, unless `state` is its start state, and then its first step, repeatedly if it is quick,
/// and times both. Divergence is reported in the result. Throws std::runtime_error if the engine fails.
Trial try_step(
    const std::shared_ptr<const TaskArtifacts>& artifacts, std::vector<canonical::Tensor> state,
    const engine::EngineOptions& options
);

/// PRV-13: whether d_ref, of a task in tolerance mode that starts from its initialisation, is smaller than it is when
/// it is measured again. Replays segment 1 twice. Throws Diverged, and std::runtime_error if the engine fails.
bool is_misprofiled(
    const std::shared_ptr<const TaskArtifacts>& artifacts, const contracts::Tolerance& tolerance,
    const engine::EngineOptions& options
);

/// Decides which of the tasks that a solver was drawn for it accepts: those that it expects to finish in time and with
/// a profit. Accepts none before a step of it has run. One trial runs at a time, on its own thread, since the submitter
/// decides how long a step takes.
class OfferDesk {
  public:
    explicit OfferDesk(WorkerContext& context) : context_(context) {}

    /// Whether to accept the task. `state` is the start state of a task with a parent. Also false while the trial is
    /// still running: ask again.
    bool takes(
        const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts,
        const std::vector<canonical::Tensor>& state
    );
    /// Whether the task has been declined.
    bool has_declined(const contracts::TaskId& task) const { return declined_.contains(task); }
    /// The declined tasks with the reason; nullopt: the first step could not be run.
    const std::map<contracts::TaskId, std::optional<roles::Offer>>& declined() const { return declined_; }
    /// TASK-6: registers the solver again after a task of it lapsed, with the terms that were registered before.
    /// Returns whether it did.
    bool list_again();
    /// What the trial of the task has measured; nothing if there was none.
    roles::Measured measured(const contracts::Task& task) const;
    void forget(const contracts::TaskId& task);

  private:
    roles::OfferView view_of(const contracts::Task& task, const TaskArtifacts& artifacts);
    std::uint64_t queued_us() const;
    bool decline(const contracts::Task& task, roles::Offer why, const roles::OfferView& view);
    /// Returns the cost of a step; nullopt while a trial of this or another task is running. Rethrows the trial's
    /// exception.
    std::optional<Trial> trial_of(
        const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts,
        const std::vector<canonical::Tensor>& state
    );

    struct Trying {
        contracts::TaskId task;
        std::future<Trial> trial;
    };

    WorkerContext& context_;
    std::optional<Trying> trying_{};
    std::map<contracts::TaskId, std::optional<roles::Offer>> declined_{};
    /// Of the tasks that were not declined: the estimated duration in microseconds, and what it follows from.
    struct Estimate {
        std::uint64_t duration_us = 0;
        Trial trial{};
    };
    std::map<contracts::TaskId, Estimate> estimates_{};
};

}  // namespace assay::worker
