// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <core/base/assert.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/plan/planner.hpp>

// How the planner finds where a node is computed.
namespace assay::plan {

using canonical::Input;
using canonical::kTileDim;
using canonical::Node;
using canonical::Op;
using canonical::Source;

namespace {

// The positions of all partials whose first position is one of these.
IndexSet partials_beginning_in(const IndexSet& positions, std::uint32_t depth) {
    IndexSet out;
    for (const IndexSet::Range& range : positions.ranges()) {
        std::uint32_t first = (range.begin + kTileDim - 1) / kTileDim * kTileDim;
        for (; first < range.end; first += kTileDim) {
            out.add(first, std::min(first + kTileDim, depth));
        }
    }
    return out;
}

}  // namespace

void Planner::place(std::uint32_t node) {
    if (graph_[node].op == Op::kBatchRows) {
        return place_batch(node);
    }
    for (const std::set<std::size_t>& gathered : gatherings(node)) {
        if (auto found = attempt(node, gathered)) {
            return accept(node, *std::move(found));
        }
    }
    ASSERT(false);  // with all inputs gathered everything can be computed
}

void Planner::place_batch(std::uint32_t node) {
    const canonical::Shape shape = graph_[node].shape;
    const std::vector<IndexSet> rows = cut(shape.rows, layout_.data_shares());
    NodePlan& plan = plan_.nodes[node];
    plan.work.resize(ranks_);
    plan.work[0] = whole(shape);
    plan.finished = plan.work;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        plan.held.push_back({rows[layout_.data_index(rank)], IndexSet(0, shape.cols)});
    }
}

// What some rank of the stage lacks, if it is of no size beside the output: indices and values of a sparse gradient
// cross, and not the dense one that every rank can make of them.
std::set<std::size_t> Planner::small_inputs(std::uint32_t node) const {
    constexpr std::uint64_t kTimesSmaller = 16;
    const Node& n = graph_[node];
    std::set<std::size_t> out;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
        const Placement held = seen_from(n.inputs[i], stage(node));
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            if (is_on(rank, stage(node)) && !held[rank].contains(whole(n.inputs[i].shape)) && out.insert(i).second) {
                bytes += n.inputs[i].shape.element_count() * canonical::size_of(n.inputs[i].dtype);
            }
        }
    }
    const bool is_small = bytes <= n.shape.element_count() * canonical::size_of(n.dtype) / kTimesSmaller;
    return is_small && !is_forward_[node] && !is_reduction(n.op) ? out : std::set<std::size_t>();
}

// What is small; nothing; one input; what is of the state; everything. What is of the state comes first, since
// activations would bring the whole batch to every rank; then what is smaller.
std::vector<std::set<std::size_t>> Planner::gatherings(std::uint32_t node) const {
    const std::vector<Input>& inputs = graph_[node].inputs;
    const auto is_of_state = [&](std::size_t i) {
        return inputs[i].source == Source::kState || origins_[inputs[i].index].is_of_state;
    };
    std::vector<std::size_t> order(inputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (is_of_state(a) != is_of_state(b)) {
            return is_of_state(a);
        }
        return inputs[a].shape.element_count() < inputs[b].shape.element_count();
    });
    std::vector<std::set<std::size_t>> out{small_inputs(node), {}};
    std::set<std::size_t> of_state;
    std::set<std::size_t> every;
    for (const std::size_t i : order) {
        out.push_back({i});
        every.insert(i);
        if (is_of_state(i)) {
            of_state.insert(i);
        }
    }
    out.push_back(of_state);
    if (graph_[node].op == Op::kContract) {
        out.push_back({2, 3});
        out.push_back({0, 1});
    }
    out.push_back(every);
    return out;
}

std::optional<Planner::Attempt> Planner::attempt(std::uint32_t node, const std::set<std::size_t>& gathered) const {
    const Node& n = graph_[node];
    const bool is_free = origins_[node].is_free;
    std::vector<Placement> held;
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
        held.push_back(
            gathered.contains(i) ? Placement(ranks_, whole(n.inputs[i].shape))
            : is_free            ? placement_of(n.inputs[i])
                                 : seen_from(n.inputs[i], stage(node))
        );
    }
    Attempt out;
    if (n.op == Op::kView) {
        out.work = computable_view(n, held[0]);
    } else {
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            std::vector<Block> blocks;
            blocks.reserve(held.size());
            for (const Placement& placement : held) {
                blocks.push_back(placement[rank]);
            }
            out.work.push_back(computable(n, blocks));
        }
    }
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        const bool is_idle = !is_free && !is_on(rank, stage(node));
        if (is_idle || out.work[rank].is_empty()) {
            out.work[rank] = {};
        }
    }
    if (covers(out.work, n.shape)) {
        return out;
    }
    return is_reduction(n.op) ? divide(node, held) : std::nullopt;
}

