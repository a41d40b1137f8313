// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <contracts/arbitration/ending.hpp>
#include <contracts/chain/slots.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/verification/verification.hpp>

/// What a challenger answers with: a bond that it has in the task already, or free stake (DSP-46).
namespace assay::contracts {
namespace {

Amount bond_of(const Params& params, const Task& task) { return challenger_bond(params, task_value(task.spec)); }

/// The place of the challenger's assignment whose reserve answers for such a dispute; nullopt: none does.
std::optional<std::size_t> answering(const Task& task, const Dispute& dispute, Amount bond) {
    if (dispute.challenger_role != Role::kVerifier || dispute.profile) {
        return std::nullopt;
    }
    const auto own = find_assignment(task, dispute.segment, dispute.challenger);
    if (!own || task.assignments[*own].reserve < bond) {
        return std::nullopt;
    }
    if (dispute.verdict) {
        const auto disputed = find_assignment(task, dispute.segment, dispute.verdict->verifier);
        const Assignment& mine = task.assignments[*own];
        if (!is_published(mine) || is_exact(task, dispute.segment) ||
            !contradicts(mine, task.assignments[disputed.value()])) {
            return std::nullopt;
        }
    }
    return *own;
}

/// How many open disputes the solver answers for with the bond of the task.
std::uint64_t count_on_task(const StateView& view, const Task& task) {
    const auto open = get_docket(view, task.id).disputes;
    return static_cast<std::uint64_t>(std::count_if(open.begin(), open.end(), [&](const DisputeId& id) {
        return answers_on_task(task, find_dispute(view, id).value());
    }));
}

}  // namespace

bool answers_on_task(const Task& task, const Dispute& dispute) noexcept {
    return dispute.challenger_role == Role::kSolver && task.solver == dispute.challenger;
}

Result<void, TxError> check_bond(const StateView& view, const Params& params, const Task& task, const Dispute& dispute) {
    // DSP-46
    const Amount bond = bond_of(params, task);
    if (answers_on_task(task, dispute)) {
        const auto all = checked_mul(bond.grains, count_on_task(view, task) + 1);
        return all && *all <= task.solver_bond.grains ? Result<void, TxError>()
                                                      : Unexpected{TxError::kInsufficientStake};
    }
    return answering(task, dispute, bond) ? Result<void, TxError>()
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
