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
        return replay.state_tensor(step, input.index);
    }
    return replay.node_output(step, input.index);
}

/// What partial `partial` reads, from the party's own tensors; `before` is left to the caller.
struct Reads {
    std::vector<TileRef> refs;
    PartialInput input;
    std::optional<canonical::DatasetSpan> span;
};

Reads gather_reads(const Claim& claim, const DisputedTile& tile, std::uint32_t partial, Replay& replay) {
    const Node& node = std::get<Node>(tile.node.node);
    const DisputedStep& step = tile.node.step;
    Reads reads;
    reads.refs = canonical::operands_of(node, tile.index, partial);
    const auto tile_at = [&](const TileRef& ref) {
        return canonical::tile_of(input_tensor(replay, step.number, node.inputs[ref.input]), ref.tile);
    };
    for (const TileRef& ref : reads.refs) {
        reads.input.tiles.push_back(tile_at(ref));
    }
    if (const auto dependent = canonical::dependent_operand(node, tile.index, partial, reads.input.tiles)) {
        reads.refs.push_back(*dependent);
        reads.input.tiles.push_back(tile_at(*dependent));
    }
    reads.span = canonical::dataset_span_of(node, tile.index, partial, context_of(claim, step));
    if (reads.span) {
        const Bytes row = replay.rows().row(reads.span->row);
        const ByteView values =
            ByteView(row).subspan(std::size_t{4} * reads.span->first, std::size_t{4} * reads.span->count);
        reads.input.dataset_values = Bytes(values.begin(), values.end());
    }
    return reads;
}

struct PartialResult {
    Hash256 hash;
    std::optional<Accumulator> accumulator;
};

PartialResult run_one(
    const DisputedTile& tile, std::uint32_t partial, const StepContext& context, const PartialInput& input
) {
    const Node& node = std::get<Node>(tile.node.node);
    if (tile.is_part) {
        auto left = canonical::execute_part(node, tile.index, partial, context, input);
        ASSERT(left.has_value());
        return {.hash = accumulator_hash(*left), .accumulator = *std::move(left)};
    }
    auto output = canonical::execute_partial(node, tile.index, partial, context, input);
    ASSERT(output.has_value());
    return {
        .hash = output->tile ? tile_leaf(*output->tile) : accumulator_hash(*output->accumulator),
        .accumulator = std::move(output->accumulator)};
}

