// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include <core/base/result.hpp>
#include <core/canonical/executor.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::engine {

/// Executes a program's steps, on one machine or on many, with the same bits. Functions throw std::runtime_error if it
/// fails, which is never a verdict.
class StepMachine {
  public:
    virtual ~StepMachine() = default;
    /// Replaces the state.
    virtual void set_state(const std::function<canonical::Tensor(std::size_t)>& tensor) = 0;
    virtual canonical::Tensor tensor(std::size_t index) = 0;
    /// Runs one step and advances the state. Fails with StepError, and keeps the state, if the step diverges (NUM-6).
    virtual Result<void, canonical::StepError> run_step(const canonical::StepContext& context) = 0;
    /// The loss of the last step.
    virtual float loss() const = 0;
};

/// Machines besides this one that execute steps together with it.
class StepMachines {
  public:
    virtual ~StepMachines() = default;
    /// How many machines there can be, this one included.
    virtual std::uint32_t count() const = 0;
    /// Returns a machine for the program; nullptr while there is another one, or if they cannot divide this program.
    virtual std::unique_ptr<StepMachine> begin(
        const program::Program& program, std::shared_ptr<const canonical::RowSource> rows
    ) = 0;
};

}  // namespace assay::engine
