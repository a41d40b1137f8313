// SPDX-License-Identifier: Apache-2.0
#include <verifier/plan/planner.hpp>

#include <algorithm>
#include <numeric>

#include <core/base/assert.hpp>
#include <verifier/plan/grouping.hpp>
#include <verifier/plan/pipeline.hpp>

namespace assay::plan {

using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Source;

namespace {

// Results of so few elements are put together by every rank that wants them: one round instead of two.
constexpr std::uint64_t kSmallElements = 256;

IndexSet slice(const IndexSet& set, std::uint32_t first, std::uint32_t end) {
    IndexSet out;
    std::uint32_t before = 0;
    for (const IndexSet::Range& range : set.ranges()) {
        const std::uint32_t size = range.end - range.begin;
        const std::uint32_t from = std::clamp(first, before, before + size) - before;
        const std::uint32_t to = std::clamp(end, before, before + size) - before;
        out.add(range.begin + from, range.begin + to);
        before += size;
    }
    return out;
}

}  // namespace

Block part_of(const Block& block, std::uint32_t index, std::uint32_t count) {
    const std::vector<std::uint32_t> equal(count, 1);
    const bool by_rows = block.rows.count() >= count;
    if (!by_rows && block.cols.count() < count) {
        return index == 0 ? block : Block{};
    }
    const IndexSet own = cut(by_rows ? block.rows.count() : block.cols.count(), equal)[index];
    const std::uint32_t first = own.ranges().front().begin;
    const std::uint32_t end = own.ranges().front().end;
    return by_rows ? Block{slice(block.rows, first, end), block.cols}
                   : Block{block.rows, slice(block.cols, first, end)};
}

Planner::Planner(const program::Program& program, const Layout& layout)
    : program_(program),
      graph_(program.step),
      layout_(layout),
      ranks_(layout.ranks()),
      stages_(stages_of(program, layout)),
      heads_(layout.tensor_shares.empty() ? std::vector<std::uint32_t>() : heads_of(program)),
      origins_(program.step.size()),
      is_parameter_(parameters_of(program)),
      is_forward_(forward_nodes(program)),
      is_placed_(program.state.size()) {
    plan_.layout = layout;
    plan_.nodes.resize(graph_.size());
    plan_.state.resize(program.state.size());
    find_origins();
}

void Planner::find_origins() {
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
        Origin& origin = origins_[i];
        if (graph_[i].op == Op::kBatchRows) {
            origin = {.is_free = false, .is_of_state = false};
        }
        for (const Input& input : graph_[i].inputs) {
            if (input.source == Source::kState) {
                origin.is_free = false;
                origin.roots.insert(input.index);
            } else {
                const Origin& from = origins_[input.index];
                origin.is_free = origin.is_free && from.is_free;
                origin.is_of_state = origin.is_of_state && from.is_of_state;
                origin.roots.insert(from.roots.begin(), from.roots.end());
            }
        }
        if (!origin.is_of_state) {
            origin.roots.clear();
        }
    }
}

Plan Planner::run() {
    for (std::uint32_t i = 0; i + 1 < graph_.size(); ++i) {
        visit(i);
    }
    const Node& commit = graph_.back();
    for (std::uint32_t i = 0; i < program_.state.size(); ++i) {
        if (!is_placed_[i]) {
            settle_default(i, 0);
        }
    }
    NodePlan& last = plan_.nodes.back();
    for (std::uint32_t i = 0; i < commit.inputs.size(); ++i) {
        last.needs.push_back(plan_.state[i]);
    }
    last.held.resize(ranks_);
    trim();
    hand_on();
    cut_into_pieces();
    if (layout_.micro_batches > 1) {
        plan_.order = order_of(plan_, program_);
        exchange_at_once(plan_, graph_);
    } else if (layout_.stages > 1) {
        std::vector<Item> nodes;
        for (std::uint32_t i = 0; i + 1 < graph_.size(); ++i) {
            nodes.push_back({i, Item::kWhole});
        }
        plan_.order.assign(ranks_, nodes);
        exchange_at_once(plan_, graph_);
    } else {
        group_exchanges(plan_, program_);
    }
    return std::move(plan_);
}

