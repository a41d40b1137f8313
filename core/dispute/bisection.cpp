// SPDX-License-Identifier: Apache-2.0
#include <core/dispute/bisection.hpp>

#include <algorithm>
#include <utility>

#include <core/base/assert.hpp>
#include <core/base/integers.hpp>
#include <core/merkle/tree.hpp>
#include <core/dispute/rules.hpp>

namespace assay::dispute {
namespace {

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

/// What the node claims when `root` is the Merkle root of its tiles, or of the state's tensors.
Hash256 entry_over(const Claim& claim, const OpenedNode& node, const Hash256& root) {
    const auto* computed = std::get_if<canonical::Node>(&node);
    return computed == nullptr ? state_root_from(claim.program.state_tensors, root)
                               : tensor_commitment({.dtype = computed->dtype, .shape = computed->shape}, root);
}

/// The items that the next reveal splits, and the height of the tree over them.
struct Items {
    std::uint64_t count = 0;
    std::uint32_t height = 0;
};

Items items_of(const Claim& /*claim*/, const AtSteps& at) { return {at.step_count, merkle::tree_depth(at.step_count)}; }

Items items_of(const Claim& claim, const AtStep& /*at*/) {
    return {entry_count(claim), merkle::tree_depth(entry_count(claim))};
}

Items items_of(const Claim& claim, const AtNodes& at) {
    return {items_within(entry_count(claim), at.first_node, at.node_height), at.node_height};
}

Items items_of(const Claim& claim, const AtNode& at) {
    const std::uint64_t total = tile_total(claim, at.node.node);
    return {total, merkle::tree_depth(total)};
}

Items items_of(const Claim& claim, const AtTiles& at) {
    return {items_within(tile_total(claim, at.node.node), at.first_tile, at.tile_height), at.tile_height};
}

Items items_of(const Claim& claim, const AtTensors& at) {
    return {items_within(tile_total(claim, at.node.node), at.first_tensor, at.tensor_height), at.tensor_height};
}

Items items_of(const Claim& /*claim*/, const AtPartials& at) {
    return {at.partial_count, merkle::tree_depth(at.partial_count)};
}

/// A reveal as a legal one must be split, and a selection from it.
struct Revealed {
    Split split;
    std::span<const Hash256> children;
    Hash256 root(std::uint32_t height) const { return fold(children, split.child_height, height); }
    std::uint64_t offset(std::uint32_t child) const { return std::uint64_t{child} << split.child_height; }
};

Result<void, MoveError> require(bool condition, MoveError error) {
    return condition ? Result<void, MoveError>() : Unexpected{error};
}

/// DSP-5: the last entry of a step is the state after it.
Result<void, MoveError> check_last_entry(
    const Claim& claim, const DisputedStep& step, std::uint64_t first, const Revealed& r
) {
    const bool ends_step = r.split.child_height == 0 && first + r.children.size() == entry_count(claim);
    return require(!ends_step || r.children.back() == step.state_after, MoveError::kWrongResult);
}

Result<void, MoveError> check_reveal(const Claim& /*claim*/, const AtSteps& at, const Revealed& r) {
    return require(r.children.back() == at.state_after, MoveError::kWrongResult);
}

/// STM-5: whether the claim says more of this step than the state after it.
bool is_traced(const Claim& claim, const DisputedStep& step) {
    return claim.trace.has_value() && step.number == last_step(claim);
}

Result<void, MoveError> check_reveal(const Claim& claim, const AtStep& at, const Revealed& r) {
    TRY(check_last_entry(claim, at.step, 0, r));
    const bool is_claimed = !is_traced(claim, at.step) || r.root(items_of(claim, at).height) == claim.trace->root;
    return require(is_claimed, MoveError::kWrongRoot);
}

/// DSP-13: the second reveal of nodes is bound to the first.
Result<void, MoveError> check_reveal(const Claim& claim, const AtNodes& at, const Revealed& r) {
    TRY(check_last_entry(claim, at.step, at.first_node, r));
    return require(r.root(at.node_height) == at.claim, MoveError::kWrongRoot);
}

Result<void, MoveError> check_reveal(const Claim& claim, const AtNode& at, const Revealed& r) {
    const Hash256 root = r.root(items_of(claim, at).height);
    return require(entry_over(claim, at.node.node, root) == at.node.claim, MoveError::kWrongRoot);
}

Result<void, MoveError> check_reveal(const Claim& /*claim*/, const AtTiles& at, const Revealed& r) {
    return require(r.root(at.tile_height) == at.claim, MoveError::kWrongRoot);
}

Result<void, MoveError> check_reveal(const Claim& /*claim*/, const AtTensors& at, const Revealed& r) {
    return require(r.root(at.tensor_height) == at.claim, MoveError::kWrongRoot);
}

Result<void, MoveError> check_reveal(const Claim& /*claim*/, const AtPartials& at, const Revealed& r) {
    return require(r.children.back() == at.accumulator_after, MoveError::kWrongResult);
}

/// What a selection leads to.
using At = decltype(Position::at);

template <class Range>
At bisect(Range range) {
    return Bisection{.range = std::move(range), .pending = {}};
}

At at_steps(const AtSteps& steps) {
    if (steps.step_count > 1) {
        return bisect(steps);
    }
    return bisect(AtStep{
        {.number = steps.first_step, .state_before = steps.state_before, .state_after = steps.state_after}});
}

/// DSP-12: a tile of one partial goes straight to the proof.
At at_partials(const Claim& claim, AtPartials partials) {
    if (partials.partial_count > 1) {
        return bisect(std::move(partials));
    }
    const std::uint32_t partial = partial_at(claim, partials.tile, partials.first_partial);
    return AtPartial{
        .tile = std::move(partials.tile),
        .partial = partial,
        .accumulator_before = partials.accumulator_before,
        .accumulator_after = partials.accumulator_after};
}

At at_tiles(const Claim& claim, AtTiles tiles) {
    if (tiles.tile_height > 0) {
        return bisect(std::move(tiles));
    }
    DisputedTile tile{.node = std::move(tiles.node), .index = tiles.first_tile, .claim = tiles.claim};
    const std::uint32_t partials = partial_total(tile);
    AtPartials all{
        .tile = std::move(tile),
        .first_partial = 0,
        .partial_count = partials,
        .accumulator_before = {},
        .accumulator_after = tiles.claim};
    return at_partials(claim, std::move(all));
}

At at_tensors(AtTensors tensors) {
    if (tensors.tensor_height > 0) {
        return bisect(std::move(tensors));
    }
    return AtTensor{.node = std::move(tensors.node), .tensor = tensors.first_tensor, .claim = tensors.claim};
}

/// The subtree, or the node that the selection opens, that begins at entry `first` of the step.
Result<At, MoveError> select_entry(const Claim& claim, AtNodes selected, const std::optional<NodeOpening>& opening) {
    const bool is_one_node = selected.node_height == 0;
    TRY(require(opening.has_value() == is_one_node, MoveError::kNodeMissing));
    if (!is_one_node) {
        return bisect(selected);
    }
    TRY(require(is_program_node(claim, selected.first_node, *opening), MoveError::kNodeNotInProgram));
    return bisect(AtNode{{
        .step = selected.step,
        .trace_root = selected.trace_root,
        .index = selected.first_node,
        .claim = selected.claim,
        .node = opening->node,
    }});
}

/// DSP-14: only the place of a root counts, so one that repeats is bisected like any other.
Result<At, MoveError> select_child(
    const Claim& /*claim*/, const AtSteps& at, const Revealed& r, const Selection& selection
) {
    const std::uint32_t child = selection.child;
    const std::uint64_t offset = r.offset(child);
    return at_steps({
        .first_step = at.first_step + offset,
        .step_count = static_cast<std::uint32_t>(items_within(at.step_count, offset, r.split.child_height)),
        .state_before = child > 0 ? r.children[child - 1] : at.state_before,
        .state_after = r.children[child],
    });
}

/// STM-6: the whole step is agreed, and the part of one of its nodes is in question.
Result<At, MoveError> select_part(
    const Claim& claim, const DisputedStep& step, const std::optional<NodeOpening>& opening
) {
    const PartClaim& part = *claim.trace->part;
    TRY(require(opening.has_value(), MoveError::kNodeMissing));
    TRY(require(is_program_node(claim, part.node, *opening), MoveError::kNodeNotInProgram));
    DisputedNode node{
        .step = step, .trace_root = claim.trace->root, .index = part.node, .claim = {}, .node = opening->node};
    AtPartials partials{
        .tile = {.node = std::move(node), .index = part.tile, .claim = part.accumulator, .is_part = true},
        .first_partial = 0,
        .partial_count = part.partials.count,
        .accumulator_before = {},
        .accumulator_after = part.accumulator};
    TRY(require(is_part_possible(claim, partials.tile), MoveError::kNodeNotInProgram));
    return at_partials(claim, std::move(partials));
}

Result<At, MoveError> select_child(
    const Claim& claim, const AtStep& at, const Revealed& r, const Selection& selection
) {
    if (selection.child == r.split.count) {
        return select_part(claim, at.step, selection.node);
    }
    const AtNodes selected{
        .step = at.step,
        .trace_root = r.root(items_of(claim, at).height),
        .first_node = static_cast<std::uint32_t>(r.offset(selection.child)),
        .node_height = r.split.child_height,
        .claim = r.children[selection.child]};
    return select_entry(claim, selected, selection.node);
}

Result<At, MoveError> select_child(
    const Claim& claim, const AtNodes& at, const Revealed& r, const Selection& selection
) {
    AtNodes selected = at;
    selected.first_node += static_cast<std::uint32_t>(r.offset(selection.child));
    selected.node_height = r.split.child_height;
    selected.claim = r.children[selection.child];
    return select_entry(claim, selected, selection.node);
}

Result<At, MoveError> select_child(
    const Claim& claim, const AtNode& at, const Revealed& r, const Selection& selection
) {
    const std::uint64_t first = r.offset(selection.child);
    const std::uint32_t height = r.split.child_height;
    const Hash256& claimed = r.children[selection.child];
    if (std::holds_alternative<CommitNode>(at.node.node)) {
        return at_tensors({at.node, static_cast<std::uint32_t>(first), height, claimed});
    }
    return at_tiles(claim, {at.node, first, height, claimed});
}

Result<At, MoveError> select_child(
    const Claim& claim, const AtTiles& at, const Revealed& r, const Selection& selection
) {
    AtTiles selected{
        .node = at.node,
        .first_tile = at.first_tile + r.offset(selection.child),
        .tile_height = r.split.child_height,
        .claim = r.children[selection.child]};
    return at_tiles(claim, std::move(selected));
}

Result<At, MoveError> select_child(
    const Claim& /*claim*/, const AtTensors& at, const Revealed& r, const Selection& selection
) {
    return at_tensors({
        .node = at.node,
        .first_tensor = at.first_tensor + static_cast<std::uint32_t>(r.offset(selection.child)),
        .tensor_height = r.split.child_height,
        .claim = r.children[selection.child],
    });
}

Result<At, MoveError> select_child(
    const Claim& claim, const AtPartials& at, const Revealed& r, const Selection& selection
) {
    const std::uint32_t child = selection.child;
    const auto offset = static_cast<std::uint32_t>(r.offset(child));
    AtPartials selected{
        .tile = at.tile,
        .first_partial = at.first_partial + offset,
        .partial_count = static_cast<std::uint32_t>(items_within(at.partial_count, offset, r.split.child_height)),
        .accumulator_before = child > 0 ? std::optional(r.children[child - 1]) : at.accumulator_before,
        .accumulator_after = r.children[child]};
    return at_partials(claim, std::move(selected));
}

const DisputedNode* node_of(const AtSteps& /*at*/) { return nullptr; }
const DisputedNode* node_of(const AtStep& /*at*/) { return nullptr; }
const DisputedNode* node_of(const AtNodes& /*at*/) { return nullptr; }
const DisputedNode* node_of(const AtNode& at) { return &at.node; }
const DisputedNode* node_of(const AtTiles& at) { return &at.node; }
const DisputedNode* node_of(const AtTensors& at) { return &at.node; }
const DisputedNode* node_of(const AtPartials& at) { return &at.tile.node; }
const DisputedNode* node_of(const AtPartial& at) { return &at.tile.node; }
const DisputedNode* node_of(const AtTensor& at) { return &at.node; }
const DisputedNode* node_of(const Bisection& bisection) {
    return std::visit([](const auto& at) { return node_of(at); }, bisection.range);
}

constexpr Level level_of(const AtSteps& /*at*/) { return Level::kSteps; }
constexpr Level level_of(const AtStep& /*at*/) { return Level::kNodes; }
constexpr Level level_of(const AtNodes& /*at*/) { return Level::kNodes; }
constexpr Level level_of(const AtNode& /*at*/) { return Level::kTiles; }
constexpr Level level_of(const AtTiles& /*at*/) { return Level::kTiles; }
constexpr Level level_of(const AtTensors& /*at*/) { return Level::kTiles; }
constexpr Level level_of(const AtPartials& /*at*/) { return Level::kPartials; }

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

Level Position::level() const noexcept {
    const auto* bisection = std::get_if<Bisection>(&at);
    return bisection ? std::visit([](const auto& range) { return level_of(range); }, bisection->range) : Level::kProof;
}

std::span<const Hash256> Position::pending() const noexcept {
    const auto* bisection = std::get_if<Bisection>(&at);
    return bisection ? std::span<const Hash256>(bisection->pending) : std::span<const Hash256>();
}

const DisputedNode* Position::node() const noexcept {
    return std::visit([](const auto& alternative) { return node_of(alternative); }, at);
}

const DisputedStep* Position::step() const noexcept {
    if (const DisputedNode* disputed = node()) {
        return &disputed->step;
    }
    const auto& range = std::get<Bisection>(at).range;
    if (const auto* nodes = std::get_if<AtNodes>(&range)) {
        return &nodes->step;
    }
    const auto* whole = std::get_if<AtStep>(&range);
    return whole ? &whole->step : nullptr;
}

canonical::Op op_of(const OpenedNode& node) noexcept {
    const auto* computed = std::get_if<canonical::Node>(&node);
    return computed == nullptr ? canonical::Op::kCommit : computed->op;
}

// DSP-1, DSP-11
Position start_position(const Claim& claim) noexcept {
    const AtSteps all{
        .first_step = claim.first_step,
        .step_count = claim.step_count,
        .state_before = claim.before,
        .state_after = claim.after};
    return {.rounds = 0, .at = at_steps(all)};
}

Split split(const Claim& claim, const Position& position) noexcept {
    const auto* bisection = std::get_if<Bisection>(&position.at);
    if (bisection == nullptr || !is_possible(claim, position)) {
        return {};
    }
    const Items items = std::visit([&](const auto& at) { return items_of(claim, at); }, bisection->range);
    return split_items(items.count, items.height);
}

// DSP-9: no move changes the position that it is made in.
Result<Position, MoveError> reveal(
    const Claim& claim, const Position& position, std::span<const Hash256> children
) noexcept {
    const auto* bisection = std::get_if<Bisection>(&position.at);
    if (bisection == nullptr || !bisection->pending.empty() || !is_possible(claim, position)) {
        return Unexpected{MoveError::kNotYourMove};
    }
    const Revealed r{.split = split(claim, position), .children = children};
    if (children.size() != r.split.count) {
        return Unexpected{MoveError::kWrongCount};
    }
    TRY(std::visit([&](const auto& at) { return check_reveal(claim, at, r); }, bisection->range));
    return Position{
        .rounds = position.rounds,
        .at = Bisection{.range = bisection->range, .pending = {children.begin(), children.end()}}};
}

Result<Position, MoveError> select(const Claim& claim, const Position& position, const Selection& selection) noexcept {
    const auto* bisection = std::get_if<Bisection>(&position.at);
    if (bisection == nullptr || bisection->pending.empty()) {
        return Unexpected{MoveError::kNotYourMove};
    }
    const Revealed r{.split = split(claim, position), .children = bisection->pending};
    if (r.children.size() != r.split.count) {
        return Unexpected{MoveError::kNotYourMove};
    }
    if (selection.child >= r.split.count && !(selection.child == r.split.count && has_part(claim, position))) {
        return Unexpected{MoveError::kChildOutOfRange};
    }
    if (position.level() != Level::kNodes && selection.node.has_value()) {
        return Unexpected{MoveError::kNodeMissing};
    }
    TRY_ASSIGN(
        At next, std::visit([&](const auto& at) { return select_child(claim, at, r, selection); }, bisection->range)
    );
    return Position{.rounds = position.rounds + 1, .at = std::move(next)};
}

Pinpoint pinpoint(const Position& position) noexcept {
    Pinpoint out;
    if (const DisputedStep* step = position.step()) {
        out.step = step->number;
    } else {
        out.step = std::get<AtSteps>(std::get<Bisection>(position.at).range).first_step;
    }
    const DisputedNode* node = position.node();
    if (node == nullptr) {
        return out;
    }
    out.node = node->index;
    out.op = op_of(node->node);
    if (const auto* tensor = std::get_if<AtTensor>(&position.at)) {
        out.tensor = tensor->tensor;
    } else if (const auto* partial = std::get_if<AtPartial>(&position.at)) {
        out.tile = partial->tile.index;
        out.partial = partial->partial;
    } else if (const auto* partials = std::get_if<AtPartials>(&std::get<Bisection>(position.at).range)) {
        out.tile = partials->tile.index;
    }
    return out;
}

}  // namespace assay::dispute
