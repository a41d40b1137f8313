// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/result.hpp>
#include <core/canonical/node.hpp>
#include <core/canonical/part_range.hpp>
#include <core/canonical/partial.hpp>
#include <core/dispute/commitment.hpp>

/// The bisection game that reduces "this segment is wrong" to a single partial, which the chain recomputes (DSP rules).
///
/// The responder claims that a program leads from one state root to another. At each level it *reveals* intermediate
/// commitments, and the challenger *selects* the first one that it considers wrong; everything before it is thereby
/// agreed. At the bottom either party *proves*: it opens the inputs of the one disputed partial, and every
/// validator executes it.
///
///     steps -> nodes of one step -> tiles of one node -> partials of one tile -> proof
///
/// A level of steps or partials with a single item is skipped. For kCommit, the last node of a step, the tensors of the
/// next state take the place of tiles, and have no partials.
namespace assay::dispute {

/// Partials of a tile that were executed apart from the others, and what they leave (NUM-41).
struct PartClaim {
    std::uint32_t node = 0;
    std::uint64_t tile = 0;
    canonical::PartRange partials;
    Hash256 accumulator;  ///< accumulator_hash after the last of them
    static constexpr auto fields() {
        return Fields<&PartClaim::node, &PartClaim::tile, &PartClaim::partials, &PartClaim::accumulator>{};
    }
};

/// What an accusation claims of its last step beside the state after it (STM-5).
struct ClaimedTrace {
    Hash256 root;                   ///< of the step's entries
    std::optional<PartClaim> part;  ///< of a node of the step
    static constexpr auto fields() { return Fields<&ClaimedTrace::root, &ClaimedTrace::part>{}; }
};

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
    std::optional<ClaimedTrace> trace{};  ///< of an accusation
    static constexpr auto fields() {
        return Fields<
            &Claim::program, &Claim::dataset_root, &Claim::seed, &Claim::initialisation, &Claim::first_step,
            &Claim::step_count, &Claim::before, &Claim::after, &Claim::diverges, &Claim::trace>{};
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

/// The one step that is disputed, once there is one.
struct DisputedStep {
    std::uint64_t number = 0;
    Hash256 state_before;
    Hash256 state_after;
    static constexpr auto fields() {
        return Fields<&DisputedStep::number, &DisputedStep::state_before, &DisputedStep::state_after>{};
    }
};

/// The last node of a graph, kCommit, as it is opened: by the root over its inputs, of which there are as many as the
/// program has state tensors (TRC-5). Each input is opened alone, by the EntryProof that needs it.
struct CommitNode {
    Hash256 inputs_root;
    bool operator==(const CommitNode&) const = default;
    static constexpr auto fields() { return Fields<&CommitNode::inputs_root>{}; }
};

/// A node of the program as it is opened; the canonical::Node is never kCommit.
using OpenedNode = std::variant<canonical::Node, CommitNode>;
/// kCommit for a CommitNode.
canonical::Op op_of(const OpenedNode& node) noexcept;

/// The one node of that step that is disputed, as the program has it.
struct DisputedNode {
    DisputedStep step;
    Hash256 trace_root;  ///< Merkle root of the step's entries
    std::uint32_t index = 0;
    Hash256 claim;  ///< its entry; zero if only a part of it is in question
    OpenedNode node;
    static constexpr auto fields() {
        return Fields<
            &DisputedNode::step, &DisputedNode::trace_root, &DisputedNode::index, &DisputedNode::claim,
            &DisputedNode::node>{};
    }
};

/// The one tile of that node's output that is disputed.
struct DisputedTile {
    DisputedNode node;
    std::uint64_t index = 0;
    Hash256 claim;         ///< its leaf; of a part the accumulator that the part leaves
    bool is_part = false;  ///< the partials in question are those of the claim's part
    static constexpr auto fields() {
        return Fields<&DisputedTile::node, &DisputedTile::index, &DisputedTile::claim, &DisputedTile::is_part>{};
    }
};

/// Several steps are in question.
struct AtSteps {
    std::uint64_t first_step = 0;
    std::uint32_t step_count = 0;
    Hash256 state_before;
    Hash256 state_after;
    static constexpr auto fields() {
        return Fields<&AtSteps::first_step, &AtSteps::step_count, &AtSteps::state_before, &AtSteps::state_after>{};
    }
};

/// All entries of one step are in question; their root follows from the first reveal.
struct AtStep {
    DisputedStep step;
    static constexpr auto fields() { return Fields<&AtStep::step>{}; }
};

/// An aligned subtree of the step's entries is in question.
struct AtNodes {
    DisputedStep step;
    Hash256 trace_root;
    std::uint32_t first_node = 0;
    std::uint32_t node_height = 0;
    Hash256 claim;  ///< root of the subtree
    static constexpr auto fields() {
        return Fields<
            &AtNodes::step, &AtNodes::trace_root, &AtNodes::first_node, &AtNodes::node_height, &AtNodes::claim>{};
    }
};

/// The whole output of one node is in question: its tiles, or for kCommit the tensors of the next state.
struct AtNode {
    DisputedNode node;
    static constexpr auto fields() { return Fields<&AtNode::node>{}; }
};

/// An aligned subtree of the node's tiles is in question.
struct AtTiles {
    DisputedNode node;
    std::uint64_t first_tile = 0;
    std::uint32_t tile_height = 0;
    Hash256 claim;  ///< root of the subtree
    static constexpr auto fields() {
        return Fields<&AtTiles::node, &AtTiles::first_tile, &AtTiles::tile_height, &AtTiles::claim>{};
    }
};

/// For kCommit: an aligned subtree of the next state's tensors is in question.
struct AtTensors {
    DisputedNode node;
    std::uint32_t first_tensor = 0;
    std::uint32_t tensor_height = 0;
    Hash256 claim;  ///< root of the subtree
    static constexpr auto fields() {
        return Fields<&AtTensors::node, &AtTensors::first_tensor, &AtTensors::tensor_height, &AtTensors::claim>{};
    }
};

/// Several partials of one tile are in question. Of a part they are counted within it.
struct AtPartials {
    DisputedTile tile;
    std::uint32_t first_partial = 0;
    std::uint32_t partial_count = 0;
    std::optional<Hash256>
        accumulator_before;     ///< accumulator_hash claimed before first_partial; none before the first of all
    Hash256 accumulator_after;  ///< claimed after the last partial in question: accumulator_hash or the tile's leaf
    static constexpr auto fields() {
        return Fields<
            &AtPartials::tile, &AtPartials::first_partial, &AtPartials::partial_count, &AtPartials::accumulator_before,
            &AtPartials::accumulator_after>{};
    }
};

/// One partial is disputed: either party proves what it leaves.
struct AtPartial {
    DisputedTile tile;
    std::uint32_t partial = 0;  ///< of the tile, also in a part
    std::optional<Hash256> accumulator_before;
    Hash256 accumulator_after;
    static constexpr auto fields() {
        return Fields<
            &AtPartial::tile, &AtPartial::partial, &AtPartial::accumulator_before, &AtPartial::accumulator_after>{};
    }
};

/// For kCommit: one tensor of the next state is disputed; either party proves its commitment.
struct AtTensor {
    DisputedNode node;
    std::uint32_t tensor = 0;
    Hash256 claim;  ///< its commitment
    static constexpr auto fields() { return Fields<&AtTensor::node, &AtTensor::tensor, &AtTensor::claim>{}; }
};

/// What the next reveal splits. `pending` holds the revealed children until the challenger selects one; while it is
/// empty, the responder has to move.
struct Bisection {
    std::variant<AtSteps, AtStep, AtNodes, AtNode, AtTiles, AtTensors, AtPartials> range;
    std::vector<Hash256> pending;
    static constexpr auto fields() { return Fields<&Bisection::range, &Bisection::pending>{}; }
};

/// State of a dispute, as a value: each move creates the next one. Its types say at which level it is, and what is
/// known there.
struct Position {
    std::uint32_t rounds = 0;  ///< number of completed reveal-select rounds
    std::variant<Bisection, AtPartial, AtTensor> at;

    Level level() const noexcept;
    /// Whether the bisection is over, so that either party may prove.
    bool is_at_proof() const noexcept { return !std::holds_alternative<Bisection>(at); }
    /// The revealed children between which the challenger has to select; empty if it has not.
    std::span<const Hash256> pending() const noexcept;
    /// The disputed step and node; nullptr as long as several are in question. They live as long as the position.
    const DisputedStep* step() const noexcept;
    const DisputedNode* node() const noexcept;

    static constexpr auto fields() { return Fields<&Position::rounds, &Position::at>{}; }
};

/// A node of the program with its Merkle path in the program's tree.
struct NodeOpening {
    OpenedNode node;
    std::vector<Hash256> path;
    static constexpr auto fields() { return Fields<&NodeOpening::node, &NodeOpening::path>{}; }
};

struct Selection {
    std::uint32_t child = 0;          ///< the number of children for the claim's part (STM-6)
    std::optional<NodeOpening> node;  ///< the program's node; present if and only if the selection ends kNodes
    static constexpr auto fields() { return Fields<&Selection::child, &Selection::node>{}; }
};

enum class [[nodiscard]] MoveError : std::uint8_t{
    kNotYourMove =
        1,  ///< DSP-2: a reveal while children are pending, a selection while none are, or any move at a proof
    kWrongCount = 2,        ///< DSP-3: the number of children differs from split()
    kWrongResult = 3,       ///< DSP-5: the last child differs from the claimed result
    kWrongRoot = 4,         ///< DSP-6: the children do not hash to the claim that they refine
    kChildOutOfRange = 5,   ///< DSP-7
    kNodeMissing = 6,       ///< DSP-8: a node opening is missing, or present where none is allowed
    kNodeNotInProgram = 7,  ///< DSP-8: the path does not lead to the program's root, or the node is not well-formed
};

/// The initial position of a dispute of `claim`.
Position start_position(const Claim& claim) noexcept;
/// How the next reveal must split the position's level. Empty at a proof, and for a position that no moves lead
/// to (moves and judge() refuse such positions too).
Split split(const Claim& claim, const Position& position) noexcept;
/// The responder's move: the position after revealing `children`, or why the move is illegal.
Result<Position, MoveError> reveal(
    const Claim& claim, const Position& position, std::span<const Hash256> children
) noexcept;
/// The challenger's move: the position after the selection, or why the move is illegal.
Result<Position, MoveError> select(const Claim& claim, const Position& position, const Selection& selection) noexcept;

/// Human-readable location of a dispute. Fields are set as far as the bisection has come.
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
