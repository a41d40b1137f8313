// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <core/base/result.hpp>
#include <core/canonical/executor.hpp>
#include <core/canonical/tile.hpp>

namespace assay::engine {

struct NativeOptions {
    std::string device = "cpu";  ///< a torch device string
    int threads = 1;
    /// Reduced-precision products where the device supports them: TensorFloat-32, or bfloat16 operands. bfloat16 takes
    /// precedence.
    bool allow_tf32 = false;
    bool allow_bf16 = false;
    /// Products in f64, rounded to f32 at the end, as for a solver with better arithmetic than f32. Takes precedence
    /// over both of the above.
    bool products_in_f64 = false;
};

/// Executes the same graphs natively: with libtorch's fast fp32 sums and matrix products, and its library functions for
/// each softmax, cross-entropy, layer normalisation, GELU etc. that a graph spells out. This is the baseline cost of
/// training, and what a solver runs in tolerance mode. Results are close to the canonical ones, never equal, and differ
/// between machines. Not thread-safe; throws std::runtime_error if the device fails.
class NativeEngine {
  public:
    /// `graph` must be well-formed.
    NativeEngine(canonical::Graph graph, std::shared_ptr<const canonical::RowSource> rows, NativeOptions options);
    ~NativeEngine();
    NativeEngine(NativeEngine&&) noexcept;
    NativeEngine& operator=(NativeEngine&&) noexcept;

    /// Replaces the state, on the device.
    void set_state(std::span<const canonical::Tensor> state);
    std::vector<canonical::Tensor> state() const;

    /// Runs one step and advances the state. Fails with StepError, and keeps the state, if an f32 tensor of the next
    /// state is not finite. Random draws and batches are the canonical ones.
    Result<void, canonical::StepError> run_step(const canonical::StepContext& context);

    /// A scalar output of the last step. Waits for the device.
    float scalar(std::uint32_t node) const;
    /// Makes a node's output available to scalar() after each step. Call it before the first step.
    void keep(std::uint32_t node);

    /// Returns a description such as "libtorch 1.13.1 cpu, 1 thread, native".
    std::string description() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::engine
