// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <core/base/result.hpp>
#include <core/canonical/executor.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/compile/program/program.hpp>
#include <verifier/engine/backend/options.hpp>

/// Fast executors of canonical graphs over libtorch; equal to core/canonical bit for bit (NUM-1). The only room
/// that includes libtorch, and only in .cpp files.
namespace assay::engine {

/// Changes a node's output during execution: how the demo and the tests play a dishonest solver. Called for every
/// node (kCommit excepted) of the step; may alter `output` in place (same dtype and shape).
using Tamper = std::function<void(std::uint64_t step, std::uint32_t node, canonical::Tensor& output)>;

/// Where the time of steps went, in seconds of all threads together.
struct StepProfile {
    double products = 0.0;      ///< exact products and their scaling
    double quantisation = 0.0;  ///< exponents and rounding to fixed point
    double elementwise = 0.0;   ///< everything else that computes, reductions included
    double movement = 0.0;      ///< views, gathers, scatters, batches
};

/// Executes one graph again and again. Not thread-safe; throws std::runtime_error when the device fails (which is
/// never a verdict).
class Engine {
  public:
    /// Checks the floating-point environment and runs a self-test of the contraction with adversarial operands;
    /// throws std::runtime_error saying what failed (NUM-5: an executor that fails its self-test is never used).
    Engine(canonical::Graph graph, std::shared_ptr<const canonical::RowSource> rows, EngineOptions options);
    ~Engine();
    Engine(Engine&&) noexcept;
    Engine& operator=(Engine&&) noexcept;

    /// Replaces the state (on the device).
    void set_state(std::span<const canonical::Tensor> state);
    std::vector<canonical::Tensor> state() const;

    /// Runs one step and advances the state. `tamper` and `observe` are slow paths (each tensor visits the host).
    Result<void, canonical::StepError> run_step(
        const canonical::StepContext& context, const Tamper& tamper = {}, const canonical::NodeObserver& observe = {}
    );

    /// A scalar output of the last step, e.g. the program's loss node.
    float scalar(std::uint32_t node) const;
    /// Asks the engine to keep node's output of each step for scalar(). Before the first step.
    void keep(std::uint32_t node);

    /// Measures the steps that are run from here on without tamper and observe; on the CPU only, else all stays 0.
    void start_profile();
    StepProfile profile() const;

    /// "libtorch 1.13.1 cpu, 1 thread"
    std::string description() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::engine
