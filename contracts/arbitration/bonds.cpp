// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <contracts/arbitration/ending.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/lifecycle/lifecycle.hpp>

/// What a challenger answers with: a bond that it has in the task already, or free stake (DSP-46).
namespace assay::contracts {
namespace {

Amount bond_of(const Params& params, const Task& task) { return challenger_bond(params, task_value(task.spec)); }

/// The place of the challenger's assignment whose reserve answers for such a dispute; nullopt: none does.
std::optional<std::size_t> answering(const Task& task, const Dispute& dispute, Amount bond) {
    if (dispute.challenger_role != Role::kVerifier || dispute.profile()) {
        return std::nullopt;
    }
    const auto own = find_assignment(task, dispute.segment, dispute.challenger);
    if (!own || task.assignments[*own].reserve < bond) {
        return std::nullopt;
    }
    if (dispute.verdict()) {
        const auto disputed = find_assignment(task, dispute.segment, dispute.verdict()->verifier);
        const Assignment& mine = task.assignments[*own];
        if (!is_published(mine) || is_exact(task, dispute.segment) ||
            !contradicts(mine, task.assignments[disputed.value()])) {
            return std::nullopt;
        }
    }
    return *own;
}

/// Whether the dispute is one that the task keeps a place for: a verifier's over its segment, or, where verdicts are
/// judged by distance, the solver's over a verdict on its task, and a verifier's over one that contradicts its own.
bool stands(const Task& task, const Dispute& dispute) {
    const auto own = find_assignment(task, dispute.segment, dispute.challenger);
    if (dispute.profile()) {
        return false;
    }
    if (!dispute.verdict()) {
        return own && task.assignments[*own].status <= VerdictStatus::kRejected && !is_released(task.assignments[*own]);
    }
    if (is_exact(task, dispute.segment)) {
        return false;
    }
    const auto disputed = find_assignment(task, dispute.segment, dispute.verdict()->verifier);
    return answers_on_task(task, dispute) || (own && is_published(task.assignments[*own]) &&
                                              contradicts(task.assignments[*own], task.assignments[disputed.value()]));
}

/// Of one challenger over one segment, or over the verdicts of one verifier: they share a place.
bool share_place(const Dispute& one, const Dispute& other) {
    const auto verifier = [](const Dispute& dispute) {
        return dispute.verdict() ? std::optional{dispute.verdict()->verifier} : std::nullopt;
    };
    return one.challenger == other.challenger && one.segment == other.segment && verifier(one) == verifier(other);
}

}  // namespace

bool has_place(const StateView& view, const Task& task, const Dispute& dispute) {
    // DTY-6
    const auto open = get_bookkeeping(view, task.id).disputes;
    return stands(task, dispute) && std::none_of(open.begin(), open.end(), [&](const NotedDispute& each) {
               if (each.challenger != dispute.challenger) {
                   return false;
               }
               const Dispute other = find_dispute(view, each.id).value();
               return other.lane == 0 && share_place(dispute, other);
           });
}

Result<void, TxError> check_place(
    const StateView& view, const Params& params, const Task& task, const Dispute& dispute
) {
    // DTY-5, DTY-6
    if (!has_place(view, task, dispute) && !has_room_for_dispute(view, params)) {
        return Unexpected{TxError::kDutiesFull};
    }
    return {};
}

bool answers_on_task(const Task& task, const Dispute& dispute) noexcept {
    return dispute.challenger_role == Role::kSolver && task.solver == dispute.challenger;
}

Result<void, TxError> check_bond(
    const StateView& view, const Params& params, const Task& task, const Dispute& dispute
) {
    // DSP-46
    const Amount bond = bond_of(params, task);
    return answers_on_task(task, dispute) || answering(task, dispute, bond)
               ? Result<void, TxError>()
               : check_free_stake(view, dispute.challenger_role, dispute.challenger, bond);
}

void take_bond(Context& context, Task& task, Dispute& dispute) {
    // DSP-46
    if (answers_on_task(task, dispute)) {
        return;
    }
    dispute.challenger_bond = bond_of(context.params, task);
    if (const auto own = answering(task, dispute, dispute.challenger_bond)) {
        Amount& reserve = task.assignments[*own].reserve;
        reserve = subtract(reserve, dispute.challenger_bond);
    } else {
        lock_stake(context, dispute.challenger_role, dispute.challenger, dispute.challenger_bond);
    }
}

}  // namespace assay::contracts
