// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/bytes.hpp>

/// How the chain represents a score: the state roots before and after the graph that computes it (EVL rules).
namespace assay::dispute {

/// EVL-2: number of tensors that the evaluation of a state with `tensors` tensors (1 to 512) reads, including empty
/// ones.
std::uint32_t evaluated_tensors(std::uint32_t tensors) noexcept;
/// EVL-2: the state root of the evaluation's input, computed from the Merkle root of the state's tensor commitments and
/// the commitment of the hold-out set.
Hash256 evaluated_root(std::uint32_t tensors, const Hash256& tensors_root, const Hash256& holdout) noexcept;
/// EVL-3: the state root after an evaluation that outputs this score. `score` is the bits of an f32.
Hash256 score_root(std::uint32_t score) noexcept;
/// EVL-3: whether an execution can output this score: only finite scores are possible.
bool is_possible_score(std::uint32_t score) noexcept;

}  // namespace assay::dispute
