// SPDX-License-Identifier: Apache-2.0
#include <core/dispute/rules.hpp>

#include <algorithm>

#include <core/merkle/tree.hpp>
#include <core/canonical/tile.hpp>

namespace assay::dispute {
namespace {

using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Source;

bool is_readable(const Claim& claim, std::uint32_t index, const Input& input) {
    return input.index < (input.source == Source::kNode ? index : tensors_before(claim));
}

/// Whether an aligned subtree of height `height` begins at `first` in a tree over `total` items.
bool is_subtree(std::uint64_t total, std::uint64_t first, std::uint32_t height) {
    return first < total && height <= merkle::tree_depth(total) && (first & ((std::uint64_t{1} << height) - 1)) == 0;
}

/// The same for a part of it, as a reveal leaves that has too many items to show each.
bool is_inner_subtree(std::uint64_t total, std::uint64_t first, std::uint32_t height) {
    return height > 0 && height < merkle::tree_depth(total) && is_subtree(total, first, height);
}

/// What fits_program() asks of a node that is not kCommit.
bool is_computed_node(const Claim& claim, std::uint32_t index, const Node& node) {
    if (node.op == Op::kCommit || !canonical::check_node(node)) {
        return false;
    }
    if (node.op == Op::kBatchRows && (claim.initialisation || !canonical::is_valid(claim.program.dataset) ||
                                      node.shape != Shape{claim.program.batch_size, claim.program.dataset.width})) {
        return false;
    }
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](const Input& input) {
        return is_readable(claim, index, input);
    });
}

bool can_be(const Claim& claim, const DisputedNode& node) { return fits_program(claim, node.index, node.node); }

bool has_tiles(const Claim& claim, const DisputedNode& node) {
    return can_be(claim, node) && std::holds_alternative<Node>(node.node);
}

bool has_tensors(const Claim& claim, const DisputedNode& node) {
    return can_be(claim, node) && std::holds_alternative<CommitNode>(node.node);
}

bool can_be(const Claim& claim, const DisputedTile& tile) {
    return has_tiles(claim, tile.node) && tile.index < tile_total(claim, tile.node.node) &&
           (!tile.is_part || is_part_possible(claim, tile));
}

bool can_be(const Claim& /*claim*/, const AtSteps& at) { return at.step_count > 1; }

bool can_be(const Claim& claim, const AtStep& /*at*/) { return entry_count(claim) > 0; }

bool can_be(const Claim& claim, const AtNodes& at) {
    return is_inner_subtree(entry_count(claim), at.first_node, at.node_height);
}

bool can_be(const Claim& claim, const AtNode& at) { return can_be(claim, at.node); }

bool can_be(const Claim& claim, const AtTiles& at) {
    return has_tiles(claim, at.node) &&
           is_inner_subtree(tile_total(claim, at.node.node), at.first_tile, at.tile_height);
}

bool can_be(const Claim& claim, const AtTensors& at) {
    return has_tensors(claim, at.node) &&
           is_inner_subtree(tile_total(claim, at.node.node), at.first_tensor, at.tensor_height);
}

bool can_be(const Claim& claim, const AtPartials& at) {
    return can_be(claim, at.tile) && at.partial_count > 1 &&
           std::uint64_t{at.first_partial} + at.partial_count <= partials_claimed(claim, at.tile) &&
           at.accumulator_before.has_value() == (at.first_partial > 0);
}

bool can_be(const Claim& claim, const AtPartial& at) {
    if (!can_be(claim, at.tile)) {
        return false;
    }
    const bool is_claimed =
        at.tile.is_part ? claim.trace->part->partials.contains(at.partial) : at.partial < partial_total(at.tile);
    return is_claimed && at.accumulator_before.has_value() == (at.partial != partial_at(claim, at.tile, 0));
}

bool can_be(const Claim& claim, const AtTensor& at) {
    return has_tensors(claim, at.node) && at.tensor < tile_total(claim, at.node.node);
}

