// SPDX-License-Identifier: Apache-2.0
#include <verifier/plan/phases.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <verifier/plan/planner.hpp>

namespace assay::plan {

using canonical::Input;
using canonical::Op;
using canonical::Source;

namespace {

// Nodes behind the loss that depend on the batch and are computed at once, and what depends on them.
std::vector<bool> behind_sums(const Plan& plan, const program::Program& program, const std::vector<bool>& is_of_batch) {
    std::vector<bool> out(plan.nodes.size());
    for (std::uint32_t i = program.loss_node + 1; i < out.size(); ++i) {
        out[i] = is_of_batch[i] && plan.nodes[i].pieces.empty();
        for (const Input& input : program.step[i].inputs) {
            out[i] = out[i] || (input.source == Source::kNode && out[input.index]);
        }
    }
    return out;
}

}  // namespace

std::vector<Phase> phases_of(const Plan& plan, const program::Program& program) {
    const canonical::Graph& graph = program.step;
    const std::vector<std::uint32_t> stages = stages_of(program, plan.layout);
    std::vector<bool> is_of_batch(graph.size());
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        is_of_batch[i] = graph[i].op == Op::kBatchRows;
        for (const Input& input : graph[i].inputs) {
            is_of_batch[i] = is_of_batch[i] || (input.source == Source::kNode && is_of_batch[input.index]);
        }
    }
    const std::vector<bool> is_behind = behind_sums(plan, program, is_of_batch);
    const auto is_backward_piece = [&](std::uint32_t node) {
        return node > program.loss_node && !plan.nodes[node].pieces.empty() && !is_behind[node];
    };
    // What another stage's backward pass is computed from.
    std::vector<bool> is_on_path(graph.size());
    for (std::uint32_t i = static_cast<std::uint32_t>(graph.size()); i-- > 0;) {
        for (const Input& input : graph[i].inputs) {
            const bool is_read =
                input.source == Source::kNode && is_backward_piece(i) && is_backward_piece(input.index);
            if (is_read && (is_on_path[i] || stages[i] < stages[input.index])) {
                is_on_path[input.index] = true;
            }
        }
    }
    // Of these, the first and what is computed from it are gradients. The others are made of the forward pass alone, as
    // derivatives of activations are.
    const auto first = std::find(is_on_path.begin(), is_on_path.end(), true) - is_on_path.begin();
    std::vector<bool> is_gradient(graph.size());
    std::vector<Phase> out(graph.size());
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        is_gradient[i] = std::cmp_equal(i, first);
        for (const Input& input : graph[i].inputs) {
            const bool is_read = input.source == Source::kNode && is_backward_piece(i);
            is_gradient[i] = is_gradient[i] || (is_read && is_gradient[input.index]);
        }
        const bool is_whole = plan.nodes[i].pieces.empty() || graph[i].op == Op::kBatchRows;
        if (is_whole) {
            out[i] = i > program.loss_node && is_of_batch[i] ? Phase::kLate : Phase::kEarly;
        } else if (i <= program.loss_node || (is_on_path[i] && !is_gradient[i])) {
            out[i] = Phase::kForward;
        } else {
            out[i] = is_gradient[i] ? Phase::kBackward : Phase::kLate;
        }
    }
    return out;
}

Slots slots_of(const Plan& plan, const program::Program& program) {
    struct Slot {
        bool is_forward = true;
        std::uint32_t piece = 0;
        auto operator<=>(const Slot&) const = default;
    };
    const std::uint32_t stages = plan.layout.stages;
    const std::vector<Phase> phases = phases_of(plan, program);
    std::vector<std::vector<Slot>> slots(stages);
    for (std::uint32_t stage = 0; stage < stages; ++stage) {
        const std::uint32_t rank = stage * plan.layout.data * plan.layout.tensor;
        std::set<Slot> seen;
        for (const Item& item : plan.order[rank]) {
            const bool is_forward = phases[item.node] == Phase::kForward;
            const Slot slot{is_forward, item.piece};
            if ((is_forward || phases[item.node] == Phase::kBackward) &&
                !share_of(plan, program.step, item).work[rank].is_empty() && seen.insert(slot).second) {
                slots[stage].push_back(slot);
            }
        }
    }
    std::vector<std::map<Slot, std::uint64_t>> ends(stages);
    std::vector<std::size_t> next(stages);
    std::vector<std::uint64_t> clock(stages);
    std::uint64_t busy = 0;
    for (bool has_moved = true; has_moved;) {
        has_moved = false;
        for (std::uint32_t stage = 0; stage < stages; ++stage) {
            if (next[stage] == slots[stage].size()) {
                continue;
            }
            const Slot slot = slots[stage][next[stage]];
            const std::uint32_t before = slot.is_forward ? stage - 1 : stage + 1;
            const bool has_before = before < stages;
            if (has_before && !ends[before].contains(slot)) {
                continue;
            }
            clock[stage] = std::max(clock[stage], has_before ? ends[before].at(slot) : 0) + 1;
            ends[stage][slot] = clock[stage];
            ++next[stage];
            ++busy;
            has_moved = true;
        }
    }
    const std::uint64_t all = *std::max_element(clock.begin(), clock.end()) * stages;
    return {all, all - busy};
}

}  // namespace assay::plan
