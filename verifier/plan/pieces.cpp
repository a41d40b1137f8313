// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <verifier/plan/node_rules.hpp>
#include <verifier/plan/planner.hpp>

// Which part of a node belongs to which micro-batch of a pipeline.
namespace assay::plan {

using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Source;

namespace {

// Whether the pieces are the rank's work without remainder, and no element is in two of them.
bool is_partition(const std::vector<Placement>& pieces, const Block& work, std::uint32_t rank) {
    std::uint64_t elements = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        elements += pieces[i][rank].element_count();
        for (std::size_t k = 0; k < i; ++k) {
            if (!intersection(pieces[i][rank], pieces[k][rank]).is_empty()) {
                return false;
            }
        }
    }
    return elements == work.element_count();
}

}  // namespace

const std::vector<Placement>* Planner::pieces_of(const Input& input) const {
    const bool is_cut = input.source == Source::kNode && !plan_.nodes[input.index].pieces.empty();
    return is_cut ? &plan_.nodes[input.index].pieces : nullptr;
}

// The rows of a micro-batch are consecutive rows of a rank's part of the batch.
void Planner::cut_batch(std::uint32_t node) {
    const canonical::Shape shape = graph_[node].shape;
    const std::vector<IndexSet> shares = cut(shape.rows, layout_.data_shares());
    NodePlan& plan = plan_.nodes[node];
    plan.pieces.assign(layout_.micro_batches, Placement(ranks_));
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        const Block share{shares[layout_.data_index(rank)], IndexSet(0, shape.cols)};
        const std::vector<IndexSet> rows =
            cut(share.rows.count(), std::vector<std::uint32_t>(layout_.micro_batches, 1));
        for (std::uint32_t piece = 0; piece < layout_.micro_batches; ++piece) {
            if (rows[piece].is_empty()) {
                continue;
            }
            const std::uint32_t first = share.rows.ranges().front().begin;
            const IndexSet::Range range = rows[piece].ranges().front();
            plan.pieces[piece][rank] =
                intersection(plan.held[rank], {IndexSet(first + range.begin, first + range.end), share.cols});
        }
    }
}

// What each rank can compute of its work for one micro-batch.
Placement Planner::piece_of(std::uint32_t node, std::uint32_t piece) const {
    const Node& n = graph_[node];
    const NodePlan& plan = plan_.nodes[node];
    std::vector<Placement> read;
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
        const std::vector<Placement>* pieces = pieces_of(n.inputs[i]);
        read.push_back(pieces != nullptr ? seen_from((*pieces)[piece], stage(node)) : plan.needs[i]);
    }
    Placement out(ranks_);
    const Placement viewed = n.op == Op::kView ? computable_view(n, read[0]) : Placement();
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        std::vector<Block> blocks;
        blocks.reserve(read.size());
        for (const Placement& placement : read) {
            blocks.push_back(placement[rank]);
        }
        out[rank] = intersection(plan.work[rank], n.op == Op::kView ? viewed[rank] : computable(n, blocks));
        if (out[rank].is_empty()) {
            out[rank] = {};
        }
    }
    return out;
}

void Planner::add_received(std::uint32_t node, std::vector<Placement>& pieces) const {
    const NodePlan& plan = plan_.nodes[node];
    for (Placement& piece : pieces) {
        const Placement computed = piece;
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            if (plan.work[rank].is_empty() && !plan.held[rank].is_empty()) {
                const Block seen = seen_from(computed, layout_.stage_index(rank))[rank];
                piece[rank] = intersection(plan.held[rank], seen);
            }
        }
    }
}

// A node that reads a micro-batch's part of its inputs for a part of its output is cut; every other one waits for all
// micro-batches, among them the sums over the batch.
void Planner::cut_node(std::uint32_t node) {
    NodePlan& plan = plan_.nodes[node];
    std::vector<Placement> pieces;
    for (std::uint32_t piece = 0; piece < layout_.micro_batches; ++piece) {
        pieces.push_back(piece_of(node, piece));
    }
    const auto is_cut = [&](const Placement& of) {
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            if (!is_partition(pieces, of[rank], rank)) {
                return false;
            }
        }
        return true;
    };
    if (!is_cut(plan.work)) {
        return;
    }
    if (!plan.finished.empty()) {
        std::vector<Placement> computed = pieces;
        add_received(node, pieces);
        if (!is_cut(plan.held)) {  // who reads it is sent it then, each time
            pieces = std::move(computed);
            plan.finished.clear();
            plan.held = plan.work;
        }
    }
    plan.pieces = std::move(pieces);
}

void Planner::cut_into_pieces() {
    for (std::uint32_t node = 0; node + 1 < graph_.size() && layout_.micro_batches > 1; ++node) {
        const std::vector<Input>& inputs = graph_[node].inputs;
        const bool reads_pieces =
            std::any_of(inputs.begin(), inputs.end(), [&](const Input& input) { return pieces_of(input) != nullptr; });
        if (graph_[node].op == Op::kBatchRows) {
            cut_batch(node);
        } else if (reads_pieces && !plan_.nodes[node].is_divided) {
            cut_node(node);
        }
    }
}

Share share_of(const Plan& plan, const canonical::Graph& graph, const Item& item) {
    const NodePlan& node = plan.nodes[item.node];
    if (item.piece == Item::kWhole) {
        return {node.work, node.needs};
    }
    const Node& n = graph[item.node];
    Share out;
    for (std::uint32_t rank = 0; rank < node.work.size(); ++rank) {
        const Block block = intersection(node.pieces[item.piece][rank], node.work[rank]);
        out.work.push_back(block.is_empty() ? Block{} : block);
    }
    const IndexSet every = is_reduction(n.op) ? IndexSet(0, depth_of(n)) : IndexSet();
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
        out.needs.emplace_back();
        for (const Block& block : out.work) {
            out.needs.back().push_back(block.is_empty() ? Block{} : needed(n, i, block, every));
        }
    }
    return out;
}

std::vector<Transfer> output_transfers(const Plan& plan, const canonical::Graph& graph, const Item& item) {
    const NodePlan& node = plan.nodes[item.node];
    if (node.finished.empty()) {
        return {};
    }
    const canonical::Shape shape = graph[item.node].shape;
    return item.piece == Item::kWhole ? transfers(node.finished, node.held, shape)
                                      : transfers(share_of(plan, graph, item).work, node.pieces[item.piece], shape);
}

std::vector<std::vector<Transfer>> input_transfers(const Plan& plan, const canonical::Graph& graph, const Item& item) {
    const Share share = share_of(plan, graph, item);
    std::vector<std::vector<Transfer>> out;
    for (std::size_t i = 0; i < graph[item.node].inputs.size(); ++i) {
        const Input& input = graph[item.node].inputs[i];
        const Placement& held = input.source == Source::kState ? plan.state[input.index] : plan.nodes[input.index].held;
        out.push_back(transfers(held, share.needs[i], input.shape));
    }
    return out;
}

std::vector<Item> items_of(const Plan& plan, const canonical::Graph& graph, std::uint32_t node) {
    const std::vector<Placement>& pieces = plan.nodes[node].pieces;
    if (pieces.empty() || graph[node].op == Op::kBatchRows) {
        return {{node, Item::kWhole}};
    }
    std::vector<Item> out;
    for (std::uint32_t piece = 0; piece < pieces.size(); ++piece) {
        out.push_back({node, piece});
    }
    return out;
}

}  // namespace assay::plan
