// SPDX-License-Identifier: Apache-2.0
#include <core/dispute/player.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include <core/base/assert.hpp>
#include <core/dispute/rules.hpp>

namespace assay::dispute {
namespace {

using canonical::Accumulator;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::PartialInput;
using canonical::Source;
using canonical::StepContext;
using canonical::Tensor;
using canonical::Tile;
using canonical::TileRef;

const Tensor& input_tensor(Replay& replay, std::uint64_t step, const Input& input) {
    if (input.source == Source::kState) {
        return replay.state_before(step)[input.index];
    }
    return replay.node_outputs(step)[input.index];
}

/// What partial `partial` reads, from the party's own tensors; `before` is left to the caller.
struct Reads {
    std::vector<TileRef> refs;
    PartialInput input;
    std::optional<std::uint64_t> row;
};

Reads gather_reads(const Claim& claim, const Position& p, std::uint32_t partial, Replay& replay) {
    const Node& node = *p.node;
    Reads reads;
    reads.refs = canonical::operands_of(node, p.first_tile, partial);
    const auto tile_at = [&](const TileRef& ref) {
        return canonical::tile_of(input_tensor(replay, p.first_step, node.inputs[ref.input]), ref.tile);
    };
    for (const TileRef& ref : reads.refs) {
        reads.input.tiles.push_back(tile_at(ref));
    }
    if (const auto dependent = canonical::dependent_operand(node, p.first_tile, partial, reads.input.tiles)) {
        reads.refs.push_back(*dependent);
        reads.input.tiles.push_back(tile_at(*dependent));
    }
    reads.row = canonical::dataset_row_of(node, p.first_tile, partial, context_of(claim, p));
    if (reads.row) {
        const ByteView row = replay.rows().row(*reads.row);
        reads.input.dataset_row = Bytes(row.begin(), row.end());
    }
    return reads;
}

struct PartialResult {
    Hash256 hash;
    std::optional<Accumulator> accumulator;
};

/// The party's own chain of partials of the disputed tile, up to and excluding `end`.
std::vector<PartialResult> run_partials(const Claim& claim, const Position& p, std::uint32_t end, Replay& replay) {
    const StepContext context = context_of(claim, p);
    std::vector<PartialResult> results;
    results.reserve(end);
    std::optional<Accumulator> before;
    for (std::uint32_t partial = 0; partial < end; ++partial) {
        Reads reads = gather_reads(claim, p, partial, replay);
        reads.input.before = std::move(before);
        auto output = canonical::execute_partial(*p.node, p.first_tile, partial, context, reads.input);
        ASSERT(output.has_value());
        before = output->accumulator;
        results.push_back({
            .hash = output->tile ? tile_leaf(*output->tile) : accumulator_hash(*output->accumulator),
            .accumulator = std::move(output->accumulator),
        });
    }
    return results;
}

/// For a sequence level: the index of the last item of child `child`.
std::uint64_t last_of_child(std::uint64_t items, const Split& s, std::uint32_t child) {
    return std::min(items, (std::uint64_t{child} + 1) << s.child_height) - 1;
}

/// For a Merkle level: the subtree roots of `tree` under the aligned subtree that begins at leaf `first`.
std::vector<Hash256> subtree_roots(const merkle::Tree& tree, std::uint64_t first, const Split& s) {
    std::vector<Hash256> children;
    children.reserve(s.count);
    for (std::uint32_t i = 0; i < s.count; ++i) {
        children.push_back(tree.node(s.child_height, (first >> s.child_height) + i));
    }
    return children;
}

merkle::Tree state_tree(const std::vector<Tensor>& state) {
    std::vector<Hash256> leaves;
    leaves.reserve(state.size());
    for (const Tensor& tensor : state) {
        leaves.push_back(commit_tensor(tensor));
    }
    return merkle::Tree(std::move(leaves));
}

/// What the disputed node's tiles are the leaves of; of kCommit, the tensors of the state after the step.
const merkle::Tree& own_tiles(const Position& p, Replay& replay) {
    return p.node->op == Op::kCommit ? replay.state_tree(p.first_step + 1)
                                     : replay.output_tiles(p.first_step, p.first_node);
}

/// The commitment of a tensor whose tiles are the leaves of `tiles`.
Hash256 commit_tiles(const Tensor& tensor, const merkle::Tree& tiles) {
    return tensor_commitment({.dtype = tensor.dtype, .shape = tensor.shape}, tiles.root());
}

/// What the party would itself reveal at this position.
std::vector<Hash256> own_children(const Claim& claim, const Position& p, Replay& replay) {
    const Split s = split(claim, p);
    std::vector<Hash256> children;
    switch (p.level) {
        case Level::kSteps:
            for (std::uint32_t i = 0; i < s.count; ++i) {
                children.push_back(replay.state_root_after(p.first_step + last_of_child(p.step_count, s, i)));
            }
            break;
        case Level::kNodes:
            children = subtree_roots(merkle::Tree(step_entries(replay, p.first_step)), p.first_node, s);
            break;
        case Level::kTiles:
            children = subtree_roots(own_tiles(p, replay), p.first_tile, s);
            break;
        case Level::kPartials: {
            const auto results = run_partials(claim, p, p.first_partial + p.partial_count, replay);
            for (std::uint32_t i = 0; i < s.count; ++i) {
                children.push_back(results[p.first_partial + last_of_child(p.partial_count, s, i)].hash);
            }
            break;
        }
        case Level::kProof:
            break;
    }
    return children;
}

/// The step that diverges though the claim does not say so of it.
std::optional<std::uint64_t> unadmitted_divergence(const Claim& claim, Replay& replay) {
    const auto step = replay.diverged_at();
    return claim.diverges && step == last_step(claim) ? std::nullopt : step;
}

/// The step's Merkle tree as the responder claims it, as far as a party can know it: its own entries before the
/// disputed node, and what was revealed.
class ClaimedTree {
  public:
    ClaimedTree(std::vector<Hash256> own_entries, std::uint32_t disputed, std::span<const NodeReveal> reveals)
        : own_(std::move(own_entries)), disputed_(disputed) {
        for (const NodeReveal& reveal : reveals) {
            for (std::size_t i = 0; i < reveal.children.size(); ++i) {
                known_[{reveal.child_height, (reveal.first_node >> reveal.child_height) + i}] = reveal.children[i];
            }
        }
    }

