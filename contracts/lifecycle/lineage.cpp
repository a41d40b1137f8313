// SPDX-License-Identifier: Apache-2.0
#include <contracts/lifecycle/lineage.hpp>

#include <algorithm>
#include <optional>

#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/lifecycle/lifecycle.hpp>

namespace assay::contracts {
namespace {

/// LIN-3: the ancestor that keeps `task` from settling, nearest first.
std::optional<Task> find_unsettling(const StateView& view, const Task& task) {
    for (auto id = task.spec.parent; id;) {
        const Task ancestor = find_task(view, *id).value();
        const bool is_refuted = ancestor.state == TaskState::kConvicted || is_shortened(ancestor);  // GRP-9
        const bool marks_us_yet = is_refuted && !task.tainted_by;
        if (!is_concluded(ancestor.state) || marks_us_yet) {
            return ancestor;
        }
        id = ancestor.spec.parent;
    }
    return std::nullopt;
}

}  // namespace

Result<void, TxError> check_parent(const StateView& view, const TaskSpec& spec) noexcept {
    // LIN-1
    if (!spec.parent) {
        return {};
    }
    const auto parent = find_task(view, *spec.parent);
    const bool fit = parent && parent->state >= TaskState::kCompleted &&
                     (parent->state <= TaskState::kSettled || parent->state == TaskState::kKept) &&
                     !parent->spec.privacy && !parent->diverged_at && !is_shortened(*parent) && !parent->tainted_by &&
                     parent->depth < kMaxDepth && parent->spec.program.state_tensors == spec.program.state_tensors;
    if (!fit) {
        return Unexpected{TxError::kParentUnfit};
    }
    return {};
}

void adopt(Context& context, Task& task) {
    if (!task.spec.parent) {
        return;
    }
    const TaskId& parent = *task.spec.parent;
    task.depth = find_task(context.state, parent).value().depth + 1;
    Lineage family = get_lineage(context.state, parent);
    Lineage own;
    own.next_sibling = family.first_child;
    family.first_child = task.id;
    set_lineage(context.state, parent, family);
    set_lineage(context.state, task.id, own);
}

Hash256 start_root(const StateView& view, const Task& task) {
    const Task parent = find_task(view, task.spec.parent.value()).value();
    return find_checkpoint(view, parent.id, parent.checkpoints - 1).value().state_root;
}

bool await_ancestors(Context& context, Task& task) {
    // LIN-3
    const auto ancestor = find_unsettling(context.state, task);
    if (!ancestor) {
        return false;
    }
    // What waits for disputes or for a draw may have no deadline; asking in every block would cost more than it gains.
    const bool is_undated = !is_concluded(ancestor->state) && ancestor->deadline.value == 0;
    const Height soonest = context.height_after(is_undated ? context.params.challenge_blocks : 1);
    const Height next = std::max(soonest, Height{ancestor->deadline.value + 1});
    if (task.state == TaskState::kJudged) {
        set_task_deadline(context, task, next);
    } else {
        enter_state(context, task, TaskState::kJudged, next);
    }
    set_task(context.state, task);
    return true;
}

void taint_descendants(Context& context, const TaskId& task) {
    // LIN-4
    if (const auto child = get_lineage(context.state, task).first_child) {
        auto taints = get_taints(context.state);
        taints.push_back({*child, task});
        set_taints(context.state, taints);
    }
}

}  // namespace assay::contracts