const Placement& Planner::placement_of(const Input& input) const {
    return input.source == Source::kState ? plan_.state[input.index] : plan_.nodes[input.index].held;
}

std::optional<std::uint32_t> Planner::open_root(const Input& input) const {
    if (input.source == Source::kState) {
        return is_placed_[input.index] ? std::nullopt : std::optional(input.index);
    }
    const Origin& origin = origins_[input.index];
    if (origin.is_of_state && origin.roots.size() == 1 && !is_placed_[*origin.roots.begin()]) {
        return *origin.roots.begin();
    }
    return std::nullopt;
}

void Planner::visit(std::uint32_t node) {
    const Origin& origin = origins_[node];
    if (origin.is_of_state && origin.roots.size() == 1 && !is_placed_[*origin.roots.begin()]) {
        waiting_[*origin.roots.begin()].push_back(node);
        return;
    }
    for (std::size_t i = 0; i < graph_[node].inputs.size(); ++i) {
        if (const auto root = open_root(graph_[node].inputs[i])) {
            settle(*root, node, i);
        }
    }
    place(node);
}

void Planner::set_state(std::uint32_t root, Placement placement) {
    plan_.state[root] = std::move(placement);
    is_placed_[root] = true;
    for (const std::uint32_t node : waiting_[root]) {
        place(node);
    }
    waiting_.erase(root);
}

Placement Planner::divided(std::uint32_t root, Placement placement) const {
    const Zero from = is_parameter_[root] ? Zero::kParameters : Zero::kOptimizer;
    if (layout_.zero < from) {
        return placement;
    }
    Placement out = placement;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        std::vector<std::uint32_t> alike;  // replicas of this part of this stage
        for (std::uint32_t other = 0; other < ranks_; ++other) {
            if (layout_.tensor_index(other) == layout_.tensor_index(rank) &&
                layout_.stage_index(other) == layout_.stage_index(rank) && placement[other] == placement[rank]) {
                alike.push_back(other);
            }
        }
        const auto own = std::find(alike.begin(), alike.end(), rank) - alike.begin();
        if (!placement[rank].is_empty()) {
            out[rank] =
                part_of(placement[rank], static_cast<std::uint32_t>(own), static_cast<std::uint32_t>(alike.size()));
        }
    }
    return out;
}

void Planner::settle_default(std::uint32_t root, std::uint32_t stage) {
    Placement placement(ranks_);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        placement[rank] = is_on(rank, stage) ? whole(program_.state[root].type.shape) : Block{};
    }
    set_state(root, divided(root, std::move(placement)));
}

void Planner::settle(std::uint32_t root, std::uint32_t node, std::size_t input) {
    if (layout_.tensor > 1) {
        auto placement = tensor_cut(root, node, input);
        if (!placement) {
            placement = like_partner(root, node, input);
        }
        if (placement) {
            return set_state(root, divided(root, *std::move(placement)));
        }
    }
    if (layout_.tensor <= 1 && layout_.zero == Zero::kNone && !is_parameter_[root]) {
        // A slot is where its gradient is: with one rank alone if it is a replica's own.
        if (auto placement = like_partner(root, node, input)) {
            return set_state(root, *std::move(placement));
        }
    }
    settle_default(root, stage(node));
}