    std::vector<Hash256> path(std::uint32_t index) const {
        std::vector<Hash256> siblings;
        const std::uint32_t depth = merkle::tree_depth(own_.leaf_count());
        for (std::uint32_t height = 0; height < depth; ++height) {
            siblings.push_back(node(height, (std::uint64_t{index} >> height) ^ 1U));
        }
        return siblings;
    }

  private:
    /// Recursion ends after at most 14 levels: a graph has at most kMaxNodes nodes.
    Hash256 node(std::uint32_t height, std::uint64_t index) const {
        if ((index << height) >= own_.leaf_count()) {
            return merkle::empty_root(height);
        }
        // What lies wholly before the disputed node is agreed.
        if (((index + 1) << height) <= disputed_) {
            return own_.node(height, index);
        }
        if (const auto it = known_.find({height, index}); it != known_.end()) {
            return it->second;
        }
        if (height == 0) {
            return own_.node(height, index);
        }
        return merkle::hash_children(node(height - 1, 2 * index), node(height - 1, 2 * index + 1));
    }

    merkle::Tree own_;
    std::uint64_t disputed_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, Hash256> known_;
};

class ProofMaker {
  public:
    ProofMaker(const Claim& claim, const Position& p, Replay& replay, std::span<const NodeReveal> reveals)
        : claim_(claim), p_(p), replay_(replay), tree_(step_entries(replay, p.first_step), p.first_node, reveals) {}

