// SPDX-License-Identifier: Apache-2.0
#include <contracts/chain/invariants.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <core/codec/borsh.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/state/slots.hpp>

namespace assay::contracts {
namespace {

/// Differences of sums of amounts: exact.
__extension__ using Wide = __int128;

Wide wide(Amount amount) { return static_cast<Wide>(amount.grains); }

template <class T>
struct Change {
    std::optional<T> before;
    std::optional<T> after;
};

template <class T>
Change<T> change_of(const StateView& view, const Bytes& key, const std::optional<Bytes>& value) {
    Change<T> change{read_slot<T>(view, key), std::nullopt};
    if (value) {
        change.after = codec::decode<T>(*value).value();
    }
    return change;
}

using StakeKey = std::pair<Role, AccountId>;

/// Sums over the changed slots.
struct Totals {
    Wide money = 0;                        ///< what there is more of than before
    std::map<StakeKey, Wide> unaccounted;  ///< change of locked stake minus change of what holds it
    Wide lane_of_tasks = 0;                ///< change of what the lane has promised minus change of what holds it
    Wide lane_of_disputes = 0;
};

Wide money_of(const Account& account) { return wide(account.balance); }
Wide money_of(const Supply& supply) { return wide(supply.treasury) + wide(supply.burned); }
Wide money_of(const Task& task) { return wide(task.escrow) + wide(task.room); }
Wide money_of(const Stake& stake) {
    Wide sum = wide(stake.free) + wide(stake.locked);
    for (const Unbonding& part : stake.unbonding) {
        sum += wide(part.amount);
    }
    return sum;
}

std::vector<Profile> profiles_of(const Task& task) {
    return task.tolerance ? task.tolerance->profiles : std::vector<Profile>{};
}

std::vector<Partner> partners_in(const Task& task) {
    return task.group ? task.group->partners : std::vector<Partner>{};
}

void hold(Totals& totals, const Task& task, Wide sign) {
    totals.lane_of_tasks -= sign * static_cast<Wide>(task.lane);
    if (task.solver) {
        totals.unaccounted[{Role::kSolver, *task.solver}] -= sign * wide(task.solver_bond);
    }
    for (const Partner& partner : partners_in(task)) {
        totals.unaccounted[{Role::kSolver, partner.account}] -= sign * wide(partner.bond);
    }
    for (const Assignment& assignment : task.assignments) {
        totals.unaccounted[{Role::kVerifier, assignment.verifier}] -=
            sign * (wide(assignment.bond) + wide(assignment.reserve));
    }
    for (const Profile& profile : profiles_of(task)) {
        totals.unaccounted[{Role::kVerifier, profile.profiler}] -= sign * wide(profile.bond);
    }
}
void hold(Totals& totals, const Dispute& dispute, Wide sign) {
    totals.lane_of_disputes -= sign * static_cast<Wide>(dispute.lane);
    totals.unaccounted[{dispute.challenger_role, dispute.challenger}] -= sign * wide(dispute.challenger_bond);
}

void hold(Totals& totals, const Lane& lane, Wide sign) {
    totals.lane_of_tasks += sign * static_cast<Wide>(lane.tasks);
    totals.lane_of_disputes += sign * static_cast<Wide>(lane.disputes);
}

void hold(Totals& totals, const Beacon& beacon, Wide sign) {
    for (const Seat& seat : beacon.seats) {
        totals.unaccounted[{Role::kVerifier, seat.account}] -= sign * wide(seat.bond);
    }
}

template <class T>
void add_money(Totals& totals, const Change<T>& change) {
    totals.money += change.after ? money_of(*change.after) : 0;
    totals.money -= change.before ? money_of(*change.before) : 0;
}

template <class T>
void add_holdings(Totals& totals, const Change<T>& change) {
    if (change.after) {
        hold(totals, *change.after, 1);
    }
    if (change.before) {
        hold(totals, *change.before, -1);
    }
}

void add_locked(Totals& totals, const Bytes& key, const Change<Stake>& change) {
    AccountId account;
    std::copy(key.begin() + 2, key.end(), account.data.begin());
    Wide& locked = totals.unaccounted[{static_cast<Role>(key[1]), account}];
    locked += change.after ? wide(change.after->locked) : 0;
    locked -= change.before ? wide(change.before->locked) : 0;
}

/// INV-2: only what can be voted on changes (GOV-2), and the chain can run with it. Who may change it and when is the
/// matter of the GOV rules; a transaction never does.
Result<void, InvariantError> check_params(const Change<Params>& change) {
    if (!change.before || !change.after || !are_valid(*change.after)) {
        return Unexpected{InvariantError::kFixed};
    }
    std::vector<ParamChange> votable;
    for (std::uint8_t number = 1; number <= kVotableParams; ++number) {
        const auto param = static_cast<VotableParam>(number);
        votable.push_back({param, value_of(*change.after, param)});
    }
    if (with_changes(*change.before, votable) != change.after) {
        return Unexpected{InvariantError::kFixed};
    }
    return {};
}

Result<void, InvariantError> check_supply(const Change<Supply>& change, std::span<const HistoryRecord> history) {
    if (!change.before || !change.after || change.before->genesis != change.after->genesis ||
        change.after->burned < change.before->burned) {
        return Unexpected{InvariantError::kFixed};  // INV-2
    }
    Wide jackpots = 0;
    for (const HistoryRecord& entry : history) {
        const auto* paid = std::get_if<history::Paid>(&entry.event);
        jackpots += paid != nullptr && paid->reason == Reason::kJackpot ? wide(paid->amount) : 0;
    }
    const Wide before = wide(change.before->treasury);
    if (wide(change.after->treasury) + jackpots < before || jackpots * 3 > before) {
        return Unexpected{InvariantError::kTreasury};  // INV-8
    }
    return {};
}

/// What the added history says was paid out of a task's escrow.
struct Payout {
    Wide total = 0;
    Wide reward = 0;
    Wide refund = 0;
};

Payout payout_of(const TaskId& task, std::span<const HistoryRecord> history) {
    Payout payout;
    for (const HistoryRecord& entry : history) {
        const auto* paid = std::get_if<history::Paid>(&entry.event);
        if (entry.task != task || paid == nullptr) {
            continue;
        }
        const bool from_escrow = paid->reason == Reason::kReward || paid->reason == Reason::kVerificationFee ||
                                 paid->reason == Reason::kRefund || paid->reason == Reason::kTax ||
                                 paid->reason == Reason::kProfilingFee || paid->reason == Reason::kRetention;
        payout.total += from_escrow ? wide(paid->amount) : 0;
        payout.reward += paid->reason == Reason::kReward ? wide(paid->amount) : 0;
        payout.refund += paid->reason == Reason::kRefund ? wide(paid->amount) : 0;
    }
    return payout;
}

bool is_cleared(const Task& task) {
    const auto profiles = profiles_of(task);
    const auto partners = partners_in(task);
    return task.escrow.grains == 0 && task.room.grains == 0 && task.lane == 0 && task.solver_bond.grains == 0 &&
           task.open_disputes == 0 && task.deadline.value == 0 &&
           std::all_of(
               task.assignments.begin(), task.assignments.end(),
               [](const Assignment& assignment) {
                   return assignment.bond.grains == 0 && assignment.reserve.grains == 0;
               }
           ) &&
           std::all_of(
               partners.begin(), partners.end(), [](const Partner& partner) { return partner.bond.grains == 0; }
           ) &&
           std::all_of(profiles.begin(), profiles.end(), [](const Profile& profile) {
               return profile.bond.grains == 0;
           });
}

/// INV-3, INV-4: what keeping a result can earn leaves the escrow only as it is paid out or sent back.
Result<void, InvariantError> check_kept(const Task& before, const Task& task, std::span<const HistoryRecord> history) {
    if (task.state != TaskState::kKept && task.state != TaskState::kSettled) {
        return Unexpected{InvariantError::kTerminal};  // INV-6
    }
    const Payout payout = payout_of(task.id, history);
    if (payout.reward != 0 || wide(before.escrow) - wide(task.escrow) != payout.total) {
        return Unexpected{InvariantError::kPayout};
    }
    return {};
}

Result<void, InvariantError> check_task(const Change<Task>& change, std::span<const HistoryRecord> history) {
    if (!change.after) {
        return Unexpected{InvariantError::kFixed};  // INV-2
    }
    const Task& task = *change.after;
    if (change.before && is_terminal(change.before->state)) {
        return Unexpected{InvariantError::kTerminal};  // INV-6
    }
    if (is_terminal(task.state) && !is_cleared(task)) {
        return Unexpected{InvariantError::kTerminal};  // INV-6
    }
    if (change.before && change.before->state == TaskState::kKept) {
        return check_kept(*change.before, task, history);
    }
    const Wide whole = wide(escrow_of(task.spec));
    const Wide kept = task.state == TaskState::kKept ? wide(task.escrow) + wide(task.room) : 0;
    if (kept > wide(retention_fee(task.spec))) {
        return Unexpected{InvariantError::kEscrow};  // INV-3
    }
    const bool ends = is_concluded(task.state);
    if ((!ends && wide(task.escrow) != whole) || (change.before && wide(change.before->escrow) != whole)) {
        return Unexpected{InvariantError::kEscrow};  // INV-3
    }
    const Payout payout = payout_of(task.id, history);
    const Wide unearned = wide(task.spec.reward) - wide(earned_reward(task));
    const bool rewards_once =
        payout.reward == 0 ||
        ((task.state == TaskState::kSettled || task.state == TaskState::kKept) &&
         payout.reward <= wide(earned_reward(task)) &&
         payout.refund <= wide(task.spec.verification_fee) + wide(retention_fee(task.spec)) + unearned);
    if (payout.total > (ends ? whole - kept : 0) || !rewards_once) {
        return Unexpected{InvariantError::kPayout};  // INV-4
    }
    return {};
}

/// One changed slot: its own rules, and its part of the totals.
Result<void, InvariantError> check_slot(
    Totals& totals, const StateView& before, const Bytes& key, const std::optional<Bytes>& value,
    std::span<const HistoryRecord> history
) {
    switch (static_cast<SlotKind>(key.at(0))) {
        case SlotKind::kParams:
            return check_params(change_of<Params>(before, key, value));
        case SlotKind::kSupply: {
            const auto change = change_of<Supply>(before, key, value);
            add_money(totals, change);
            return check_supply(change, history);
        }
        case SlotKind::kAccount:
            add_money(totals, change_of<Account>(before, key, value));
            return {};
        case SlotKind::kStake: {
            const auto change = change_of<Stake>(before, key, value);
            add_money(totals, change);
            add_locked(totals, key, change);
            return {};
        }
        case SlotKind::kTask: {
            const auto change = change_of<Task>(before, key, value);
            add_money(totals, change);
            add_holdings(totals, change);
            return check_task(change, history);
        }
        case SlotKind::kDispute:
            add_holdings(totals, change_of<Dispute>(before, key, value));
            return {};
        case SlotKind::kLane:
            add_holdings(totals, change_of<Lane>(before, key, value));
            return {};
        case SlotKind::kBeacon:
            add_holdings(totals, change_of<Beacon>(before, key, value));
            return {};
        default:
            return {};
    }
}

}  // namespace

Result<void, InvariantError> check_invariants(
    const StateView& before, const Changes& changes, std::span<const HistoryRecord> history
) noexcept {
    Totals totals;
    for (const auto& [key, value] : changes) {
        TRY(check_slot(totals, before, key, value, history));
    }
    if (totals.money != 0) {
        return Unexpected{InvariantError::kSupply};  // INV-1
    }
    const bool accounted = std::all_of(totals.unaccounted.begin(), totals.unaccounted.end(), [](const auto& entry) {
        return entry.second == 0;
    });
    if (!accounted) {
        return Unexpected{InvariantError::kLocked};  // INV-5
    }
    if (totals.lane_of_tasks != 0 || totals.lane_of_disputes != 0) {
        return Unexpected{InvariantError::kLane};  // INV-9
    }
    return {};
}

}  // namespace assay::contracts
