// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <contracts/transaction/transaction.hpp>
#include <verifier/engine/engine.hpp>
#include <core/dispute/tolerance.hpp>
#include <verifier/worker/behaviour.hpp>
#include <verifier/worker/task_artifacts.hpp>

/// Runs the distance program on the engine, for verifiers, profilers and those who check them (TOL rules).
namespace assay::worker {

using States = std::vector<canonical::Tensor>;

/// A prepared measurement: the task's artifacts with the distance program in place of its program and the three states
/// as initial tensors. A dispute over a measurement replays this like any initialisation.
struct Measuring {
    std::shared_ptr<const TaskArtifacts> artifacts;
    contracts::MeasuredRoots roots;  ///< Merkle roots over the tensor commitments of the three states
};
/// Prepares a measurement for a task in tolerance mode. `seed` is the seed of the sketches.
Measuring prepare_measuring(
    const TaskArtifacts& task, const States& start, const States& replayed, const States& claimed, std::uint64_t seed
);
/// Runs the distance program and returns the measurement, altered by `alteration` if given. Throws std::runtime_error
/// if the engine fails.
dispute::Measurement measure(
    const Measuring& measuring, const engine::EngineOptions& options,
    const std::shared_ptr<const Alteration>& alteration = nullptr
);

/// Returns a copy of the task's artifacts with another seed.
std::shared_ptr<const TaskArtifacts> with_seed(const TaskArtifacts& task, std::uint64_t seed);

/// Runs the steps of segment `segment` > 0 natively (libtorch's own kernels) from `before`; returns the state after it.
/// Throws Diverged, and std::runtime_error if the device fails.
States run_natively(
    const TaskArtifacts& task, std::uint32_t segment, const States& before, const engine::EngineOptions& options
);

}  // namespace assay::worker
