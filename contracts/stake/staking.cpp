// SPDX-License-Identifier: Apache-2.0
#include <contracts/stake/staking.hpp>

#include <algorithm>

#include <contracts/state/slots.hpp>
#include <contracts/ledger/ledger.hpp>

namespace assay::contracts {
namespace {

Result<void, TxError> check_amount(Amount amount) {
    if (amount.grains == 0) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return {};
}

void pay_winner(Context& context, Task& task, const Penalty& penalty, const AccountId& winner, Amount share) {
    if (share.grains != 0) {
        credit(context.state, winner, share);
        record(context, task, history::Paid{winner, share, penalty.winner_reason});
    }
}

/// What of a penalty its winners get together.
Amount won_of(const Params& params, const Penalty& penalty) {
    if (penalty.each) {
        return Amount{penalty.each->grains * penalty.winners.size()};  // AVL-6: at most the penalty
    }
    return penalty.winners.empty()
               ? Amount{}
               : Amount{checked_mul_div(penalty.amount.grains, params.slash_to_winner_bps, kBasisPoints).value()};
}

/// SET-10: half of what is won goes to the first alone, the other half in equal parts to all; the rest of it to the
/// first.
void pay_winners(Context& context, Task& task, const Penalty& penalty, Amount won) {
    if (won.grains == 0) {
        return;
    }
    if (penalty.each) {
        for (const AccountId& winner : penalty.winners) {
            pay_winner(context, task, penalty, winner, *penalty.each);
        }
        return;
    }
    const std::size_t count = std::min(penalty.winners.size(), kWinnersMax);
    const std::uint64_t part = won.grains / 2 / count;
    for (std::size_t i = 0; i < count; ++i) {
        const Amount share{i == 0 ? won.grains - part * (count - 1) : part};
        pay_winner(context, task, penalty, penalty.winners[i], share);
    }
}

}  // namespace

void put_stake(Context& context, Role role, const AccountId& account, const Stake& stake) {
    // STK-5
    set_stake(context.state, role, account, stake);
    const bool belongs = !stake.is_unlisted && add(stake.free, stake.locked) >= least_bond(context.params, role);
    auto stakers = get_stakers(context.state, role);
    const auto place = std::lower_bound(stakers.begin(), stakers.end(), account);
    const bool listed = place != stakers.end() && *place == account;
    if (belongs == listed) {
        return;
    }
    if (belongs) {
        stakers.insert(place, account);
    } else {
        stakers.erase(place);
    }
    set_stakers(context.state, role, stakers);
}

Amount least_bond(const Params& params, Role role) noexcept {
    switch (role) {
        case Role::kSolver:
            return params.solver_bond;
        case Role::kVerifier:
            return params.verifier_bond;
        case Role::kWhistleblower:
            return params.challenger_bond;
        case Role::kValidator:
            return params.validator_stake_min;
    }
    return params.solver_bond;
}

Result<void, TxError> check_free_stake(
    const StateView& view, Role role, const AccountId& account, Amount amount
) noexcept {
    if (get_stake(view, role, account).free < amount) {
        return Unexpected{TxError::kInsufficientStake};  // STK-2
    }
    return {};
}

Result<void, TxError> check_stateless(const Bond& action) noexcept { return check_amount(action.amount); }

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const Bond& action
) noexcept {
    return check_balance(view, sender, action.amount);
}

Result<void, TxError> execute(Context& context, const Bond& action) noexcept {
    // STK-1
    debit(context.state, context.actor, action.amount);
    Stake stake = get_stake(context.state, action.role, context.actor);
    stake.free = add(stake.free, action.amount);
    stake.is_unlisted = false;  // TASK-6
    put_stake(context, action.role, context.actor, stake);
    return {};
}

Result<void, TxError> check_stateless(const Unbond& action) noexcept { return check_amount(action.amount); }

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const Unbond& action
) noexcept {
    TRY(check_free_stake(view, action.role, sender, action.amount));
    if (get_stake(view, action.role, sender).unbonding.size() >= kMaxUnbondings) {
        return Unexpected{TxError::kTooManyUnbondings};  // STK-4
    }
    return {};
}

Result<void, TxError> execute(Context& context, const Unbond& action) noexcept {
    // STK-4
    const Height release_at = context.height_after(context.params.unbonding_blocks);
    Stake stake = get_stake(context.state, action.role, context.actor);
    stake.free = subtract(stake.free, action.amount);
    if (!stake.unbonding.empty() && stake.unbonding.back().release_at == release_at) {
        stake.unbonding.back().amount = add(stake.unbonding.back().amount, action.amount);
    } else {
        // VAL-9
        const std::uint64_t span_ms = action.role == Role::kValidator ? context.params.validator_unbonding_ms : 0;
        stake.unbonding.push_back({action.amount, release_at, span_ms == 0 ? 0 : context.block.time_ms + span_ms});
        enter_agenda(context.state, {DueKind::kUnbonding, retag<Hash256>(context.actor), action.role}, release_at);
    }
    put_stake(context, action.role, context.actor, stake);
    return {};
}

void release_unbonded(Context& context, Role role, const AccountId& account) {
    Stake stake = get_stake(context.state, role, account);
    Amount released;
    bool waits = false;
    std::erase_if(stake.unbonding, [&](const Unbonding& part) {
        const bool in_blocks = part.release_at <= context.height();
        const bool in_time = part.release_ms <= context.block.time_ms;
        released = in_blocks && in_time ? add(released, part.amount) : released;
        waits = waits || (in_blocks && !in_time);
        return in_blocks && in_time;
    });
    if (waits) {
        // VAL-9: nobody knows how many blocks the time will take.
        const Due due{DueKind::kUnbonding, retag<Hash256>(account), role};
        enter_agenda(context.state, due, context.height_after(context.params.unbonding_blocks));
    }
    set_stake(context.state, role, account, stake);
    credit(context.state, account, released);
}

void lock_stake(Context& context, Role role, const AccountId& account, Amount amount) {
    // STK-3
    Stake stake = get_stake(context.state, role, account);
    stake.free = subtract(stake.free, amount);
    stake.locked = add(stake.locked, amount);
    put_stake(context, role, account, stake);
}

void unlock_stake(Context& context, Role role, const AccountId& account, Amount amount) {
    Stake stake = get_stake(context.state, role, account);
    stake.locked = subtract(stake.locked, amount);
    stake.free = add(stake.free, amount);
    put_stake(context, role, account, stake);
}

PenaltyOutcome slash(Context& context, Task& task, const Penalty& penalty) {
    // SET-5
    if (penalty.amount.grains == 0) {
        return {};
    }
    const Amount won = won_of(context.params, penalty);
    const PenaltyOutcome outcome{.slashed = penalty.amount, .paid = won, .burned = subtract(penalty.amount, won)};
    Stake stake = get_stake(context.state, penalty.role, penalty.from);
    stake.locked = subtract(stake.locked, penalty.amount);
    put_stake(context, penalty.role, penalty.from, stake);
    burn(context.state, outcome.burned);
    record(context, task, history::Slashed{penalty.from, outcome.slashed, outcome.burned, penalty.reason});
    pay_winners(context, task, penalty, outcome.paid);
    return outcome;
}

}  // namespace assay::contracts