// Megatron-LM: weights by their outputs where the input is whole, else by their inputs as those are divided. Three
// times as many outputs as inputs are queries, keys and values, each of which is divided.
std::optional<Placement> Planner::tensor_cut(std::uint32_t root, std::uint32_t node, std::size_t input) const {
    const Node& product = graph_[node];
    const Shape shape = program_.state[root].type.shape;
    if (product.op != Op::kContract || node > program_.loss_node || input < 2 || product.inputs[2].shape != shape ||
        canonical::group_count(product) != 1 || open_root(product.inputs[0])) {
        return std::nullopt;
    }
    const Placement left = seen_from(product.inputs[0], stage(node));
    Placement out(ranks_);
    const std::uint32_t sections = shape.rows == 3 * shape.cols ? 3 : 1;
    const std::uint32_t section = shape.rows / sections;
    const std::vector<IndexSet> parts =
        section >= layout_.tensor ? column_parts(node, section) : std::vector<IndexSet>();
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        if (!is_on(rank, stage(node))) {
            continue;
        }
        out[rank] = whole(shape);
        if (left[rank].cols.count() < shape.cols) {
            out[rank].cols = left[rank].cols;
        } else if (!parts.empty()) {
            const IndexSet::Range own = parts[layout_.tensor_index(rank)].ranges().front();
            out[rank].rows = {};
            for (std::uint32_t i = 0; i < sections; ++i) {
                out[rank].rows.add(i * section + own.begin, i * section + own.end);
            }
        }
    }
    return covers(out, shape) ? std::optional(out) : std::nullopt;
}

std::optional<Placement> Planner::like_partner(std::uint32_t root, std::uint32_t node, std::size_t input) const {
    const Shape shape = program_.state[root].type.shape;
    for (std::size_t i = 0; i < graph_[node].inputs.size() && is_elementwise(graph_[node].op); ++i) {
        const Input& other = graph_[node].inputs[i];
        if (i != input && other.shape == shape && !open_root(other)) {
            Placement out = placement_of(other);
            for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
                out[rank] = is_on(rank, stage(node)) ? out[rank] : Block{};
            }
            if (covers(out, shape)) {
                return out;
            }
        }
    }
    return std::nullopt;
}

Placement Planner::seen_from(const Input& input, std::uint32_t stage) const {
    return seen_from(placement_of(input), stage);
}

Placement Planner::seen_from(const Placement& held, std::uint32_t stage) const {
    Placement out(ranks_);
    const std::uint32_t width = layout_.data * layout_.tensor;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        if (!is_on(rank, stage)) {
            continue;
        }
        out[rank] = held[rank];
        for (std::uint32_t other = rank % width; other < ranks_ && out[rank].is_empty(); other += width) {
            out[rank] = held[other];
        }
    }
    return out;
}

bool Planner::keeps_divided(std::uint32_t node) const {
    return layout_.zero >= Zero::kGradients && !is_forward_[node] &&
           graph_[node].shape.element_count() > kSmallElements;
}

// Who puts the parts together: ranks with the same block divide it among themselves.
void Planner::accept_divided(std::uint32_t node) {
    NodePlan& plan = plan_.nodes[node];
    plan.finished.resize(ranks_);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        const Block& block = plan.work[rank];
        if (block.is_empty()) {
            continue;
        }
        std::uint32_t own = 0;
        std::uint32_t count = 0;
        for (std::uint32_t other = 0; other < ranks_; ++other) {
            own += other < rank && plan.work[other] == block ? 1U : 0U;
            count += plan.work[other] == block ? 1U : 0U;
        }
        const bool is_small = block.element_count() <= kSmallElements;
        plan.finished[rank] = is_small ? block : part_of(block, own, count);
    }
    plan.held = keeps_divided(node) ? plan.finished : plan.work;
}

void Planner::accept(std::uint32_t node, Attempt attempt) {
    NodePlan& plan = plan_.nodes[node];
    const Node& n = graph_[node];
    plan.is_divided = attempt.is_divided;
    plan.work = std::move(attempt.work);
    plan.depth = std::move(attempt.depth);
    if (plan.is_divided) {
        accept_divided(node);
    } else {
        plan.held = plan.work;
    }
    const IndexSet every = is_reduction(n.op) ? IndexSet(0, depth_of(n)) : IndexSet();
    plan.needs.assign(n.inputs.size(), Placement(ranks_));
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            const bool is_part = plan.is_divided && !is_for_finish(n.op, i);
            const Block& out = plan.is_divided && !is_part ? plan.finished[rank] : plan.work[rank];
            if (!is_part || !plan.depth[rank].is_empty()) {
                plan.needs[i][rank] = needed(n, i, out, is_part ? plan.depth[rank] : every);
            }
        }
    }
}

}  // namespace assay::plan