    Proof make() {
        Proof proof;
        if (p_.node->op == Op::kCommit) {
            const Input& input = p_.node->inputs[p_.first_tile];
            const Hash256 commitment = input.source == Source::kState
                                           ? replay_.state_tree(p_.first_step).node(0, input.index)
                                           : replay_.output_commitment(p_.first_step, input.index);
            proof.entry = EntryOpening{.commitment = commitment, .path = source_path(input)};
            return proof;
        }
        if (p_.first_partial > 0) {
            proof.before = run_partials(claim_, p_, p_.first_partial, replay_).back().accumulator;
        }
        Reads reads = gather_reads(claim_, p_, p_.first_partial, replay_);
        for (std::size_t i = 0; i < reads.refs.size(); ++i) {
            proof.tiles.push_back(open_tile(reads.refs[i], std::move(reads.input.tiles[i])));
        }
        if (reads.row) {
            proof.row =
                RowOpening{.row = *std::move(reads.input.dataset_row), .path = replay_.rows_tree().path(*reads.row)};
        }
        return proof;
    }

  private:
    std::vector<Hash256> source_path(const Input& input) {
        if (input.source == Source::kNode) {
            return tree_.path(input.index);
        }
        return replay_.state_tree(p_.first_step).path(input.index);
    }

    TileOpening open_tile(const TileRef& ref, Tile tile) {
        const Input& input = p_.node->inputs[ref.input];
        const merkle::Tree& tiles = input.source == Source::kState ? replay_.state_tiles(p_.first_step, input.index)
                                                                   : replay_.output_tiles(p_.first_step, input.index);
        return {
            .tile = std::move(tile),
            .tile_path = tiles.path(ref.tile),
            .source_path = source_path(input),
        };
    }

