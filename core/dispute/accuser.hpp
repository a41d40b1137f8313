// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <core/dispute/player.hpp>
#include <core/dispute/statement.hpp>

/// The side of who was told something: comparing it with one's own execution, and showing that it is wrong.
namespace assay::dispute {

/// values_hash of what `replay` has in the place of the piece, which must be well-formed and of the program; nullopt if
/// it has values of another width there. `segment` is the claim of the whole segment, `step` one of its steps.
std::optional<Hash256> own_values(const Claim& segment, std::uint64_t step, const Piece& piece, Replay& replay);

/// STM-4: the evidence that the stated values are not those of the replay.
Contradiction make_contradiction(const Claim& segment, const StatedPiece& stated, Replay& replay);

}  // namespace assay::dispute
