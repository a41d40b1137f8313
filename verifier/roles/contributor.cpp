// SPDX-License-Identifier: Apache-2.0
#include <verifier/roles/contributor.hpp>

#include <algorithm>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/beacon/contributing.hpp>

namespace assay::roles {
namespace {

struct SecretName {
    std::string chain_id;
    std::uint64_t round = 0;
    static constexpr auto fields() { return Fields<&SecretName::chain_id, &SecretName::round>{}; }
};

/// How many rounds may pass between the making of a commitment and the block that takes it.
constexpr std::uint64_t kRoundsLate = 64;

std::uint64_t next_round(const contracts::Beacon& beacon) { return beacon.rounds + (beacon.round ? 1 : 0); }

std::optional<Hash256> secret_of(const ContributorView& view, const contracts::Seat& seat) {
    const std::uint64_t last = next_round(view.beacon);
    for (std::uint64_t back = 0; back <= std::min(last, kRoundsLate); ++back) {
        const Hash256 secret = contribution_secret(view.key, view.chain_id, last - back);
        if (contracts::beacon_commitment(seat.account, secret) == seat.commitment) {
            return secret;
        }
    }
    return std::nullopt;
}

bool can_join(const ContributorView& view) {
    const contracts::Params& params = view.params;
    std::uint64_t left = view.free_stake.grains;
    for (const Amount needed : {params.contributor_bond, params.verifier_bond, params.challenger_bond}) {
        if (left < needed.grains) {
            return false;
        }
        left -= needed.grains;
    }
    return view.beacon.seats.size() < params.contributors_max;
}

}  // namespace

Hash256 contribution_secret(const crypto::SecretKey& key, const std::string& chain_id, std::uint64_t round) {
    static const crypto::TaggedHash kTag("assay/contribution");
    return kTag(ByteView(key.bytes()), codec::encode(SecretName{chain_id, round}));
}

Hash256 commit_next(
    const AccountId& self, const crypto::SecretKey& key, const std::string& chain_id, const contracts::Beacon& beacon
) {
    return contracts::beacon_commitment(self, contribution_secret(key, chain_id, next_round(beacon)));
}

std::optional<contracts::Action> decide_contributor(const ContributorView& view) {
    const contracts::Seat* seat = contracts::find_seat(view.beacon, view.self);
    if (seat == nullptr) {
        return view.wants_seat && can_join(view) ? std::optional<contracts::Action>{contracts::JoinBeacon{
                                                       commit_next(view.self, view.key, view.chain_id, view.beacon)}}
                                                 : std::nullopt;
    }
    if (!contracts::is_due(view.beacon, *seat)) {
        return view.wants_seat ? std::nullopt : std::optional<contracts::Action>{contracts::LeaveBeacon{}};
    }
    const auto secret = secret_of(view, *seat);
    if (!secret) {
        return std::nullopt;
    }
    return contracts::Contribute{*secret, commit_next(view.self, view.key, view.chain_id, view.beacon)};
}

bool is_estranged(const ContributorView& view) {
    const contracts::Seat* seat = contracts::find_seat(view.beacon, view.self);
    return seat != nullptr && contracts::is_due(view.beacon, *seat) && !secret_of(view, *seat);
}

}  // namespace assay::roles
