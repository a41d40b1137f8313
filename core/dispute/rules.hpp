// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/canonical/node.hpp>
#include <core/canonical/partial.hpp>
#include <core/dispute/bisection.hpp>

/// Helpers shared by the game, the one-step verifier and the parties.
namespace assay::dispute {

/// Number of entries in a step of the claim: the nodes of its graph, including kCommit.
constexpr std::uint32_t entry_count(const Claim& claim) {
    return claim.initialisation ? claim.program.init_nodes : claim.program.step_nodes;
}

/// Number of tensors in the state before a step of the claim; before the initialisation, of the tensors that the task
/// provides.
constexpr std::uint32_t tensors_before(const Claim& claim) {
    return claim.initialisation ? claim.program.initial_tensors : claim.program.state_tensors;
}

constexpr std::uint64_t last_step(const Claim& claim) { return claim.first_step + claim.step_count - 1; }

/// The inputs of the disputed step's partials other than tensors.
inline canonical::StepContext context_of(const Claim& claim, const DisputedStep& step) {
    return {
        .seed = claim.seed,
        .step = claim.initialisation ? 0 : step.number,
        .dataset = claim.program.dataset,
    };
}

/// The chunks that hold some values of the dataset: one, or two neighbours.
struct ChunkRange {
    std::uint64_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t offset = 0;  ///< of the first value in the first chunk
    std::uint32_t bytes = 0;   ///< of all values, as they are stored
};
ChunkRange chunks_of(const canonical::DatasetShape& shape, const canonical::DatasetSpan& span) noexcept;

/// Number of tiles of the well-formed `node`'s output; for kCommit, of tensors of the state, whose commitments are the
/// leaves under the state root (DSP-6).
std::uint64_t tile_total(const Claim& claim, const OpenedNode& node) noexcept;
/// Number of partials of tile `tile` of the node that computes it.
std::uint32_t partial_total(const DisputedTile& tile) noexcept;
/// The number of partials that the tile's claim is of, which are all or those of the claim's part, and the one at a
/// position among them.
std::uint32_t partials_claimed(const Claim& claim, const DisputedTile& tile) noexcept;
std::uint32_t partial_at(const Claim& claim, const DisputedTile& tile, std::uint32_t position) noexcept;

/// STM-6: whether all entries of a step are in question whose claim has a part, so that it can be selected.
bool has_part(const Claim& claim, const Position& position) noexcept;
/// Whether the tile is the one whose part is claimed, of an operation that has parts, and has all partials of it. The
/// node must fit the program.
bool is_part_possible(const Claim& claim, const DisputedTile& tile) noexcept;

/// DSP-8: whether `node` can be at `index` of the claim's graph, judging by the node and the program's commitment: it
/// is kCommit if and only if it is the last, and any other is well-formed, reads only what exists before it, and as a
/// batch has the task's shape.
bool fits_program(const Claim& claim, std::uint32_t index, const OpenedNode& node) noexcept;
/// DSP-8: the opened node is the program's node at this place, and one that anybody can execute.
bool is_program_node(const Claim& claim, std::uint32_t index, const NodeOpening& opening) noexcept;

/// Whether moves of a dispute of `claim` can lead to a position with these sizes. The moves and judge() check it;
/// the functions that they call require it.
bool is_possible(const Claim& claim, const Position& position) noexcept;

}  // namespace assay::dispute
