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

/// The game that turns "this segment is wrong" into one partial that the chain recomputes (DSP rules).
///
/// The responder claims that a program leads from one state root to another. Level by level it *reveals* what it
/// claims in between, and the challenger *selects* the first item that it knows to be wrong; everything before that
/// item is thereby agreed. At the bottom either party *proves*: it opens the inputs of the one disputed partial, and
/// the referee executes it.
///
///     steps -> nodes of one step -> tiles of one node -> partials of one tile -> proof
///
/// A level with a single item is skipped, except tiles. The last node of a step, kCommit, has the tensors of the next
/// state in the place of tiles, and of partials one for each.
namespace assay::dispute {

/// What is claimed, and everything fixed about it. Built by the chain from the task, never by a party.
struct Claim {
    ProgramCommitment program;
    Hash256 dataset_root;
    std::uint64_t seed = 0;
    bool initialisation = false;     ///< the init graph makes `after` from the initial tensors; one step, number 0
    std::uint64_t first_step = 0;    ///< global number of the first step
    std::uint32_t step_count = 1;
    Hash256 before;  ///< state root before the first step; for initialisation the program's initial_root
    Hash256 after;   ///< claimed state root after the last step
    bool diverges = false;  ///< the claim says that the last step diverges (NUM-6): `after` is a state that is not finite
    static constexpr auto fields() {
        return Fields<
            &Claim::program, &Claim::dataset_root, &Claim::seed, &Claim::initialisation, &Claim::first_step,
            &Claim::step_count, &Claim::before, &Claim::after, &Claim::diverges>{};
    }
};

enum class Level : std::uint8_t { kSteps = 1, kNodes = 2, kTiles = 3, kPartials = 4, kProof = 5 };
constexpr bool is_valid(Level level) { return level >= Level::kSteps && level <= Level::kProof; }
const char* to_string(Level level) noexcept;

/// At most this many children in one reveal (DSP-3), and this many rounds in one dispute (DSP-4).
inline constexpr std::uint32_t kMaxChildren = 256;
inline constexpr std::uint32_t kMaxRounds = 8;

/// How one level splits: `count` children, each standing for 2^child_height items (the last may stand for fewer).
struct Split {
    std::uint32_t count = 0;
    std::uint32_t child_height = 0;
    bool operator==(const Split&) const = default;
};

/// Where a dispute stands. A value: each move makes the next one. `pending` holds the children revealed and not yet
/// selected from; when it is empty the responder is to move (at kProof: either party).
struct Position {
    Level level = Level::kSteps;
    std::uint32_t rounds = 0;  ///< reveal-select pairs completed

    // kSteps: the steps still in question. From kNodes on: the one step (step_count = 1).
    std::uint64_t first_step = 0;
    std::uint32_t step_count = 0;
    Hash256 state_before;
    Hash256 state_after;

    // kNodes: the aligned subtree of the step's entries still in question. From kTiles on: the one node.
    Hash256 trace_root;  ///< Merkle root of the step's entries, known from the first reveal of kNodes on
    std::uint32_t first_node = 0;
    std::uint32_t node_height = 0;
    Hash256 node_claim;  ///< claimed root of that subtree; of one node: its entry
    std::optional<canonical::Node> node;

    // kTiles, kPartials: likewise. Of kCommit, tensors of the state in the place of tiles.
    std::uint64_t first_tile = 0;
    std::uint32_t tile_height = 0;
    Hash256 tile_claim;  ///< claimed root of that subtree of tiles; of one tile: its leaf; of one tensor: its commitment
    std::uint32_t first_partial = 0;
    std::uint32_t partial_count = 0;
    Hash256 accumulator_before;  ///< accumulator_hash claimed before first_partial; zero when it is partial 0
    Hash256 accumulator_after;   ///< claimed after the last partial in question: accumulator_hash, or the tile leaf

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

/// A node of the program with its place in the program's Merkle tree.
struct NodeOpening {
    canonical::Node node;
    std::vector<Hash256> path;
    static constexpr auto fields() { return Fields<&NodeOpening::node, &NodeOpening::path>{}; }
};

struct Selection {
    std::uint32_t child = 0;
    std::optional<NodeOpening> node;  ///< exactly when the selection ends kNodes: the program's node
    static constexpr auto fields() { return Fields<&Selection::child, &Selection::node>{}; }
};

enum class [[nodiscard]] MoveError : std::uint8_t {
    kNotYourMove = 1,      ///< DSP-2: a reveal while one is pending, or a selection while none is, or past kProof
    kWrongCount = 2,       ///< DSP-3: not as many children as split() says
    kWrongResult = 3,      ///< DSP-5: the last child is not the claimed result
    kWrongRoot = 4,        ///< DSP-6: the children do not hash to what was claimed before
    kChildOutOfRange = 5,  ///< DSP-7
    kNodeMissing = 6,      ///< DSP-8: a node opening absent where needed, or present where not
    kNodeNotInProgram = 7, ///< DSP-8: the opening does not lead to the program's root, or is not well-formed
};

/// Where a dispute of `claim` starts.
Position start_position(const Claim& claim) noexcept;
/// How the position's level is to be revealed next. Nothing at kProof, or for a position that no moves lead to (the
/// moves and the referee refuse such positions too).
Split split(const Claim& claim, const Position& position) noexcept;
/// The responder's move.
Result<Position, MoveError> reveal(
    const Claim& claim, const Position& position, std::span<const Hash256> children
) noexcept;
/// The challenger's move.
Result<Position, MoveError> select(const Claim& claim, const Position& position, const Selection& selection) noexcept;

/// Where a dispute has arrived, for people: meaningful as far as the level has come.
struct Pinpoint {
    std::uint64_t step = 0;
    std::optional<std::uint32_t> node;
    std::optional<canonical::Op> op;
    std::optional<std::uint64_t> tile;
    std::optional<std::uint32_t> partial;
    std::optional<std::uint32_t> tensor;  ///< of kCommit, in the place of tile and partial: which tensor of the state
};
Pinpoint pinpoint(const Position& position) noexcept;

}  // namespace assay::dispute
