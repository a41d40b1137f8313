// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <core/base/result.hpp>
#include <core/canonical/measurement.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/compile/program/program.hpp>

/// The distance between a solver's checkpoint and the canonical replay, computed by a program, so that a reported
/// distance can be disputed like training (TOL rules).
namespace assay::program {

/// How a state tensor counts in the measurement.
enum class StateGroup : std::uint8_t {
    kParameter = 0,  ///< MeasuredGroup::kParameters
    kOther = 1,      ///< MeasuredGroup::kOther
    kInteger = 2,    ///< must be equal
};
/// TOL-3: returns the group by type and name. Optimizer slots and running batch-normalisation statistics, under this
/// project's names, are kOther; every other f32 tensor is a parameter.
StateGroup group_of(const StateTensor& tensor);

enum class [[nodiscard]] DistanceError : std::uint8_t{
    kTensors = 1,      ///< TOL-4: no tensors, or more than a state may have
    kWideInteger = 2,  ///< TOL-4: an i64 tensor, whose low bits no primitive can read, or an i8 one
    kTooLarge = 3,     ///< TOL-4: an i32 tensor or a row of more than 2^24 elements, or a graph beyond kMaxNodes
};

/// Builds the program whose initialisation reads the three states - start, replayed, claimed - and writes the
/// measurement (TOL-1, TOL-2). Program::initial extends to measured_place(n, 3) - gap tensors; gap tensors are never
/// read. Its step only passes the measurement on and is never run. The result passes check_program. Fails with
/// DistanceError.
Result<Program, DistanceError> build_distance_program(const std::vector<StateTensor>& state);

/// TOL-1: returns the index among the distance program's initial tensors of tensor `tensor` of state `which` (0 start,
/// 1 replayed, 2 claimed), for states of `tensors` tensors.
std::uint32_t measured_place(std::uint32_t tensors, std::uint32_t which, std::uint32_t tensor);

/// Returns the program's initial tensors: those of the three states, with empty tensors in the gaps (TRC-3). All three
/// states must have the same types.
std::vector<canonical::Tensor> measured_state(
    std::span<const canonical::Tensor> start, std::span<const canonical::Tensor> replayed,
    std::span<const canonical::Tensor> claimed
);

}  // namespace assay::program
