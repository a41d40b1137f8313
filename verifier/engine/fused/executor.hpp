// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <core/canonical/executor.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/engine/fused/plan.hpp>
#include <verifier/engine/fused/thread_pool.hpp>
#include <verifier/engine/backend/observer.hpp>

namespace assay::engine::fused {

/// Executes a plan on the CPU repeatedly, in memory that is allocated once. `pool` must outlive it.
class Executor {
  public:
    Executor(Plan plan, std::shared_ptr<const canonical::RowSource> rows, ThreadPool& pool);

    /// Sets, or returns, one tensor of the state.
    void set_state(std::size_t index, const canonical::Tensor& tensor);
    canonical::Tensor state(std::size_t index) const;
    /// Returns one tensor of the state and frees its memory; it has to be set before the next step.
    canonical::Tensor take_state(std::size_t index);
    /// Returns the output of a kept node after the last step.
    canonical::Tensor kept(std::uint32_t node) const;

    /// Runs one step and advances the state. Fails with StepError, and keeps the state, if the step diverged (NUM-6).
    /// An `observer` that is done ends the step, and the state is kept; the plan must be one that is observed.
    Result<void, canonical::StepError> run_step(
        const canonical::StepContext& context, OutputObserver* observer = nullptr
    );

    /// Seconds spent on each primitive since profiling was turned on, summed over all threads; indexed by Op.
    using Profile = std::array<double, 256>;
    void set_profiling(bool is_on);
    Profile profile() const;

  private:
    struct Free {
        void operator()(std::byte* memory) const;
    };
    using Memory = std::unique_ptr<std::byte, Free>;
    static Memory allocate(std::size_t bytes);

    void run_region(const Region& region, const canonical::StepContext& context, OutputObserver* observer);
    void run_stage(const Stage& stage, const canonical::StepContext& context, OutputObserver* observer);
    void show_rows(OutputObserver& observer, std::uint32_t node, OutputRows rows, std::size_t thread);
    void show_whole(OutputObserver& observer, std::uint32_t node);
    void run_scatter(std::uint32_t node);
    void run_batch(std::uint32_t node, const canonical::StepContext& context);
    void run_product_stage(std::uint32_t node);
    void find_addresses();
    bool is_next_finite();
    void move_next();

    const canonical::Node& node(std::uint32_t id) const { return plan_.graph[id]; }
    template <class T>
    T* at(ValueId value) {
        return reinterpret_cast<T*>(addresses_[value]);
    }

    Plan plan_;
    std::shared_ptr<const canonical::RowSource> rows_;
    ThreadPool& pool_;
    Memory arena_;
    std::vector<Memory> scratch_;  // one per thread
    std::vector<Memory> state_;
    std::vector<std::byte*> addresses_;                 // address of each stored value
    std::vector<std::uint32_t> shown_as_;               // the node whose output each node's is, or kNotShown
    std::vector<std::vector<std::int32_t>> converted_;  // rows to be shown, one per thread
    bool is_profiling_ = false;
    std::vector<Profile> profiles_;  // one per thread
};

}  // namespace assay::engine::fused
