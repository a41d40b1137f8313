// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <core/base/result.hpp>
#include <verifier/canonical/executor.hpp>
#include <verifier/canonical/tile.hpp>
#include <verifier/program/program.hpp>

/// Fast executors of canonical graphs over libtorch; equal to verifier/canonical bit for bit (NUM-1). The only room
/// that includes libtorch, and only in .cpp files.
namespace assay::engine {

/// Changes a node's output during execution: how the demo and the tests play a dishonest solver. Called for every
/// node (kCommit excepted) of the step; may alter `output` in place (same dtype and shape).
using Tamper = std::function<void(std::uint64_t step, std::uint32_t node, canonical::Tensor& output)>;

/// How exact products are computed where libtorch's operations compute. Every way leaves the same bits.
enum class ProductChoice : std::uint8_t {
    kAutomatic,  ///< on an accelerator as kMeasured, on a CPU the way that is known to be fast
    kMeasured,   ///< every exact way is timed on the first product of a shape, and the fastest is used from then on
    kFloats,     ///< f32, as many columns at a time as are exact; doubles where none are
    kDoubles,    ///< f64, the right operand cut in two where that is needed
    kResidues,   ///< int8 with sums of int32, modulo as many numbers as are needed
};

/// What computes the parts that libtorch has no single operation for. Every way leaves the same bits.
enum class KernelChoice : std::uint8_t {
    kAutomatic,  ///< our own kernels where they were compiled for the device, else kLibrary
    kLibrary,    ///< several of libtorch's operations one after another
    kOwn,        ///< our own kernels; on a CPU their text as loops (for tests)
};

struct EngineOptions {
    std::string device = "cpu";  ///< a torch device string
    int threads = 1;
    /// On the CPU, compute with libtorch's operations only, as on an accelerator: slower, the same bits (for tests).
    bool portable = false;
    ProductChoice products = ProductChoice::kAutomatic;  ///< of the portable engine
    KernelChoice kernels = KernelChoice::kAutomatic;     ///< of the portable engine
};

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
