// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <core/canonical/executor.hpp>
#include <verifier/compile/program/specialise.hpp>
#include <verifier/engine/backend/observer.hpp>
#include <verifier/engine/backend/options.hpp>
#include <verifier/engine/fused/executor.hpp>
#include <verifier/engine/fused/plan.hpp>
#include <verifier/engine/fused/thread_pool.hpp>

namespace assay::engine::fused {

/// Executes steps of one graph on the CPU, each by a plan for its kind (program::StepKinds). Only one plan at a time
/// takes memory; the state moves from one to the next. Not thread-safe.
class Steps {
  public:
    /// `graph` must be well-formed, and outlive this.
    Steps(
        const canonical::Graph& graph, std::shared_ptr<const canonical::RowSource> rows, const EngineOptions& options
    );

    /// Takes a plan for step `step`; an observed one executes every node. Returns false if the graph has no plan for
    /// it, and from then on. Throws std::runtime_error if the step takes more than options.memory_bytes.
    bool prepare(std::uint64_t step, std::size_t state_size, bool is_observed);
    /// Whether there is a plan, and with it a place for the state.
    bool is_prepared() const { return executor_ != nullptr; }
    /// Frees the plan's memory; the state must have been taken.
    void release();

    // After prepare(): as in Executor.
    void set_state(std::size_t index, const canonical::Tensor& tensor) { executor_->set_state(index, tensor); }
    canonical::Tensor state(std::size_t index) const { return executor_->state(index); }
    canonical::Tensor take_state(std::size_t index) { return executor_->take_state(index); }
    Result<void, canonical::StepError> run_step(const canonical::StepContext& context, OutputObserver* observer) {
        return executor_->run_step(context, observer);
    }

    /// Keeps a node's output after each step; to be called before the first prepare().
    void keep(std::uint32_t node) { kept_.insert(node); }
    /// The outputs of the kept nodes after the last step.
    std::map<std::uint32_t, canonical::Tensor> kept() const;
    void start_profile();
    /// Seconds since start_profile(), summed over all threads.
    Executor::Profile profile() const;
    ThreadPool& pool();

  private:
    /// How the steps of one kind are executed, and where the kept nodes are.
    struct Planned {
        Plan plan;
        std::vector<std::uint32_t> kept;  ///< in the order of kept_
    };
    std::optional<Planned> plan(const program::StepKind& kind, std::size_t state_size, bool is_observed) const;
    void replace(Planned planned, std::size_t state_size);

    const canonical::Graph& graph_;
    std::shared_ptr<const canonical::RowSource> rows_;
    EngineOptions options_;
    std::set<std::uint32_t> kept_;
    program::StepKinds kinds_;
    std::unique_ptr<ThreadPool> pool_;
    std::unique_ptr<Executor> executor_;
    bool is_possible_ = true;
    bool is_observed_ = false;                ///< whether the plan is one that can be observed
    program::StepKind kind_;                  ///< of the plan, if it is not observed
    std::vector<std::uint32_t> kept_places_;  ///< of the kept nodes in the plan
    std::map<program::StepKind, Planned> plans_;
    bool is_profiled_ = false;
    Executor::Profile profile_{};  ///< of executors that are gone
};

/// Returns to the system what the allocator keeps of tensors that are gone.
void give_back_free_memory();

}  // namespace assay::engine::fused