// Ranks with the same block of the output divide the depth; each such group has to have all of it.
std::optional<Planner::Attempt> Planner::divide(std::uint32_t node, const std::vector<Placement>& held) const {
    const Node& n = graph_[node];
    Attempt out{.is_divided = true, .work = Placement(ranks_), .depth = std::vector<IndexSet>(ranks_)};
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        std::vector<Block> blocks;
        blocks.reserve(held.size());
        for (const Placement& placement : held) {
            blocks.push_back(placement[rank]);
        }
        if (is_on(rank, stage(node))) {
            Part part = computable_part(n, blocks);
            out.work[rank] = std::move(part.block);
            out.depth[rank] = std::move(part.depth);
        }
    }
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        IndexSet before;
        IndexSet every;
        for (std::uint32_t other = 0; other < ranks_; ++other) {
            if (out.work[other] == out.work[rank]) {
                before = other < rank ? union_of(before, out.depth[other]) : before;
                every = union_of(every, out.depth[other]);
            }
        }
        if (every.count() != depth_of(n)) {
            out.work[rank] = {};
            out.depth[rank] = {};
        } else {
            out.depth[rank] = difference(out.depth[rank], before);
        }
    }
    // The state is divided by rows or columns whatever their number. Of what is computed of it alone, ranks fetch the
    // few values that they lack for whole partials, since they can answer for nothing else (STM-6).
    if (origins_[node].is_of_state) {
        for (IndexSet& depth : out.depth) {
            depth = partials_beginning_in(depth, depth_of(n));
        }
    }
    return covers(out.work, n.shape) ? std::optional(out) : std::nullopt;
}

// What nobody reads is not computed: a rank that needs a few rows of a mask draws no others. Only where no rank sends
// anything to another.
void Planner::trim() {
    std::vector<Placement> wanted(graph_.size(), Placement(ranks_));
    for (std::size_t i = graph_.size(); i-- > 0;) {
        NodePlan& plan = plan_.nodes[i];
        const Node& n = graph_[i];
        bool is_local = !plan.is_divided && (is_elementwise(n.op) || n.op == Op::kView);
        for (std::uint32_t rank = 0; rank < ranks_ && is_local; ++rank) {
            is_local = plan.held[rank].contains(wanted[i][rank]);
        }
        if (is_local && i != program_.loss_node) {
            accept(static_cast<std::uint32_t>(i), {.is_divided = false, .work = wanted[i], .depth = {}});
        }
        if (n.op == Op::kBatchRows) {
            plan.held = wanted[i];
        }
        for (std::size_t k = 0; k < n.inputs.size(); ++k) {
            if (n.inputs[k].source == Source::kNode) {
                Placement& of = wanted[n.inputs[k].index];
                for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
                    of[rank] = hull(of[rank], plan.needs[k][rank]);
                }
            }
        }
    }
}

void Planner::hand_on() {
    std::vector<Placement> wanted(graph_.size(), Placement(ranks_));
    std::vector<std::vector<std::uint64_t>> sent(graph_.size(), std::vector<std::uint64_t>(ranks_));
    for (std::size_t i = 0; i < graph_.size(); ++i) {
        for (std::size_t k = 0; k < graph_[i].inputs.size(); ++k) {
            const Input& input = graph_[i].inputs[k];
            for (std::uint32_t rank = 0; rank < ranks_ && input.source == Source::kNode; ++rank) {
                const Block& needs = plan_.nodes[i].needs[k][rank];
                const Block& held = plan_.nodes[input.index].held[rank];
                if (!held.contains(needs)) {
                    wanted[input.index][rank] = hull(wanted[input.index][rank], needs);
                    sent[input.index][rank] += needs.element_count() - intersection(needs, held).element_count();
                }
            }
        }
    }
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
        NodePlan& plan = plan_.nodes[i];
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            const Block all = hull(plan.held[rank], wanted[i][rank]);
            const std::uint64_t added = all.element_count() - plan.held[rank].element_count();
            // With micro-batches also what is read once: who computes it need not wait for the reader.
            if (added > sent[i][rank] || (added == sent[i][rank] && (added == 0 || layout_.micro_batches == 1))) {
                continue;
            }
            if (plan.finished.empty()) {
                plan.finished = plan.work;
            }
            plan.held[rank] = all;
        }
    }
}

Plan make_plan(const program::Program& program, const Layout& layout) { return Planner(program, layout).run(); }

}  // namespace assay::plan
