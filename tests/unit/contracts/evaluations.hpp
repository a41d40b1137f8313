// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <tests/unit/contracts/toy.hpp>
#include <tests/unit/dispute/game.hpp>

/// An evaluation of the toy program: it reads the whole state and a hold-out set of its own, and writes a finite
/// number.
namespace assay::contracts::test {

canonical::Tensor toy_holdout();
/// `spec`, a toy task's, with that evaluation.
TaskSpec evaluated_spec(TaskSpec spec);
/// What it reads of `state`, for playing disputes over its claim.
dispute::testing::World evaluating_world(const std::vector<canonical::Tensor>& state);
/// What an honest solver says of its final state.
Evaluation evaluation_of(const std::vector<canonical::Tensor>& state);
/// The same with a loss that is lower by 1, and the lie in the evaluation that gives it.
Evaluation flattered(Evaluation evaluation);
dispute::testing::Lie flattery();

/// The Merkle root over the commitments of the state's tensors.
Hash256 tree_root(const std::vector<canonical::Tensor>& state);

}  // namespace assay::contracts::test
