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
#include <verifier/engine/backend/observer.hpp>

/// Fast executors of canonical graphs on libtorch, bit-identical to core/canonical (NUM-1). The only module that
/// includes libtorch, and only in .cpp files.
namespace assay::engine {

/// Changes a node's output during execution, so that the demo and tests can play a dishonest solver. Called for every
/// node of the step except kCommit; may alter `output` in place (same dtype and shape).
using Tamper = std::function<void(std::uint64_t step, std::uint32_t node, canonical::Tensor& output)>;

/// Time spent per kind of work, in seconds, summed over all threads.
struct StepProfile {
    double products = 0.0;      ///< exact products and scaling of their results
    double quantisation = 0.0;  ///< exponents and rounding to fixed point
    double elementwise = 0.0;   ///< all other computation, including reductions
    double movement = 0.0;      ///< views, gathers, scatters and batches
};

/// Executes one graph repeatedly. Not thread-safe. Functions throw std::runtime_error if the device fails, which is
/// never a verdict.
class Engine {
  public:
    /// Checks the floating-point environment and self-tests contractions with adversarial operands. Throws
    /// std::runtime_error that says what failed (NUM-5: an executor that fails its self-test is never used).
    Engine(canonical::Graph graph, std::shared_ptr<const canonical::RowSource> rows, EngineOptions options);
    ~Engine();
    Engine(Engine&&) noexcept;
    Engine& operator=(Engine&&) noexcept;

    /// Replaces the state, on the device.
    void set_state(std::span<const canonical::Tensor> state);
    std::vector<canonical::Tensor> state() const;
    /// The same, one tensor at a time.
    void set_state(std::size_t count, const std::function<canonical::Tensor(std::size_t)>& tensor);
    std::size_t state_size() const;
    canonical::Tensor tensor(std::size_t index) const;
    /// Returns the state and leaves the engine without one, so that it is not there twice.
    std::vector<canonical::Tensor> take_state();

    /// Runs one step and advances the state. Fails with StepError, and keeps the state, if the step diverges; when the
    /// `observer` is done, the step is abandoned and the state kept. `tamper` is slow: the step is executed node by
    /// node, and each tensor copied to the host. So is an observer on another device than a CPU.
    Result<void, canonical::StepError> run_step(
        const canonical::StepContext& context, const Tamper& tamper = {}, OutputObserver* observer = nullptr
    );

    /// A scalar output of the last step, such as the program's loss node.
    float scalar(std::uint32_t node) const;
    /// Makes a node's output available to scalar() after each step. Call it before the first step.
    void keep(std::uint32_t node);

    /// Starts profiling the steps run without tamper and observe. CPU only; on other devices all times stay 0.
    void start_profile();
    StepProfile profile() const;

    /// Returns a description such as "libtorch 1.13.1 cpu, 1 thread".
    std::string description() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::engine
