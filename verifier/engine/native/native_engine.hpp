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
    /// Products of fewer bits, where the device has them: TensorFloat-32, or bfloat16 operands. bfloat16 wins.
    bool allow_tf32 = false;
    bool allow_bf16 = false;
    /// Products in f64, rounded to f32 at their end: what a solver with better arithmetic than f32 would have. Beats
    /// both of the above.
    bool products_in_f64 = false;
};

/// Executes the same graphs with libtorch's ordinary fast operations in fp32: products are its matrix products, sums
/// are its sums, and where a graph spells out a softmax, a cross-entropy, a layer normalisation, a GELU or the like, it
/// is the library's own. What training costs without canonical arithmetic, and what a solver of a task with a
/// tolerance runs. Results are near the canonical ones, never equal, and differ from machine to machine.
///
/// Not thread-safe; throws std::runtime_error when the device fails.
class NativeEngine {
  public:
    /// `graph` is well-formed.
    NativeEngine(canonical::Graph graph, std::shared_ptr<const canonical::RowSource> rows, NativeOptions options);
    ~NativeEngine();
    NativeEngine(NativeEngine&&) noexcept;
    NativeEngine& operator=(NativeEngine&&) noexcept;

    /// Replaces the state (on the device).
    void set_state(std::span<const canonical::Tensor> state);
    std::vector<canonical::Tensor> state() const;

    /// Runs one step and advances the state, unless an f32 tensor of the next one is not finite. The draws of random
    /// numbers and the batches are the canonical ones.
    Result<void, canonical::StepError> run_step(const canonical::StepContext& context);

    /// A scalar output of the last step; waits for the device.
    float scalar(std::uint32_t node) const;
    /// Asks the engine to keep node's output of each step for scalar(). Before the first step.
    void keep(std::uint32_t node);

    /// "libtorch 1.13.1 cpu, 1 thread, native"
    std::string description() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::engine
