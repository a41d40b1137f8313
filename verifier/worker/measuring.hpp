// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <contracts/state/transaction.hpp>
#include <verifier/engine/engine.hpp>
#include <core/dispute/tolerance.hpp>
#include <verifier/worker/fraud.hpp>
#include <verifier/worker/material.hpp>

/// The distance program on the engine, for verifiers, profilers and those who check them (TOL rules).
namespace assay::worker {

using States = std::vector<canonical::Tensor>;

/// What a measurement is of, and what it is: the distance program in the place of the task's, with the three states as
/// its initial tensors. A dispute over a measurement is played with it like any initialisation.
struct Measuring {
    std::shared_ptr<const Material> material;
    contracts::MeasuredRoots roots;  ///< over the tensors' commitments of the three states
};
/// Of a task in tolerance mode, under the sketches' seed `seed`.
Measuring prepare_measuring(
    const Material& task, const States& start, const States& replayed, const States& claimed, std::uint64_t seed
);
/// As `fraud` has it, where there is one. Throws std::runtime_error.
dispute::Measurement measure(
    const Measuring& measuring, const engine::EngineOptions& options, const std::shared_ptr<const Fraud>& fraud = nullptr
);

/// The same task under another seed.
std::shared_ptr<const Material> with_seed(const Material& task, std::uint64_t seed);

/// The steps of segment `segment` > 0 on the engine's own fast operations, from `before`. Throws Diverged and
/// std::runtime_error.
States run_natively(
    const Material& task, std::uint32_t segment, const States& before, const engine::EngineOptions& options
);

}  // namespace assay::worker
