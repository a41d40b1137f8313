// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <contracts/state/beacon.hpp>
#include <contracts/state/slots.hpp>
#include <tools/bench/chain_load.hpp>
#include <tools/bench/gas_scenes.hpp>

namespace assay::bench {
namespace {

using namespace contracts;

constexpr std::uint64_t kOthers = 2'000'000;  // accounts that only sit in the beacon
constexpr Height kOpened{2};

void add_seat(Beacon& beacon, const Seat& seat) {
    const auto place =
        std::lower_bound(beacon.seats.begin(), beacon.seats.end(), seat, [](const Seat& a, const Seat& b) {
            return a.account < b.account;
        });
    beacon.seats.insert(place, seat);
}

/// Seats of others with little stake, until there are `count`.
Beacon filled_beacon(Stage& stage, std::size_t count) {
    Beacon beacon = get_beacon(stage.state);
    while (beacon.seats.size() < count) {
        const AccountId other = account_numbered(kOthers + beacon.seats.size());
        const Amount bond = stage.params.contributor_bond;
        set_stake(stage.state, Role::kVerifier, other, Stake{.free = {}, .locked = bond, .unbonding = {}});
        add_seat(beacon, {other, hash_numbered("other", beacon.seats.size()), Height{kOpened.value + 1}, bond});
    }
    return beacon;
}

std::optional<Action> join_beacon(Stage& stage, const Player& /*player*/) {
    set_beacon(stage.state, filled_beacon(stage, stage.params.contributors_max));
    return JoinBeacon{hash_numbered("commitment", 0)};
}

/// Half of the seats are others', who have contributed.
std::optional<Action> contribute(Stage& stage, const Player& player) {
    Beacon beacon = filled_beacon(stage, stage.params.contributors_max / 2);
    if (!beacon.round) {
        beacon.round = Round{kOpened, hash_numbered("block", 0), {}};
        for (const Seat& seat : beacon.seats) {
            beacon.round->contributions.push_back({seat.account, hash_numbered("secret", 0)});
        }
    }
    const Hash256 secret = hash_numbered("secret", player.number);
    add_seat(beacon, {player.id, beacon_commitment(player.id, secret), Height{1}, stage.params.contributor_bond});
    set_beacon(stage.state, beacon);
    return Contribute{secret, hash_numbered("commitment", 0)};
}

std::optional<Action> leave_beacon(Stage& stage, const Player& player) {
    Beacon beacon = filled_beacon(stage, stage.params.contributors_max / 2);
    add_seat(beacon, {player.id, hash_numbered("commitment", 0), Height{1}, stage.params.contributor_bond});
    set_beacon(stage.state, beacon);
    return LeaveBeacon{};
}

}  // namespace

std::vector<Scene> beacon_scenes() {
    return {{"join_beacon", join_beacon}, {"contribute", contribute}, {"leave_beacon", leave_beacon}};
}

}  // namespace assay::bench
