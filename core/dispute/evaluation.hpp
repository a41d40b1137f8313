// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/bytes.hpp>

/// What the chain makes of a score: the states before and after the graph that computes it (EVL rules).
namespace assay::dispute {

/// Tensors of a state that can be evaluated: with the hold-out set behind them at most kMaxStateTensors (EVL-2).
inline constexpr std::uint32_t kMaxEvaluatedTensors = 512;

/// EVL-2: how many tensors the evaluation of a state of `tensors` tensors (1 to 512) reads, empty ones included.
std::uint32_t evaluated_tensors(std::uint32_t tensors) noexcept;
/// EVL-2: the state root of what the evaluation reads, from the Merkle root over the commitments of the state's tensors
/// and the commitment of the hold-out set.
Hash256 evaluated_root(std::uint32_t tensors, const Hash256& tensors_root, const Hash256& holdout) noexcept;
/// EVL-3: the state root after the evaluation, if this is what it wrote. `score` is the bits of an f32.
Hash256 score_root(std::uint32_t score) noexcept;
/// EVL-3: whether some execution can have written it: every score is finite.
bool is_possible_score(std::uint32_t score) noexcept;

}  // namespace assay::dispute
