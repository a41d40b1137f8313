// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/plan_checks.hpp>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <core/base/assert.hpp>
#include <tests/fuzz/exchange_checks.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/plan/message.hpp>
#include <verifier/plan/node_rules.hpp>
#include <verifier/plan/plan.hpp>

namespace assay::fuzz {
namespace {

using plan::Block;
using plan::Placement;
using plan::Transfer;

program::Program small_mlp(std::uint32_t replicas) {
    program::MlpConfig model;
    model.features = 37;
    model.hidden = {64};
    model.classes = 5;
    model.batch_size = replicas * 33;
    model.dataset_rows = 128;
    program::OptimizerConfig optimizer{.kind = program::OptimizerKind::kSgdMomentum};
    optimizer.replicas.count = replicas;
    return program::build_mlp(model, optimizer);
}

program::Program small_cnn() {
    program::CnnConfig model;
    model.height = 4;
    model.width = 4;
    model.channels = 1;
    model.filters = {32};
    model.classes = 4;
    model.batch_size = 8;
    model.dataset_rows = 16;
    return program::build_cnn(model, {.kind = program::OptimizerKind::kSgd});
}

program::Program small_gpt() {
    program::GptConfig model;
    model.vocabulary = 40;
    model.context = 32;
    model.layers = 1;
    model.heads = 2;
    model.width = 64;
    model.batch_size = 4;
    model.dataset_rows = 16;
    return program::build_gpt(model, {.kind = program::OptimizerKind::kSgd});
}

std::uint64_t elements_of(const Placement& placement) {
    std::uint64_t out = 0;
    for (const Block& block : placement) {
        out += block.element_count();
    }
    return out;
}

void check_disjoint(const Placement& placement) {
    for (std::size_t a = 0; a < placement.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            ASSERT(intersection(placement[a], placement[b]).is_empty());
        }
    }
}

/// Ranks that have parts of the same elements put together either all of them, each for itself, or each its own part.
void check_finished(const plan::NodePlan& node) {
    for (const Block& work : node.work) {
        Placement finished;
        for (std::size_t rank = 0; rank < node.work.size() && !work.is_empty(); ++rank) {
            if (node.work[rank] == work) {
                finished.push_back(node.finished[rank]);
            }
        }
        const auto is_all = [&](const Block& block) { return block == work; };
        if (!std::all_of(finished.begin(), finished.end(), is_all)) {
            check_disjoint(finished);
            ASSERT(elements_of(finished) == work.element_count());
        }
    }
}

/// What each rank lacks of what it wants comes once.
void check_transfers(const Placement& held, const Placement& wanted, canonical::Shape shape) {
    std::vector<Placement> received(wanted.size());
    for (const Transfer& transfer : plan::transfers(held, wanted, shape)) {
        ASSERT(transfer.from != transfer.to && !transfer.block.is_empty());
        ASSERT(held[transfer.from].contains(transfer.block) && wanted[transfer.to].contains(transfer.block));
        ASSERT(intersection(held[transfer.to], transfer.block).is_empty());
        received[transfer.to].push_back(transfer.block);
    }
    for (std::size_t rank = 0; rank < wanted.size(); ++rank) {
        check_disjoint(received[rank]);
        const std::uint64_t own = intersection(held[rank], wanted[rank]).element_count();
        ASSERT(own + elements_of(received[rank]) == wanted[rank].element_count());
    }
}

/// Ranks that reduce parts of the same elements reduce each position once.
void check_depth(const plan::NodePlan& node, std::uint32_t depth) {
    for (std::size_t a = 0; a < node.work.size(); ++a) {
        if (node.work[a].is_empty()) {
            continue;
        }
        std::uint64_t positions = 0;
        for (std::size_t b = 0; b < node.work.size(); ++b) {
            if (node.work[b] != node.work[a]) {
                continue;
            }
            positions += node.depth[b].count();
            ASSERT(a == b || plan::intersection(node.depth[a], node.depth[b]).is_empty());
        }
        ASSERT(positions == depth);
    }
}

void check_node(const plan::Plan& plan, const canonical::Graph& graph, std::uint32_t index) {
    const canonical::Node& node = graph[index];
    const plan::NodePlan& placed = plan.nodes[index];
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        const canonical::Input& input = node.inputs[k];
        const bool is_of_state = input.source == canonical::Source::kState;
        const Placement& held = is_of_state ? plan.state[input.index] : plan.nodes[input.index].held;
        check_transfers(held, placed.needs[k], input.shape);
    }
    if (index + 1 == graph.size()) {
        return;  // kCommit computes nothing
    }
    if (placed.is_divided) {
        check_depth(placed, plan::depth_of(node));
        check_finished(placed);
    }
    if (!placed.finished.empty()) {
        ASSERT(plan::covers(placed.finished, node.shape));
        check_transfers(placed.finished, placed.held, node.shape);
    }
    for (std::size_t rank = 0; rank < placed.work.size() && !placed.pieces.empty(); ++rank) {
        Placement pieces;
        for (const Placement& piece : placed.pieces) {
            pieces.push_back(piece[rank]);
        }
        check_disjoint(pieces);
    }
}

void check_order(const plan::Plan& plan, const canonical::Graph& graph) {
    using Key = std::pair<std::uint32_t, std::uint32_t>;
    std::set<Key> known;
    for (const std::vector<plan::Item>& order : plan.order) {
        std::set<Key> seen;
        for (const plan::Item& item : order) {
            const Key key(item.node, item.piece);
            ASSERT(item.node + 1 < graph.size() && seen.insert(key).second);
            if (known.insert(key).second) {
                static_cast<void>(plan::share_of(plan, graph, item));
                static_cast<void>(plan::output_transfers(plan, graph, item));
                static_cast<void>(plan::input_transfers(plan, graph, item));
            }
        }
    }
}

}  // namespace

const program::Program& plan_program(std::size_t index) {
    static const std::vector<program::Program> kPrograms{small_mlp(1), small_cnn(), small_gpt(), small_mlp(2)};
    return kPrograms[index % kPrograms.size()];
}

void check_plan(const program::Program& program, const plan::Layout& layout) {
    if (layout.turns > 1) {
        return;  // divides no step
    }
    const plan::Plan plan = plan::make_plan(program, layout);
    ASSERT(plan.layout == layout && plan.order.size() == layout.ranks());
    for (std::size_t i = 0; i < program.state.size(); ++i) {
        ASSERT(plan::covers(plan.state[i], program.state[i].type.shape));
    }
    for (std::uint32_t i = 0; i < program.step.size(); ++i) {
        check_node(plan, program.step, i);
    }
    check_order(plan, program.step);
    ASSERT(exchange_fault(plan, program.step).empty());
    for (const std::uint32_t rank : {0U, layout.ranks() - 1}) {
        ASSERT(plan::state_bytes(plan, program, rank) <= program::size_bytes(program.state));
        static_cast<void>(plan::step_bytes(plan, program, rank));
        static_cast<void>(plan::traffic_of(plan, program.step, rank));
    }
    static_cast<void>(plan::unstatable_node(plan, program.step));
    static_cast<void>(plan::hands_on_state(plan, program.step));
}

}  // namespace assay::fuzz