bool can_be(const Claim& claim, const Bisection& bisection) {
    return std::visit([&](const auto& at) { return can_be(claim, at); }, bisection.range);
}

}  // namespace

ChunkRange chunks_of(const canonical::DatasetShape& shape, const canonical::DatasetSpan& span) noexcept {
    const std::uint64_t begin = canonical::byte_offset(shape, span);
    const std::uint32_t bytes = span.count * size_of(shape.storage);
    const std::uint64_t first = begin / canonical::kChunkBytes;
    const std::uint64_t last = (begin + bytes - 1) / canonical::kChunkBytes;
    return {
        .first = first,
        .count = static_cast<std::uint32_t>(last - first + 1),
        .offset = static_cast<std::uint32_t>(begin % canonical::kChunkBytes),
        .bytes = bytes};
}

std::uint64_t tile_total(const Claim& claim, const OpenedNode& node) noexcept {
    const Node* computed = std::get_if<Node>(&node);
    return computed == nullptr ? claim.program.state_tensors : canonical::tile_count(computed->shape);
}

std::uint32_t partial_total(const DisputedTile& tile) noexcept {
    return canonical::partial_count(std::get<Node>(tile.node.node), tile.index);
}

std::uint32_t partials_claimed(const Claim& claim, const DisputedTile& tile) noexcept {
    return tile.is_part ? claim.trace->part->partials.count : partial_total(tile);
}

std::uint32_t partial_at(const Claim& claim, const DisputedTile& tile, std::uint32_t position) noexcept {
    return tile.is_part ? static_cast<std::uint32_t>(claim.trace->part->partials.partial(position)) : position;
}

bool fits_program(const Claim& claim, std::uint32_t index, const OpenedNode& node) noexcept {
    const std::uint32_t entries = entry_count(claim);
    const Node* computed = std::get_if<Node>(&node);
    if (index >= entries || (computed == nullptr) != (index == entries - 1)) {
        return false;
    }
    return computed == nullptr || is_computed_node(claim, index, *computed);
}

bool has_part(const Claim& claim, const Position& position) noexcept {
    const auto* bisection = std::get_if<Bisection>(&position.at);
    const auto* at = bisection == nullptr ? nullptr : std::get_if<AtStep>(&bisection->range);
    return at != nullptr && claim.trace && claim.trace->part && at->step.number == last_step(claim);
}

bool is_part_possible(const Claim& claim, const DisputedTile& tile) noexcept {
    if (!claim.trace || !claim.trace->part || !std::holds_alternative<Node>(tile.node.node)) {
        return false;
    }
    const PartClaim& part = *claim.trace->part;
    const Node& node = std::get<Node>(tile.node.node);
    return tile.node.step.number == last_step(claim) && tile.node.index == part.node && tile.index == part.tile &&
           canonical::has_parts(node.op) && tile.index < canonical::tile_count(node.shape) &&
           part.partials.is_well_formed() && part.partials.partial(part.partials.count - 1) < partial_total(tile);
}

bool is_program_node(const Claim& claim, std::uint32_t index, const NodeOpening& opening) noexcept {
    const Hash256& expected = claim.initialisation ? claim.program.init_root : claim.program.step_root;
    const auto* computed = std::get_if<canonical::Node>(&opening.node);
    const Hash256 leaf = computed == nullptr
                             ? commit_hash(claim.program.state_tensors, std::get<CommitNode>(opening.node).inputs_root)
                             : node_hash(*computed);
    const auto root = merkle::root_from_path(leaf, index, entry_count(claim), opening.path);
    return root == expected && fits_program(claim, index, opening.node);
}

bool is_possible(const Claim& claim, const Position& position) noexcept {
    return std::visit([&](const auto& at) { return can_be(claim, at); }, position.at);
}

}  // namespace assay::dispute
