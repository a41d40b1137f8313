// SPDX-License-Identifier: Apache-2.0
#include <contracts/settlement/taints.hpp>

#include <contracts/settlement/settlement.hpp>
#include <contracts/state/slots.hpp>

namespace assay::contracts {

namespace {

/// False when the task bears a mark already, with which its descendants are being reached.
bool mark(Context& context, const Taint& taint) {
    Task task = find_task(context.state, taint.task).value();
    if (task.tainted_by) {
        return false;
    }
    if (is_concluded(task.state)) {
        return true;  // INV-6: it is over, and paid nobody for its result; its descendants may not be
    }
    task.tainted_by = taint.ancestor;
    record(context, task, history::Tainted{taint.ancestor});
    if (task.state <= TaskState::kDrawn || task.state == TaskState::kProfiling) {
        end_without_fraud(context, task, TaskState::kCancelled);
    } else {
        set_task(context.state, task);  // LIN-5
    }
    return true;
}

}  // namespace

void spread_taints(Context& context) {
    // LIN-4: depth first, so that the list stays as short as families are deep.
    auto taints = get_taints(context.state);
    if (taints.empty()) {
        return;
    }
    for (std::uint32_t i = 0; i < kMaxMarksPerBlock && !taints.empty(); ++i) {
        const Taint taint = taints.back();
        taints.pop_back();
        const Lineage lineage = get_lineage(context.state, taint.task);
        if (lineage.next_sibling) {
            taints.push_back({*lineage.next_sibling, taint.ancestor});
        }
        if (mark(context, taint) && lineage.first_child) {
            taints.push_back({*lineage.first_child, taint.ancestor});
        }
    }
    set_taints(context.state, taints);
}

}  // namespace assay::contracts
