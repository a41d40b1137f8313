// SPDX-License-Identifier: Apache-2.0
#include <core/dispute/rules.hpp>

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

bool is_possible_below_nodes(const Claim& claim, const Position& p) {
    if (!p.node || !fits_program(claim, p.first_node, *p.node)) {
        return false;
    }
    const std::uint64_t tiles = tile_total(*p.node);
    if (p.level == Level::kTiles) {
        return is_subtree(tiles, p.first_tile, p.tile_height);
    }
    if (p.first_tile >= tiles) {
        return false;
    }
    const std::uint64_t end = std::uint64_t{p.first_partial} + p.partial_count;
    const bool narrowed = p.partial_count == 1;
    return p.partial_count >= 1 && narrowed == (p.level == Level::kProof) &&
           end <= partial_total(*p.node, p.first_tile);
}

}  // namespace

std::uint64_t tile_total(const Node& node) noexcept {
    return node.op == Op::kCommit ? node.inputs.size() : canonical::tile_count(node.shape);
}

std::uint32_t partial_total(const Node& node, std::uint64_t tile) noexcept {
    return node.op == Op::kCommit ? 1 : canonical::partial_count(node, tile);
}

bool fits_program(const Claim& claim, std::uint32_t index, const Node& node) noexcept {
    const std::uint32_t entries = entry_count(claim);
    if (index >= entries || !canonical::check_node(node)) {
        return false;
    }
    const bool is_last = index == entries - 1;
    if ((node.op == Op::kCommit) != is_last) {
        return false;
    }
    if (node.op == Op::kCommit && node.inputs.size() != claim.program.state_tensors) {
        return false;
    }
    if (node.op == Op::kBatchRows &&
        (claim.initialisation || node.shape != Shape{claim.program.batch_size, claim.program.dataset.width})) {
        return false;
    }
    for (const Input& input : node.inputs) {
        if (!is_readable(claim, index, input)) {
            return false;
        }
    }
    return true;
}

bool is_possible(const Claim& claim, const Position& p) noexcept {
    switch (p.level) {
        case Level::kSteps:
            return p.step_count > 1;
        case Level::kNodes:
            return !p.node && is_subtree(entry_count(claim), p.first_node, p.node_height);
        case Level::kTiles:
        case Level::kPartials:
        case Level::kProof:
            return is_possible_below_nodes(claim, p);
    }
    return false;
}

}  // namespace assay::dispute
