// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include <core/base/result.hpp>
#include <core/canonical/executor.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/compile/program/program.hpp>
#include <verifier/engine/backend/options.hpp>
#include <verifier/engine/cell/collective.hpp>
#include <verifier/plan/plan.hpp>

namespace assay::engine {

/// Executes one rank's part of a program's steps. All ranks of a cell run the same steps; together they have the state
/// that one machine would have, bit for bit. Not thread-safe. Functions throw std::runtime_error if another rank or the
/// device fails, which is never a verdict; the cell is of no use then.
class CellExecutor {
  public:
    /// `collective` must outlive it. Self-tests contractions as Engine does (NUM-5).
    CellExecutor(
        const program::Program& program, plan::Plan plan, std::shared_ptr<const canonical::RowSource> rows,
        Collective& collective, const EngineOptions& options
    );
    ~CellExecutor();
    CellExecutor(const CellExecutor&) = delete;
    CellExecutor& operator=(const CellExecutor&) = delete;

    const plan::Plan& plan() const;
    /// Sets, or returns, this rank's block of a tensor of the state, which is plan().state[index][rank].
    void set_state(std::size_t index, const canonical::Tensor& block);
    canonical::Tensor state(std::size_t index) const;

    /// Runs one step and advances the state. Fails with StepError on all ranks, which keep the state, if it diverges on
    /// any (NUM-6).
    Result<void, canonical::StepError> run_step(const canonical::StepContext& context);
    /// The loss of the last step, on rank 0 and on the ranks that have it.
    std::optional<float> loss() const;
    /// How long this rank has computed in steps since the last call, without what it waited for others.
    std::chrono::nanoseconds take_busy();
    /// The most bytes that values of a step have taken at once, state included.
    std::uint64_t peak_bytes() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::engine
