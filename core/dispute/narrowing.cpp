// SPDX-License-Identifier: Apache-2.0
#include <core/dispute/narrowing.hpp>

#include <algorithm>

#include <core/base/assert.hpp>
#include <core/base/integers.hpp>
#include <core/merkle/tree.hpp>
#include <core/dispute/rules.hpp>

namespace assay::dispute {
namespace {

using canonical::Op;

constexpr std::uint32_t kChildBitsMax = 8;  // 2^8 = kMaxChildren

/// DSP-3: how `items` items under an aligned subtree of height `height` are split: into as few rounds as 256 children
/// allow, and those of equal height.
Split split_items(std::uint64_t items, std::uint32_t height) {
    const std::uint32_t rounds = std::max<std::uint32_t>(1, div_ceil(height, kChildBitsMax));
    const std::uint32_t bits = div_ceil(height, rounds);
    const std::uint32_t child_height = height - bits;
    return {
        .count = static_cast<std::uint32_t>(div_ceil(items, std::uint64_t{1} << child_height)),
        .child_height = child_height,
    };
}

/// Items of `total` that lie in the subtree of height `height` beginning at `first`.
std::uint64_t items_within(std::uint64_t total, std::uint64_t first, std::uint32_t height) {
    ASSERT(first < total && height < 64);
    return std::min(total - first, std::uint64_t{1} << height);
}

/// The root of an aligned subtree from its children, each a subtree of height `child_height`; the rest is padding.
Hash256 fold(std::span<const Hash256> children, std::uint32_t child_height, std::uint32_t height) {
    std::vector<Hash256> level(children.begin(), children.end());
    for (std::uint32_t h = child_height; h < height; ++h) {
        if (level.size() % 2 != 0) {
            level.push_back(merkle::empty_root(h));
        }
        for (std::size_t i = 0; i < level.size() / 2; ++i) {
            level[i] = merkle::hash_children(level[2 * i], level[2 * i + 1]);
        }
        level.resize(level.size() / 2);
    }
    ASSERT(level.size() == 1);
    return level.front();
}

void enter_nodes(const Claim& claim, Position& p) {
    p.level = Level::kNodes;
    p.first_node = 0;
    p.node_height = merkle::tree_depth(std::max<std::uint32_t>(1, entry_count(claim)));
}

Result<void, MoveError> check_nodes_reveal(
    const Claim& claim, Position& p, const Split& s, std::span<const Hash256> children
) {
    const std::uint32_t entries = entry_count(claim);
    const std::uint64_t last_revealed = p.first_node + items_within(entries, p.first_node, p.node_height) - 1;
    if (s.child_height == 0 && last_revealed == entries - 1 && children.back() != p.state_after) {
        return Unexpected{MoveError::kWrongResult};
    }
    const Hash256 root = fold(children, s.child_height, p.node_height);
    // DSP-13: the second reveal of nodes is bound to the first.
    const bool first_reveal = p.node_height == merkle::tree_depth(entries);
    if (first_reveal) {
        p.trace_root = root;
    } else if (root != p.node_claim) {
        return Unexpected{MoveError::kWrongRoot};
    }
    return {};
}

/// What the node claims when `root` is the Merkle root of its tiles, or of the state's tensors.
Hash256 entry_over(const canonical::Node& node, const Hash256& root) {
    return node.op == Op::kCommit ? state_root_from(static_cast<std::uint32_t>(node.inputs.size()), root)
                                  : tensor_commitment({.dtype = node.dtype, .shape = node.shape}, root);
}

Result<void, MoveError> check_tiles_reveal(const Position& p, const Split& s, std::span<const Hash256> children) {
    const Hash256 root = fold(children, s.child_height, p.tile_height);
    const bool first_reveal = p.tile_height == merkle::tree_depth(tile_total(*p.node));
    if (first_reveal ? entry_over(*p.node, root) != p.node_claim : root != p.tile_claim) {
        return Unexpected{MoveError::kWrongRoot};
    }
    return {};
}

/// DSP-14: only the place of a root counts, so one that repeats is narrowed like any other.
void select_steps(const Claim& claim, Position& p, std::uint32_t child, const Split& s) {
    if (child > 0) {
        p.state_before = p.pending[child - 1];
    }
    p.state_after = p.pending[child];
    const std::uint64_t offset = std::uint64_t{child} << s.child_height;
    p.first_step += offset;
    p.step_count = static_cast<std::uint32_t>(items_within(p.step_count, offset, s.child_height));
    if (p.step_count == 1) {
        enter_nodes(claim, p);
    }
}

/// DSP-8: the opened node is the program's node at this place, and one that anybody can execute.
bool is_program_node(const Claim& claim, std::uint32_t index, const NodeOpening& opening) {
    const Hash256& expected = claim.initialisation ? claim.program.init_root : claim.program.step_root;
    const auto root = merkle::root_from_path(node_hash(opening.node), index, entry_count(claim), opening.path);
    return root == expected && fits_program(claim, index, opening.node);
}

Result<void, MoveError> select_node(const Claim& claim, Position& p, const Selection& selection, const Split& s) {
    p.node_claim = p.pending[selection.child];
    p.first_node += selection.child << s.child_height;
    p.node_height = s.child_height;
    const bool narrowed = s.child_height == 0;
    if (selection.node.has_value() != narrowed) {
        return Unexpected{MoveError::kNodeMissing};
    }
    if (!narrowed) {
        return {};
    }
    if (!is_program_node(claim, p.first_node, *selection.node)) {
        return Unexpected{MoveError::kNodeNotInProgram};
    }
    p.node = selection.node->node;
    p.level = Level::kTiles;
    p.first_tile = 0;
    p.tile_height = merkle::tree_depth(tile_total(*p.node));
    return {};
}

/// DSP-12: a tile of one partial needs no further narrowing.
void select_tile(Position& p, std::uint32_t child, const Split& s) {
    p.tile_claim = p.pending[child];
    p.first_tile += std::uint64_t{child} << s.child_height;
    p.tile_height = s.child_height;
    if (s.child_height > 0) {
        return;
    }
    p.first_partial = 0;
    p.partial_count = partial_total(*p.node, p.first_tile);
    p.accumulator_before = {};
    p.accumulator_after = p.tile_claim;
    p.level = p.partial_count == 1 ? Level::kProof : Level::kPartials;
}

void select_partial(Position& p, std::uint32_t child, const Split& s) {
    if (child > 0) {
        p.accumulator_before = p.pending[child - 1];
    }
    p.accumulator_after = p.pending[child];
    const std::uint32_t offset = child << s.child_height;
    p.first_partial += offset;
    p.partial_count = static_cast<std::uint32_t>(items_within(p.partial_count, offset, s.child_height));
    if (p.partial_count == 1) {
        p.level = Level::kProof;
    }
}

}  // namespace

const char* to_string(Level level) noexcept {
    switch (level) {
        case Level::kSteps:
            return "steps";
        case Level::kNodes:
            return "nodes";
        case Level::kTiles:
            return "tiles";
        case Level::kPartials:
            return "partials";
        case Level::kProof:
            return "proof";
    }
    return "unknown";
}

// DSP-1, DSP-11
Position start_position(const Claim& claim) noexcept {
    Position p;
    p.first_step = claim.first_step;
    p.step_count = claim.step_count;
    p.state_before = claim.before;
    p.state_after = claim.after;
    if (p.step_count <= 1) {
        enter_nodes(claim, p);
    }
    return p;
}

Split split(const Claim& claim, const Position& p) noexcept {
    if (!is_possible(claim, p)) {
        return {};
    }
    switch (p.level) {
        case Level::kSteps:
            return split_items(p.step_count, merkle::tree_depth(p.step_count));
        case Level::kNodes:
            return split_items(items_within(entry_count(claim), p.first_node, p.node_height), p.node_height);
        case Level::kTiles:
            return split_items(items_within(tile_total(*p.node), p.first_tile, p.tile_height), p.tile_height);
        case Level::kPartials:
            return split_items(p.partial_count, merkle::tree_depth(p.partial_count));
        case Level::kProof:
            break;
    }
    return {};
}

// DSP-9: no move changes the position that it is made in.
Result<Position, MoveError> reveal(
    const Claim& claim, const Position& position, std::span<const Hash256> children
) noexcept {
    if (position.level == Level::kProof || !position.pending.empty() || !is_possible(claim, position)) {
        return Unexpected{MoveError::kNotYourMove};
    }
    const Split s = split(claim, position);
    if (children.size() != s.count) {
        return Unexpected{MoveError::kWrongCount};
    }
    Position next = position;
    switch (position.level) {
        case Level::kSteps:
            if (children.back() != position.state_after) {
                return Unexpected{MoveError::kWrongResult};
            }
            break;
        case Level::kNodes:
            TRY(check_nodes_reveal(claim, next, s, children));
            break;
        case Level::kTiles:
            TRY(check_tiles_reveal(next, s, children));
            break;
        case Level::kPartials:
            if (children.back() != position.accumulator_after) {
                return Unexpected{MoveError::kWrongResult};
            }
            break;
        case Level::kProof:
            break;
    }
    next.pending.assign(children.begin(), children.end());
    return next;
}

Result<Position, MoveError> select(const Claim& claim, const Position& position, const Selection& selection) noexcept {
    if (position.level == Level::kProof || position.pending.empty()) {
        return Unexpected{MoveError::kNotYourMove};
    }
    const Split s = split(claim, position);
    if (position.pending.size() != s.count) {
        return Unexpected{MoveError::kNotYourMove};
    }
    if (selection.child >= s.count) {
        return Unexpected{MoveError::kChildOutOfRange};
    }
    if (position.level != Level::kNodes && selection.node.has_value()) {
        return Unexpected{MoveError::kNodeMissing};
    }
    Position next = position;
    switch (position.level) {
        case Level::kSteps:
            select_steps(claim, next, selection.child, s);
            break;
        case Level::kNodes:
            TRY(select_node(claim, next, selection, s));
            break;
        case Level::kTiles:
            select_tile(next, selection.child, s);
            break;
        case Level::kPartials:
            select_partial(next, selection.child, s);
            break;
        case Level::kProof:
            break;
    }
    next.pending.clear();
    ++next.rounds;
    return next;
}

Pinpoint pinpoint(const Position& p) noexcept {
    Pinpoint at{.step = p.first_step, .node = {}, .op = {}, .tile = {}, .partial = {}, .tensor = {}};
    if (!p.node) {
        return at;
    }
    at.node = p.first_node;
    at.op = p.node->op;
    if (p.level < Level::kPartials) {
        return at;
    }
    if (p.node->op == Op::kCommit) {
        at.tensor = static_cast<std::uint32_t>(p.first_tile);
        return at;
    }
    at.tile = p.first_tile;
    if (p.level == Level::kProof) {
        at.partial = p.first_partial;
    }
    return at;
}

}  // namespace assay::dispute
