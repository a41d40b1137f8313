// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <core/base/result.hpp>
#include <core/canonical/measurement.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/compile/program/program.hpp>

/// The distance between a solver's checkpoint and the canonical replay as a program of its own, so that whoever
/// reports it can be disputed like whoever trains (TOL rules).
namespace assay::program {

/// What a tensor of the state counts as.
enum class StateGroup : std::uint8_t {
    kParameter = 0,  ///< MeasuredGroup::kParameters
    kOther = 1,      ///< MeasuredGroup::kOther
    kInteger = 2,    ///< compared for equality
};
/// TOL-3: by type and name. What this project's optimizers and batch normalisation call a slot or a running value is
/// kOther, every other f32 tensor a parameter.
StateGroup group_of(const StateTensor& tensor);

enum class [[nodiscard]] DistanceError : std::uint8_t {
    kTensors = 1,      ///< TOL-4: no tensors, or more than 256
    kWideInteger = 2,  ///< TOL-4: an i64 tensor, whose low bits no primitive reads
    kTooLarge = 3,     ///< TOL-4: an i32 tensor or a row of more than 2^24 elements, or a graph beyond kMaxNodes
};

/// The program whose initialisation reads the three states - start, replayed, claimed - and writes the measurement
/// (TOL-1, TOL-2). Its `initial` is of measured_place(n, 3) - gap tensors; what stands in a gap is read by nobody. Its
/// step passes the measurement on and is never run. A result passes check_program.
Result<Program, DistanceError> build_distance_program(const std::vector<StateTensor>& state);

/// TOL-1: the place of tensor `tensor` of state `which` (0 start, 1 replayed, 2 claimed) of states of `tensors`
/// tensors among the distance program's initial ones.
std::uint32_t measured_place(std::uint32_t tensors, std::uint32_t which, std::uint32_t tensor);

/// The program's initial tensors: those of the three states, and empty ones in the gaps (TRC-3). All have the same
/// types.
std::vector<canonical::Tensor> measured_state(
    std::span<const canonical::Tensor> start,
    std::span<const canonical::Tensor> replayed,
    std::span<const canonical::Tensor> claimed
);

}  // namespace assay::program
