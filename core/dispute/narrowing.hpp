// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/result.hpp>
#include <core/canonical/node.hpp>
#include <core/canonical/partial.hpp>
#include <core/dispute/commitment.hpp>

/// The bisection game that reduces "this segment is wrong" to a single partial, which the chain recomputes (DSP rules).
///
/// The responder claims that a program leads from one state root to another. At each level it *reveals* intermediate
/// commitments, and the challenger *selects* the first one that it considers wrong; everything before it is thereby
/// agreed. At the bottom either party *proves*: it opens the inputs of the one disputed partial, and the referee
/// executes it.
///
///     steps -> nodes of one step -> tiles of one node -> partials of one tile -> proof
///
/// A level with a single item is skipped, except tiles. For kCommit, the last node of a step, the tensors of the next
/// state take the place of tiles, each with a single partial.
namespace assay::dispute {

/// The disputed claim, with all its fixed parameters. The chain builds it from the task; the parties cannot influence
/// it.
struct Claim {
    ProgramCommitment program;
    Hash256 dataset_root;
    std::uint64_t seed = 0;
    bool initialisation = false;   ///< the init graph produces `after` from the initial tensors; one step with number 0
    std::uint64_t first_step = 0;  ///< global number of the first step
    std::uint32_t step_count = 1;
    Hash256 before;  ///< state root before the first step; for an initialisation the program's initial_root
    Hash256 after;   ///< claimed state root after the last step
    bool diverges =
        false;  ///< the claim states that the last step diverges (NUM-6), so `after` contains a non-finite value
    static constexpr auto fields() {
        return Fields<
            &Claim::program, &Claim::dataset_root, &Claim::seed, &Claim::initialisation, &Claim::first_step,
            &Claim::step_count, &Claim::before, &Claim::after, &Claim::diverges>{};
    }
};

enum class Level : std::uint8_t { kSteps = 1, kNodes = 2, kTiles = 3, kPartials = 4, kProof = 5 };
constexpr bool is_valid(Level level) { return level >= Level::kSteps && level <= Level::kProof; }
const char* to_string(Level level) noexcept;

/// Maximum number of children in one reveal (DSP-3). A task is refused if its disputes need more than kMaxRounds
/// rounds, counting three for the tiles of a node (DSP-4).
inline constexpr std::uint32_t kMaxChildren = 256;
inline constexpr std::uint32_t kMaxRounds = 8;

/// How a level is split: `count` children, each covering 2^child_height items (the last may cover fewer).
struct Split {
    std::uint32_t count = 0;
    std::uint32_t child_height = 0;
    bool operator==(const Split&) const = default;
};

/// State of a dispute, as a value: each move creates the next one. `pending` holds the revealed children until the
/// challenger selects one; while it is empty, the responder has to move (at kProof: either party).
struct Position {
    Level level = Level::kSteps;
    std::uint32_t rounds = 0;  ///< number of completed reveal-select rounds

    // kSteps: the steps still in question. From kNodes on: the disputed step (step_count = 1).
    std::uint64_t first_step = 0;
    std::uint32_t step_count = 0;
    Hash256 state_before;
    Hash256 state_after;

    // kNodes: the aligned subtree of the step's entries still in question. From kTiles on: the disputed node.
    Hash256 trace_root;  ///< Merkle root of the step's entries; known after the first reveal at kNodes
    std::uint32_t first_node = 0;
    std::uint32_t node_height = 0;
    Hash256 node_claim;  ///< claimed root of that subtree; for a single node: its entry
    std::optional<canonical::Node> node;

    // kTiles, kPartials: likewise, for tiles. For kCommit, tensors of the state take the place of tiles.
    std::uint64_t first_tile = 0;
    std::uint32_t tile_height = 0;
    Hash256 tile_claim;  ///< claimed root of that subtree of tiles; for a single tile: its leaf; for a tensor: its
                         ///< commitment
    std::uint32_t first_partial = 0;
    std::uint32_t partial_count = 0;
    Hash256 accumulator_before;  ///< accumulator_hash claimed before first_partial; zero if that is partial 0
    Hash256 accumulator_after;   ///< claimed after the last partial in question: accumulator_hash or the tile leaf

    std::vector<Hash256> pending;

    static constexpr auto fields() {
        return Fields<
            &Position::level, &Position::rounds, &Position::first_step, &Position::step_count, &Position::state_before,
            &Position::state_after, &Position::trace_root, &Position::first_node, &Position::node_height,
            &Position::node_claim, &Position::node, &Position::first_tile, &Position::tile_height,
            &Position::tile_claim, &Position::first_partial, &Position::partial_count, &Position::accumulator_before,
            &Position::accumulator_after, &Position::pending>{};
    }
};

/// A node of the program with its Merkle path in the program's tree.
struct NodeOpening {
    canonical::Node node;
    std::vector<Hash256> path;
    static constexpr auto fields() { return Fields<&NodeOpening::node, &NodeOpening::path>{}; }
};

struct Selection {
    std::uint32_t child = 0;
    std::optional<NodeOpening> node;  ///< the program's node; present if and only if the selection ends kNodes
    static constexpr auto fields() { return Fields<&Selection::child, &Selection::node>{}; }
};

enum class [[nodiscard]] MoveError : std::uint8_t{
    kNotYourMove =
        1,            ///< DSP-2: a reveal while children are pending, a selection while none are, or any move at kProof
    kWrongCount = 2,  ///< DSP-3: the number of children differs from split()
    kWrongResult = 3,       ///< DSP-5: the last child differs from the claimed result
    kWrongRoot = 4,         ///< DSP-6: the children do not hash to the claim that they refine
    kChildOutOfRange = 5,   ///< DSP-7
    kNodeMissing = 6,       ///< DSP-8: a node opening is missing, or present where none is allowed
    kNodeNotInProgram = 7,  ///< DSP-8: the path does not lead to the program's root, or the node is not well-formed
};

/// The initial position of a dispute of `claim`.
Position start_position(const Claim& claim) noexcept;
/// How the next reveal must split the position's level. Empty at kProof, and for a position that no moves lead to
/// (moves and referee refuse such positions too).
Split split(const Claim& claim, const Position& position) noexcept;
/// The responder's move: the position after revealing `children`, or why the move is illegal.
Result<Position, MoveError> reveal(
    const Claim& claim, const Position& position, std::span<const Hash256> children
) noexcept;
/// The challenger's move: the position after the selection, or why the move is illegal.
Result<Position, MoveError> select(const Claim& claim, const Position& position, const Selection& selection) noexcept;

/// Human-readable location of a dispute. Fields are set as far as the dispute has been narrowed.
struct Pinpoint {
    std::uint64_t step = 0;
    std::optional<std::uint32_t> node;
    std::optional<canonical::Op> op;
    std::optional<std::uint64_t> tile;
    std::optional<std::uint32_t> partial;
    std::optional<std::uint32_t> tensor;  ///< for kCommit, instead of tile and partial: which tensor of the state
};
Pinpoint pinpoint(const Position& position) noexcept;

}  // namespace assay::dispute
