// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <core/base/result.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/compile/program/program.hpp>

/// The score of a training state on held-out data, computed by a program, so that a claimed score can be disputed like
/// training (EVL rules).
namespace assay::program {

enum class [[nodiscard]] EvaluationError : std::uint8_t{
    kTensors = 1,   ///< EVL-2: a state of more than 512 tensors
    kRows = 2,      ///< EVL-8: not a whole number of batches, or no batch
    kTooLarge = 3,  ///< EVL-8: a graph beyond kMaxNodes, or more than 2^24 rows
    kLoss = 4,      ///< EVL-7: the loss depends on the step, or on random numbers other than a mask
};
struct EvaluationFailure {
    EvaluationError error = EvaluationError::kTensors;
    std::uint64_t rows_fit = 0;  ///< kTooLarge only: maximum number of rows; 0 if not even one batch fits
};

/// Builds the program whose initialisation reads a state of `program` and a hold-out set of `rows` rows, and writes the
/// mean of the program's loss over its batches: one finite f32 (EVL-3, EVL-7). Its step only passes the score on and is
/// never run. `program` must pass check_program; so does the result. Fails with EvaluationFailure.
Result<Program, EvaluationFailure> make_evaluation(const Program& program, std::uint64_t rows);

/// EVL-2: returns the evaluation's initial tensors: those of the state, empty ones (TRC-3), and the hold-out set.
std::vector<canonical::Tensor> evaluated_state(
    std::span<const canonical::Tensor> state, const canonical::Tensor& holdout
);

}  // namespace assay::program
