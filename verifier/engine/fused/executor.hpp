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

namespace assay::engine::fused {

/// Executes a plan on the CPU, again and again, in memory laid out once.
class Executor {
  public:
    Executor(Plan plan, std::shared_ptr<const canonical::RowSource> rows, ThreadPool& pool);

    void set_state(std::span<const canonical::Tensor> state);
    /// The state's tensors, of these types.
    std::vector<canonical::Tensor> state() const;
    /// The output of a kept node after the last step.
    canonical::Tensor kept(std::uint32_t node) const;

    /// Runs one step and advances the state, unless the step diverged (NUM-6).
    Result<void, canonical::StepError> run_step(const canonical::StepContext& context);

    /// Seconds that the threads together spent on each primitive since profiling was turned on; by Op's number.
    using Profile = std::array<double, 256>;
    void set_profiling(bool is_on);
    Profile profile() const;

  private:
    struct Free {
        void operator()(std::byte* memory) const;
    };
    using Memory = std::unique_ptr<std::byte, Free>;
    static Memory allocate(std::size_t bytes);

    void run_region(const Region& region, const canonical::StepContext& context);
    void run_scatter(std::uint32_t node);
    void run_batch(std::uint32_t node, const canonical::StepContext& context);
    void run_product_stage(std::uint32_t node);
    bool finish_state();

    const canonical::Node& node(std::uint32_t id) const { return plan_.graph[id]; }
    template <class T>
    T* at(ValueId value) {
        return reinterpret_cast<T*>(addresses_[value]);
    }

    Plan plan_;
    std::shared_ptr<const canonical::RowSource> rows_;
    ThreadPool& pool_;
    Memory arena_;
    std::vector<Memory> scratch_;                // one for each thread
    std::array<std::vector<Memory>, 2> states_;  // the state before the step and the one after it, by turns
    std::size_t current_ = 0;
    std::vector<std::byte*> addresses_;          // of each stored value, in this step
    bool is_profiling_ = false;
    std::vector<Profile> profiles_;  // one for each thread
};

}  // namespace assay::engine::fused
