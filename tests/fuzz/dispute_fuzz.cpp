// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <core/merkle/tree.hpp>
#include <tests/fuzz/dispute_shapes.hpp>
#include <tests/fuzz/fuzz.hpp>
#include <core/dispute/player.hpp>
#include <core/dispute/rules.hpp>

/// Whole disputes about programs of any nodes, with any selections, and stray moves at every position.
namespace assay::fuzz {
namespace {

using dispute::Position;

// Tiles and partials of a node can be more than TASK-2 allows a task, so a script may take more than kMaxRounds.
constexpr std::uint32_t kRoundsMax = 20;

Hash256 fold(std::vector<Hash256> level, std::uint32_t height, std::uint32_t top) {
    for (; height < top; ++height) {
        if (level.size() % 2 != 0) {
            level.push_back(merkle::empty_root(height));
        }
        for (std::size_t i = 0; i < level.size() / 2; ++i) {
            level[i] = merkle::hash_children(level[2 * i], level[2 * i + 1]);
        }
        level.resize(level.size() / 2);
    }
    return level.front();
}

Hash256 entry_over(const dispute::Claim& claim, const dispute::OpenedNode& node, const Hash256& root) {
    const auto* computed = std::get_if<canonical::Node>(&node);
    return computed == nullptr ? dispute::state_root_from(claim.program.state_tensors, root)
                               : dispute::tensor_commitment({computed->dtype, computed->shape}, root);
}

class Game {
  public:
    explicit Game(const DisputeScript& script) : script_(script), claim_(script.claim) {
        std::vector<Hash256> leaves;
        for (const canonical::Node& node : script.graph) {
            const bool has_tree = node.op != canonical::Op::kCommit || !node.inputs.empty();
            leaves.push_back(has_tree ? dispute::node_hash(node) : Hash256{});
        }
        nodes_.emplace(std::move(leaves));
        claim_.program.init_nodes = claim_.program.step_nodes = static_cast<std::uint32_t>(script.graph.size());
        claim_.program.init_root = claim_.program.step_root = nodes_->root();
        claim_.step_count = std::max(claim_.step_count, 1U);
    }

    void play() {
        Position p = dispute::start_position(claim_);
        for (std::uint32_t round = 0; !p.is_at_proof() && round < script_.children.size(); ++round) {
            ASSERT(round < kRoundsMax && p.rounds == round && p.pending().empty());
            const auto revealed = make_reveal(p, round);
            if (!revealed) {
                return;
            }
            stray_moves(*revealed);
            const auto selected = dispute::select(claim_, *revealed, make_selection(*revealed, round));
            if (!selected) {
                return;  // the script's node is not one that anybody can execute
            }
            p = *selected;
            stray_moves(p);
            ASSERT(codec::decode<Position>(codec::encode(p)).has_value());
        }
        if (p.is_at_proof()) {
            ASSERT(p.node() != nullptr);
            (void)dispute::judge(claim_, p, dispute::PartialProof{}).has_value();
            (void)dispute::judge(claim_, p, dispute::EntryProof{}).has_value();
        }
    }

  private:
    std::vector<Hash256> make_children(const Position& p, const dispute::Split& split, std::uint32_t round) const {
        std::vector<Hash256> children(split.count);
        for (std::size_t i = 0; i < children.size(); ++i) {
            children[i].data[0] = static_cast<std::uint8_t>(i);
            children[i].data[1] = round < script_.noise.size() ? script_.noise[round] : std::uint8_t{0};
        }
        children.back() = dispute::claimed_last_child(claim_, p).value_or(children.back());
        return children;
    }

    /// Reveals children that the position accepts, having changed what was claimed before to what they hash to.
    std::optional<Position> make_reveal(Position& p, std::uint32_t round) const {
        const dispute::Split split = dispute::split(claim_, p);
        ASSERT(split.count >= 1 && split.count <= dispute::kMaxChildren);
        const auto children = make_children(p, split, round);
        const auto root = [&](std::uint32_t height) { return fold(children, split.child_height, height); };
        auto& range = std::get<dispute::Bisection>(p.at).range;
        if (auto* nodes = std::get_if<dispute::AtNodes>(&range)) {
            nodes->claim = root(nodes->node_height);
        } else if (auto* whole = std::get_if<dispute::AtNode>(&range)) {
            const dispute::OpenedNode& node = whole->node.node;
            whole->node.claim = entry_over(claim_, node, root(merkle::tree_depth(dispute::tile_total(claim_, node))));
        } else if (auto* tiles = std::get_if<dispute::AtTiles>(&range)) {
            tiles->claim = root(tiles->tile_height);
        } else if (auto* tensors = std::get_if<dispute::AtTensors>(&range)) {
            tensors->claim = root(tensors->tensor_height);
        }
        const auto revealed = dispute::reveal(claim_, p, children);
        ASSERT(revealed.has_value() && std::ranges::equal(revealed->pending(), children));
        return *revealed;
    }

    /// A script's kCommit may have no inputs, which no tree is over.
    dispute::OpenedNode opened_at(std::uint32_t index) const {
        const canonical::Node& node = script_.graph[index];
        return node.op == canonical::Op::kCommit && node.inputs.empty() ? dispute::OpenedNode(dispute::CommitNode{})
                                                                        : dispute::opened(node);
    }

    dispute::Selection make_selection(const Position& p, std::uint32_t round) const {
        const auto count = static_cast<std::uint32_t>(p.pending().size());
        dispute::Selection selection{.child = script_.children[round] % count, .node = {}};
        const auto first_node = dispute::first_node_of(p);
        if (first_node && dispute::split(claim_, p).child_height == 0) {
            const std::uint32_t index = *first_node + selection.child;
            selection.node = dispute::NodeOpening{.node = opened_at(index), .path = nodes_->path(index)};
        }
        return selection;
    }

    /// Moves that are not this position's are refused and do no harm.
    void stray_moves(const Position& p) const {
        ASSERT(!dispute::select(claim_, p, {.child = ~0U, .node = {}}));
        ASSERT(!dispute::reveal(claim_, p, {}));
        if (!p.is_at_proof()) {
            ASSERT(dispute::judge(claim_, p, dispute::PartialProof{}).error() == dispute::ProofError::kNotAtProof);
        }
        (void)dispute::pinpoint(p);
    }

    const DisputeScript& script_;
    dispute::Claim claim_;
    std::optional<merkle::Tree> nodes_;
};

}  // namespace

void run(ByteView input) {
    const auto script = round_trip<DisputeScript>(input);
    if (script && !script->graph.empty() && script->graph.size() <= canonical::kMaxNodes) {
        Game(*script).play();
    }
}

}  // namespace assay::fuzz
