// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <verifier/roles/offer.hpp>
#include <verifier/worker/workplace.hpp>

namespace assay::worker {

/// Most bytes of memory that a task takes: its training, and a dispute about one of its steps.
std::uint64_t memory_of(const Material& material);

/// The most memory that a task may take here: as the options say, or what the machine has available.
std::uint64_t memory_max(const WorkerOptions& options);
/// The engine holds operands of a product twice, in the form in which it multiplies them.
inline constexpr std::uint64_t kMemoryFactor = 2;

/// What one step of a task took.
struct Trial {
    std::uint64_t start_us = 0;
    std::uint64_t step_us = 0;
    bool has_diverged = false;  ///< the initialisation, or the first step, or its loss is not finite
};
/// Runs a task's initialisation, unless `state` is where it starts, and then its first step. Throws std::runtime_error.
Trial try_step(
    const std::shared_ptr<const Material>& material, std::vector<canonical::Tensor> state,
    const engine::EngineOptions& options
);

/// Decides which of the tasks that a solver was drawn for it accepts: those that it estimates that it can do in time,
/// with profit. Nothing is accepted of which no step has run. Steps are tried one at a time and on a thread of their own,
/// since whoever submits a task chooses how long one takes.
class OfferDesk {
  public:
    explicit OfferDesk(Workplace& workplace) : at_(workplace) {}

    /// `state` is where a task with a parent starts. False too as long as it cannot be said: ask again.
    bool takes(
        const contracts::Task& task, const std::shared_ptr<const Material>& material,
        const std::vector<canonical::Tensor>& state
    );
    /// Whether the task was found unfit to be accepted.
    bool has_declined(const contracts::TaskId& task) const { return declined_.contains(task); }
    /// TASK-6: says that we are here again after a task lapsed, with the machine that was registered before.
    bool list_again();
    void forget(const contracts::TaskId& task);

  private:
    roles::OfferView view_of(const contracts::Task& task, const Material& material);
    std::uint64_t queued_us() const;
    bool decline(const contracts::Task& task, roles::Offer why, const roles::OfferView& view);
    /// What a step of the task took; nullopt as long as it, or another's, is being tried. Throws std::exception.
    std::optional<Trial> trial_of(
        const contracts::TaskId& task, const std::shared_ptr<const Material>& material,
        const std::vector<canonical::Tensor>& state
    );

    struct Trying {
        contracts::TaskId task;
        std::future<Trial> trial;
    };

    Workplace& at_;
    std::optional<Trying> trying_{};
    std::set<contracts::TaskId> declined_{};
    std::map<contracts::TaskId, std::uint64_t> estimates_{};  ///< of those taken, in microseconds
};

}  // namespace assay::worker