/// The party's own chain of the first `count` partials that the disputed tile's claim is of.
std::vector<PartialResult> run_partials(
    const Claim& claim, const DisputedTile& tile, std::uint32_t count, Replay& replay
) {
    const StepContext context = context_of(claim, tile.node.step);
    std::vector<PartialResult> results;
    std::optional<Accumulator> before;
    for (std::uint32_t position = 0; position < count; ++position) {
        const std::uint32_t partial = partial_at(claim, tile, position);
        Reads reads = gather_reads(claim, tile, partial, replay);
        reads.input.before = std::move(before);
        results.push_back(run_one(tile, partial, context, reads.input));
        before = results.back().accumulator;
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
const merkle::Tree& own_tree(const DisputedNode& node, Replay& replay) {
    return std::holds_alternative<CommitNode>(node.node) ? replay.state_tree(node.step.number + 1)
                                                         : replay.output_tiles(node.step.number, node.index);
}

/// The first tile of tensor `index` of a state that has a non-finite value, without its paths.
std::optional<StateOpening> find_divergence(const Tensor& tensor, std::uint32_t index) {
    const canonical::TensorType type{.dtype = tensor.dtype, .shape = tensor.shape};
    for (std::uint64_t i = 0; i < canonical::tile_count(type.shape); ++i) {
        StateOpening opening{.tensor = index, .tile = i, .type = type, .opening = {}};
        opening.opening.tile = canonical::tile_of(tensor, i);
        if (has_diverged(opening)) {
            return opening;
        }
    }
    return std::nullopt;
}

/// What the party would itself reveal of a range.
class OwnChildren {
  public:
    OwnChildren(const Claim& claim, Split split, Replay& replay) : claim_(claim), split_(split), replay_(replay) {}

    std::vector<Hash256> operator()(const AtSteps& at) const {
        std::vector<Hash256> children;
        for (std::uint32_t i = 0; i < split_.count; ++i) {
            children.push_back(replay_.state_root_after(at.first_step + last_of_child(at.step_count, split_, i)));
        }
        return children;
    }
    std::vector<Hash256> operator()(const AtStep& at) const { return entries(at.step, 0); }
    std::vector<Hash256> operator()(const AtNodes& at) const { return entries(at.step, at.first_node); }
    std::vector<Hash256> operator()(const AtNode& at) const { return below(at.node, 0); }
    std::vector<Hash256> operator()(const AtTiles& at) const { return below(at.node, at.first_tile); }
    std::vector<Hash256> operator()(const AtTensors& at) const { return below(at.node, at.first_tensor); }
    std::vector<Hash256> operator()(const AtPartials& at) const {
        const auto results = run_partials(claim_, at.tile, at.first_partial + at.partial_count, replay_);
        std::vector<Hash256> children;
        for (std::uint32_t i = 0; i < split_.count; ++i) {
            children.push_back(results[at.first_partial + last_of_child(at.partial_count, split_, i)].hash);
        }
        return children;
    }

  private:
    std::vector<Hash256> entries(const DisputedStep& step, std::uint32_t first) const {
        return subtree_roots(merkle::Tree(step_entries(replay_, step.number)), first, split_);
    }
    std::vector<Hash256> below(const DisputedNode& node, std::uint64_t first) const {
        return subtree_roots(own_tree(node, replay_), first, split_);
    }

    const Claim& claim_;
    Split split_;
    Replay& replay_;
};

/// The range that a reveal or a selection of `position` is of.
const auto& range_of(const Position& position) {
    const auto* bisection = std::get_if<Bisection>(&position.at);
    ASSERT(bisection != nullptr);
    return bisection->range;
}

std::vector<Hash256> own_children(const Claim& claim, const Position& position, Replay& replay) {
    return std::visit(OwnChildren(claim, split(claim, position), replay), range_of(position));
}

/// DSP-5: what the last child of the range has to be; nullopt where only its root is claimed.
class LastChild {
  public:
    LastChild(const Claim& claim, Split split) : claim_(claim), split_(split) {}

    std::optional<Hash256> operator()(const AtSteps& at) const { return at.state_after; }
    std::optional<Hash256> operator()(const AtStep& at) const { return last_entry(at.step, 0); }
    std::optional<Hash256> operator()(const AtNodes& at) const { return last_entry(at.step, at.first_node); }
    std::optional<Hash256> operator()(const AtNode& /*at*/) const { return std::nullopt; }
    std::optional<Hash256> operator()(const AtTiles& /*at*/) const { return std::nullopt; }
    std::optional<Hash256> operator()(const AtTensors& /*at*/) const { return std::nullopt; }
    std::optional<Hash256> operator()(const AtPartials& at) const { return at.accumulator_after; }

  private:
    std::optional<Hash256> last_entry(const DisputedStep& step, std::uint32_t first) const {
        const bool ends_step = split_.child_height == 0 && first + split_.count == entry_count(claim_);
        return ends_step ? std::optional(step.state_after) : std::nullopt;
    }

    const Claim& claim_;
    Split split_;
};

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
    // NOLINTNEXTLINE(misc-no-recursion): ends after at most 16 levels, since a graph has at most kMaxNodes nodes
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
    ProofMaker(const Claim& claim, const DisputedNode& node, Replay& replay, std::span<const NodeReveal> reveals)
        : claim_(claim),
          node_(node),
          replay_(replay),
          tree_(step_entries(replay, node.step.number), node.index, reveals) {}

    EntryProof make(const AtTensor& at) {
        const Node& commit = replay_.graph().back();
        const Input& input = commit.inputs[at.tensor];
        const Hash256 commitment = input.source == Source::kState ? replay_.state_tree(step()).node(0, input.index)
                                                                  : replay_.output_commitments(step())[input.index];
        return {
            .input = input,
            .input_path = input_tree(commit).path(at.tensor),
            .commitment = commitment,
            .path = source_path(input)};
    }

    PartialProof make(const AtPartial& at) {
        PartialProof proof;
        if (at.accumulator_before) {
            const std::uint32_t before =
                at.tile.is_part ? claim_.trace->part->partials.position(at.partial) : at.partial;
            proof.before = run_partials(claim_, at.tile, before, replay_).back().accumulator;
        }
        Reads reads = gather_reads(claim_, at.tile, at.partial, replay_);
        for (std::size_t i = 0; i < reads.refs.size(); ++i) {
            proof.tiles.push_back(open_tile(reads.refs[i], std::move(reads.input.tiles[i])));
        }
        if (reads.span) {
            const ChunkRange range = chunks_of(claim_.program.dataset, *reads.span);
            for (std::uint64_t i = range.first; i < range.first + range.count; ++i) {
                proof.chunks.push_back({.data = replay_.rows().chunk(i), .path = replay_.dataset_tree().path(i)});
            }
        }
        return proof;
    }

  private:
    std::uint64_t step() const { return node_.step.number; }

    std::vector<Hash256> source_path(const Input& input) {
        if (input.source == Source::kNode) {
            return tree_.path(input.index);
        }
        return replay_.state_tree(step()).path(input.index);
    }

    TileOpening open_tile(const TileRef& ref, Tile tile) {
        const Input& input = std::get<Node>(node_.node).inputs[ref.input];
        const merkle::Tree& tiles = input.source == Source::kState ? replay_.state_tiles(step(), input.index)
                                                                   : replay_.output_tiles(step(), input.index);
        return {
            .tile = std::move(tile),
            .tile_path = tiles.path(ref.tile),
            .source_path = source_path(input),
        };
    }

    const Claim& claim_;
    const DisputedNode& node_;
    Replay& replay_;
    ClaimedTree tree_;
};

/// STM-6: the step is agreed, so the part is wrong.
Selection select_part(const Claim& claim, const canonical::Graph& graph, std::uint32_t children) {
    return {.child = children, .node = open_node(graph, claim.trace->part->node)};
}

}  // namespace

