// SPDX-License-Identifier: Apache-2.0
#include <contracts/beacon/contributing.hpp>

#include <algorithm>
#include <optional>

#include <contracts/state/slots.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/params/by_value.hpp>

namespace assay::contracts {
namespace {

auto place_of(std::vector<Seat>& seats, const AccountId& account) {
    return std::lower_bound(seats.begin(), seats.end(), account, [](const Seat& seat, const AccountId& id) {
        return seat.account < id;
    });
}

Amount stake_of(const StateView& view, const AccountId& account) {
    const Stake stake = get_stake(view, Role::kVerifier, account);
    return add(stake.free, stake.locked);
}

/// BCN-3: the seat that gives way to a newcomer with more stake: the one with the least, of those that owe no secret.
std::optional<AccountId> giving_way(const StateView& view, const Beacon& beacon, Amount newcomer) {
    std::optional<AccountId> least;
    Amount most = newcomer;
    for (const Seat& seat : beacon.seats) {
        const Amount stake = stake_of(view, seat.account);
        if (!is_due(beacon, seat) && stake < most) {
            most = stake;
            least = seat.account;
        }
    }
    return least;
}

/// The bond goes back, the seat is free.
void vacate(Context& context, Beacon& beacon, const AccountId& account) {
    const auto seat = place_of(beacon.seats, account);
    unlock_stake(context, Role::kVerifier, account, seat->bond);
    beacon.seats.erase(seat);
}

}  // namespace

bool is_due(const Beacon& beacon, const Seat& seat) noexcept {
    return beacon.round && seat.committed_at < beacon.round->opened_at;
}

const Seat* find_seat(const Beacon& beacon, const AccountId& account) noexcept {
    const auto found = std::find_if(beacon.seats.begin(), beacon.seats.end(), [&](const Seat& seat) {
        return seat.account == account;
    });
    return found == beacon.seats.end() ? nullptr : &*found;
}

// --- join ----------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const JoinBeacon& /*action*/) noexcept { return {}; }

Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const JoinBeacon& /*action*/
) noexcept {
    // BCN-1, BCN-3
    const Beacon beacon = get_beacon(view);
    if (find_seat(beacon, sender) != nullptr) {
        return Unexpected{TxError::kAlreadySeated};
    }
    TRY(check_free_stake(view, Role::kVerifier, sender, params.contributor_bond));
    if (beacon.seats.size() >= params.contributors_max && !giving_way(view, beacon, stake_of(view, sender))) {
        return Unexpected{TxError::kSeatsTaken};
    }
    return {};
}

Result<void, TxError> execute(Context& context, const JoinBeacon& action) noexcept {
    // BCN-1
    Beacon beacon = get_beacon(context.state);
    if (beacon.seats.size() >= context.params.contributors_max) {
        vacate(context, beacon, giving_way(context.state, beacon, stake_of(context.state, context.actor)).value());
    }
    const Amount bond = context.params.contributor_bond;
    lock_stake(context, Role::kVerifier, context.actor, bond);
    beacon.seats.insert(
        place_of(beacon.seats, context.actor), {context.actor, action.commitment, context.height(), bond}
    );
    set_beacon(context.state, beacon);
    return {};
}

// --- contribute ----------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const Contribute& /*action*/) noexcept { return {}; }

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const Contribute& action
) noexcept {
    // BCN-6
    const Beacon beacon = get_beacon(view);
    const Seat* seat = find_seat(beacon, sender);
    if (seat == nullptr) {
        return Unexpected{TxError::kNotSeated};
    }
    if (!is_due(beacon, *seat)) {
        return Unexpected{TxError::kNotDue};
    }
    if (seat->commitment != beacon_commitment(sender, action.secret)) {
        return Unexpected{TxError::kSecretMismatch};
    }
    return {};
}

Result<void, TxError> execute(Context& context, const Contribute& action) noexcept {
    // BCN-6
    Beacon beacon = get_beacon(context.state);
    Seat& seat = *place_of(beacon.seats, context.actor);
    seat.commitment = action.next;
    seat.committed_at = context.height();
    auto& contributions = beacon.round.value().contributions;
    const auto place = std::find_if(contributions.begin(), contributions.end(), [&](const Contribution& other) {
        return context.actor < other.account;
    });
    contributions.insert(place, {context.actor, action.secret});
    set_beacon(context.state, beacon);
    return {};
}

// --- leave ---------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const LeaveBeacon& /*action*/) noexcept { return {}; }

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const LeaveBeacon& /*action*/
) noexcept {
    // BCN-2
    const Beacon beacon = get_beacon(view);
    const Seat* seat = find_seat(beacon, sender);
    if (seat == nullptr) {
        return Unexpected{TxError::kNotSeated};
    }
    if (is_due(beacon, *seat)) {
        return Unexpected{TxError::kContributionDue};
    }
    return {};
}

Result<void, TxError> execute(Context& context, const LeaveBeacon& /*action*/) noexcept {
    // BCN-2
    Beacon beacon = get_beacon(context.state);
    vacate(context, beacon, context.actor);
    set_beacon(context.state, beacon);
    return {};
}

std::vector<history::Withheld> dismiss_withholders(Context& context, Beacon& beacon) {
    std::vector<history::Withheld> out;
    std::vector<Seat> kept;
    beacon.withheld.clear();
    for (const Seat& seat : beacon.seats) {
        if (!is_due(beacon, seat)) {
            kept.push_back(seat);
            continue;
        }
        const Amount penalty = tenth_of(seat.bond);
        Stake stake = get_stake(context.state, Role::kVerifier, seat.account);
        stake.locked = subtract(stake.locked, seat.bond);
        stake.free = add(stake.free, subtract(seat.bond, penalty));
        put_stake(context, Role::kVerifier, seat.account, stake);
        burn(context.state, penalty);
        beacon.withheld.push_back(seat.account);
        out.push_back({seat.account, penalty});
    }
    beacon.seats = std::move(kept);
    return out;
}

bool can_close(const Context& context, const Beacon& beacon) {
    return context.height().value >= beacon.round->opened_at.value + context.params.contribute_blocks ||
           std::none_of(beacon.seats.begin(), beacon.seats.end(), [&](const Seat& seat) {
               return is_due(beacon, seat);
           });
}

}  // namespace assay::contracts
