// SPDX-License-Identifier: Apache-2.0
#include <contracts/tasks/reseating.hpp>

#include <algorithm>

#include <contracts/ledger/ledger.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/tasks/seats.hpp>

namespace assay::contracts {
namespace {

/// GRP-13, GRP-14: the task, which a group with this member trains together, and of which a segment is left to train.
Result<Task, TxError> require_together(const StateView& view, const TaskId& id, const AccountId& sender) {
    TRY_ASSIGN(Task task, require_trained_task(view, id, sender));
    if (!task.group || !task.group->is_together) {
        return Unexpected{TxError::kNotTogether};
    }
    if (segment_in_training(task) > segment_count(task)) {
        return Unexpected{TxError::kSegmentUnknown};
    }
    return task;
}

bool has_seat(const Task& task, std::uint8_t number, std::uint32_t segment) {
    const std::vector<std::uint8_t>& seats = seats_for(task, segment);
    return std::find(seats.begin(), seats.end(), number) != seats.end();
}

/// GRP-13: whether everybody who has a seat for the segment in training is on the list.
bool keeps_all(const Task& task, const std::vector<AccountId>& seats) {
    const std::vector<std::uint8_t>& now = seats_for(task, segment_in_training(task));
    return std::all_of(now.begin(), now.end(), [&](std::uint8_t number) {
        return number == kVacant || std::find(seats.begin(), seats.end(), member_account(task, number)) != seats.end();
    });
}

/// GRP-13: whether the list may count from this segment on.
Result<void, TxError> check_from(const Task& task, const Reseat& action) {
    const Group& group = *task.group;
    const std::uint32_t now = segment_in_training(task);
    const bool is_soon = action.from == now ? keeps_all(task, action.seats) : action.from == now + 1;
    const bool is_last = group.earlier.empty() || group.earlier.back().until <= action.from;
    if (!is_soon || !is_last || action.from > segment_count(task) || group.earlier.size() >= kMaxSeatings) {
        return Unexpected{TxError::kSeatsInvalid};
    }
    return {};
}

/// GRP-13: who may have a seat: a member that was neither convicted nor left out, or somebody new.
Result<void, TxError> check_members(
    const StateView& view, const Params& params, const Task& task, const std::vector<AccountId>& partners
) {
    const Group& group = *task.group;
    std::size_t members = group.partners.size() + 1;
    for (const AccountId& partner : partners) {
        const auto number = find_member(task, partner);
        if (number && (was_convicted(group, *number) || is_out(group, *number))) {
            return Unexpected{TxError::kSeatsInvalid};
        }
        if (!number) {
            TRY(check_partner(view, params, task, partner));
            ++members;
        }
    }
    if (members > kMaxMembersTogether) {
        return Unexpected{TxError::kSeatsInvalid};
    }
    return {};
}

/// GRP-14: takes the cost of a demand, or what is left, from the bond of a member.
void charge(Context& context, Task& task, const AccountId& member) {
    Amount& bond = bond_of(task, member);
    const Penalty penalty{
        .role = Role::kSolver,
        .from = member,
        .amount = std::min(bond, demand_cost(context.params, task_value(task.spec))),
        .reason = Reason::kDemand};
    bond = subtract(bond, penalty.amount);
    slash(context, task, penalty);
}

}  // namespace

// --- reseat --------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const Reseat& action) noexcept {
    if (action.seats.size() > kMaxSeats || action.signatures.size() > kMaxSeats) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return {};
}

Result<void, TxError> check_bound(const std::string& chain_id, const AccountId& sender, const Reseat& action) noexcept {
    if (action.seats.empty() || action.seats.front() != sender) {
        return Unexpected{TxError::kSeatsInvalid};
    }
    const SeatsTerms terms{.task = action.task, .seats = action.seats, .is_together = true, .from = action.from};
    return check_signatures(chain_id, terms, action.signatures);
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const Reseat& action
) noexcept {
    TRY_ASSIGN(const Task task, require_together(view, action.task, sender));
    if (task.solver != sender) {
        return Unexpected{TxError::kNotSolver};
    }
    if (action.seats.size() > task.spec.members) {
        return Unexpected{TxError::kSeatsInvalid};
    }
    TRY(check_from(task, action));
    return check_members(view, params, task, partners_of(action.seats));
}

Result<void, TxError> execute(Context& context, const Reseat& action) noexcept {
    Task task = find_task(context.state, action.task).value();
    const Amount bond = member_bond(context.params, task_value(task.spec));
    for (const AccountId& partner : partners_of(action.seats)) {
        if (!is_member(task, partner)) {
            lock_stake(context, Role::kSolver, partner, bond);
            task.group->partners.push_back({partner, bond});
        }
    }
    std::vector<std::uint8_t> seats;
    seats.reserve(action.seats.size());
    for (const AccountId& account : action.seats) {
        seats.push_back(find_member(task, account).value());
    }
    give_seats(*task.group, action.from, std::move(seats));
    record(context, task, history::Reseated{action.from, action.seats});
    set_task(context.state, task);
    return {};
}

// --- demand --------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const Demand& /*action*/) noexcept { return {}; }

Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const Demand& action
) noexcept {
    TRY_ASSIGN(const Task task, require_together(view, action.task, sender));
    const Group& group = *task.group;
    const std::uint32_t now = segment_in_training(task);
    const std::uint8_t accuser = find_member(task, sender).value();
    const auto member = find_member(task, action.member);
    const bool are_seated =
        member && *member != accuser && has_seat(task, accuser, now) && has_seat(task, *member, now);
    if (!are_seated || was_convicted(group, accuser) || times_demanded(group, *member) >= kDemandsToLeave) {
        return Unexpected{TxError::kNotTogether};
    }
    if (bond_of(task, sender) < demand_cost(params, task_value(task.spec))) {
        return Unexpected{TxError::kInsufficientStake};
    }
    return {};
}

Result<void, TxError> execute(Context& context, const Demand& action) noexcept {
    Task task = find_task(context.state, action.task).value();
    const std::uint8_t number = find_member(task, action.member).value();
    task.group->demanded.push_back(number);
    const bool leaves = is_out(*task.group, number);
    if (leaves) {
        vacate_seats(task, number);
    }
    record(context, task, history::Demanded{context.actor, action.member, leaves});
    charge(context, task, context.actor);
    charge(context, task, action.member);
    set_task(context.state, task);
    return {};
}

}  // namespace assay::contracts