std::optional<Hash256> claimed_last_child(const Claim& claim, const Position& position) noexcept {
    const auto* bisection = std::get_if<Bisection>(&position.at);
    return bisection ? std::visit(LastChild(claim, split(claim, position)), bisection->range) : std::nullopt;
}

std::vector<Hash256> make_reveal(const Claim& claim, const Position& position, Replay& replay) {
    std::vector<Hash256> children = own_children(claim, position, replay);
    if (const auto last = claimed_last_child(claim, position)) {
        children.back() = *last;
    }
    return children;
}

std::optional<std::uint32_t> first_node_of(const Position& position) noexcept {
    if (position.level() != Level::kNodes) {
        return std::nullopt;
    }
    const auto* nodes = std::get_if<AtNodes>(&std::get<Bisection>(position.at).range);
    return nodes ? nodes->first_node : 0;
}

OpenedNode opened(const Node& node) {
    return node.op == Op::kCommit ? OpenedNode(CommitNode{.inputs_root = input_tree(node).root()}) : OpenedNode(node);
}

Accumulator make_part(const Claim& claim, const PartClaim& part, Replay& replay) {
    const DisputedStep step{.number = last_step(claim), .state_before = {}, .state_after = {}};
    const DisputedTile tile{
        .node = {.step = step, .trace_root = {}, .index = part.node, .claim = {}, .node = replay.graph()[part.node]},
        .index = part.tile,
        .claim = {},
        .is_part = true};
    Claim claimed = claim;
    claimed.trace = ClaimedTrace{.root = {}, .part = part};
    auto results = run_partials(claimed, tile, part.partials.count, replay);
    return *std::move(results.back().accumulator);
}

NodeOpening open_node(const canonical::Graph& graph, std::uint32_t index) {
    return {.node = opened(graph[index]), .path = graph_tree(graph).path(index)};
}

Selection make_selection(const Claim& claim, const Position& position, Replay& replay) {
    const std::vector<Hash256> own = own_children(claim, position, replay);
    const std::span<const Hash256> pending = position.pending();
    ASSERT(own.size() == pending.size());
    const Split s = split(claim, position);
    const auto differs = std::mismatch(own.begin(), own.end(), pending.begin()).first;
    if (differs == own.end() && has_part(claim, position)) {
        return select_part(claim, replay.graph(), s.count);
    }
    std::size_t child = differs != own.end() ? static_cast<std::size_t>(differs - own.begin()) : own.size() - 1;
    const auto diverged = unadmitted_divergence(claim, replay);
    const auto* steps = std::get_if<AtSteps>(&range_of(position));
    if (steps && diverged && *diverged >= steps->first_step) {
        child = std::min<std::size_t>(child, (*diverged - steps->first_step) >> s.child_height);
    }
    Selection selection{.child = static_cast<std::uint32_t>(child), .node = {}};
    const auto first_node = first_node_of(position);
    if (first_node && s.child_height == 0) {
        selection.node = open_node(replay.graph(), *first_node + static_cast<std::uint32_t>(child));
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
        if (const auto found = find_divergence(state[t], t)) {
            return open_tile(state, t, found->tile);
        }
    }
    return std::nullopt;
}

std::optional<StateOpening> open_divergence(Replay& replay, std::uint64_t step) {
    const std::size_t count = replay.state_size(step);
    for (std::uint32_t t = 0; t < count; ++t) {
        if (auto found = find_divergence(replay.state_tensor(step, t), t)) {
            found->opening.tile_path = replay.state_tiles(step, t).path(found->tile);
            found->opening.source_path = replay.state_tree(step).path(t);
            return found;
        }
    }
    return std::nullopt;
}

std::optional<Proof> make_divergence_proof(const Claim& claim, const Position& position, Replay& replay) {
    const DisputedStep* step = position.step();
    if (step == nullptr || replay.state_root_after(step->number) != step->state_after ||
        unadmitted_divergence(claim, replay) != step->number) {
        return std::nullopt;
    }
    auto opening = open_divergence(replay, step->number + 1);
    return opening ? std::optional<Proof>(DivergenceProof{*std::move(opening)}) : std::nullopt;
}

Proof make_proof(const Claim& claim, const Position& position, Replay& replay, std::span<const NodeReveal> reveals) {
    ASSERT(position.is_at_proof());
    ProofMaker maker(claim, *position.node(), replay, reveals);
    if (const auto* tensor = std::get_if<AtTensor>(&position.at)) {
        return maker.make(*tensor);
    }
    return maker.make(std::get<AtPartial>(position.at));
}

}  // namespace assay::dispute