    const Claim& claim_;
    const Position& p_;
    Replay& replay_;
    ClaimedTree tree_;
};

}  // namespace

Replay::Trees& Replay::trees_at(std::uint64_t step) {
    std::erase_if(trees_, [step](const auto& item) { return item.first + 1 < step || item.first > step + 1; });
    return trees_[step];
}

const merkle::Tree& Replay::tiles_of(
    std::map<std::uint32_t, merkle::Tree>& trees, std::uint32_t index, const std::vector<Tensor>& tensors
) {
    auto found = trees.find(index);
    if (found == trees.end()) {
        ++tensors_hashed_;
        found = trees.emplace(index, tile_tree(tensors[index])).first;
    }
    return found->second;
}

const merkle::Tree& Replay::output_tiles(std::uint64_t step, std::uint32_t node) {
    return tiles_of(trees_at(step).outputs, node, node_outputs(step));
}

const merkle::Tree& Replay::state_tiles(std::uint64_t step, std::uint32_t tensor) {
    return tiles_of(trees_at(step).tensors, tensor, state_before(step));
}

Hash256 Replay::output_commitment(std::uint64_t step, std::uint32_t node) {
    return commit_tiles(node_outputs(step)[node], output_tiles(step, node));
}

const merkle::Tree& Replay::state_tree(std::uint64_t step) {
    Trees& trees = trees_at(step);
    if (!trees.state) {
        const std::vector<Tensor>& state = state_before(step);
        std::vector<Hash256> leaves;
        leaves.reserve(state.size());
        for (std::uint32_t i = 0; i < state.size(); ++i) {
            // TRC-3: an empty place in a state has no tiles.
            leaves.push_back(
                state[i].shape.element_count() == 0 ? commit_tensor(state[i])
                                                    : commit_tiles(state[i], tiles_of(trees.tensors, i, state))
            );
        }
        trees.state.emplace(std::move(leaves));
    }
    return *trees.state;
}

std::vector<Hash256> step_entries(Replay& replay, std::uint64_t step) {
    std::vector<Hash256> entries;
    const auto outputs = static_cast<std::uint32_t>(replay.node_outputs(step).size());
    entries.reserve(outputs + std::size_t{1});
    for (std::uint32_t node = 0; node < outputs; ++node) {
        entries.push_back(replay.output_commitment(step, node));
    }
    entries.push_back(replay.state_root_after(step));
    return entries;
}

std::vector<Hash256> make_reveal(const Claim& claim, const Position& position, Replay& replay) {
    std::vector<Hash256> children = own_children(claim, position, replay);
    const Split s = split(claim, position);
    switch (position.level) {
        case Level::kSteps:
            children.back() = position.state_after;
            break;
        case Level::kNodes: {
            const std::uint64_t entries = replay.graph().size();
            const bool ends_step = ((position.first_node >> s.child_height) + s.count) << s.child_height >= entries;
            if (s.child_height == 0 && ends_step) {
                children.back() = position.state_after;
            }
            break;
        }
        case Level::kPartials:
            children.back() = position.accumulator_after;
            break;
        case Level::kTiles:
        case Level::kProof:
            break;
    }
    return children;
}

Selection make_selection(const Claim& claim, const Position& position, Replay& replay) {
    const std::vector<Hash256> own = own_children(claim, position, replay);
    const auto& pending = position.pending;
    ASSERT(own.size() == pending.size());
    const Split s = split(claim, position);
    const auto differs = std::mismatch(own.begin(), own.end(), pending.begin()).first;
    std::size_t child = differs != own.end() ? static_cast<std::size_t>(differs - own.begin()) : own.size() - 1;
    const auto diverged = unadmitted_divergence(claim, replay);
    if (position.level == Level::kSteps && diverged && *diverged >= position.first_step) {
        child = std::min<std::size_t>(child, (*diverged - position.first_step) >> s.child_height);
    }
    Selection selection{.child = static_cast<std::uint32_t>(child), .node = {}};
    if (position.level == Level::kNodes && s.child_height == 0) {
        const canonical::Graph& graph = replay.graph();
        std::vector<Hash256> leaves;
        leaves.reserve(graph.size());
        for (const Node& node : graph) {
            leaves.push_back(node_hash(node));
        }
        const std::uint64_t index = position.first_node + child;
        selection.node = NodeOpening{.node = graph[index], .path = merkle::Tree(std::move(leaves)).path(index)};
    }
    return selection;
}

StateOpening open_tile(const std::vector<Tensor>& state, std::uint32_t tensor, std::uint64_t tile) {
    const Tensor& opened = state[tensor];
    return {
        .tensor = tensor,
        .tile = tile,
        .type = {.dtype = opened.dtype, .shape = opened.shape},
        .opening = {
            .tile = canonical::tile_of(opened, tile),
            .tile_path = tile_tree(opened).path(tile),
            .source_path = state_tree(state).path(tensor)}};
}

std::optional<StateOpening> open_divergence(const std::vector<Tensor>& state) {
    for (std::uint32_t t = 0; t < state.size(); ++t) {
        const canonical::TensorType type{.dtype = state[t].dtype, .shape = state[t].shape};
        for (std::uint64_t i = 0; i < canonical::tile_count(type.shape); ++i) {
            StateOpening opening{.tensor = t, .tile = i, .type = type, .opening = {}};
            opening.opening.tile = canonical::tile_of(state[t], i);
            if (has_diverged(opening)) {
                return open_tile(state, t, i);
            }
        }
    }
    return std::nullopt;
}

std::optional<Proof> make_divergence_proof(const Claim& claim, const Position& position, Replay& replay) {
    if (position.level < Level::kNodes || replay.state_root_after(position.first_step) != position.state_after ||
        unadmitted_divergence(claim, replay) != position.first_step) {
        return std::nullopt;
    }
    Proof proof;
    proof.divergence = open_divergence(replay.state_before(position.first_step + 1));
    return proof.divergence ? std::optional(std::move(proof)) : std::nullopt;
}

Proof make_proof(const Claim& claim, const Position& position, Replay& replay, std::span<const NodeReveal> reveals) {
    return ProofMaker(claim, position, replay, reveals).make();
}

}  // namespace assay::dispute
