// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <variant>

#include <core/crypto/hash.hpp>
#include <verifier/roles/contributor.hpp>

using namespace assay;
using namespace assay::roles;
using contracts::Beacon;
using contracts::Contribute;
using contracts::JoinBeacon;
using contracts::LeaveBeacon;

namespace {

crypto::SecretKey key_of(std::uint8_t number) {
    std::array<std::uint8_t, 32> secret{};
    secret[31] = number;
    return crypto::SecretKey::from_bytes(secret).value();
}

/// A contributor against a beacon that does as the chain would.
struct Desk {
    crypto::SecretKey key = key_of(1);
    AccountId self = key.account();
    std::string chain_id = "test-1";
    contracts::Params params{};
    Beacon beacon{};
    Amount free{100'000'000'000};
    std::uint64_t height = 1;

    Desk() { params.contributor_bond = {10'000'000'000}; }
    ContributorView view(bool wants_seat = true) const {
        return {
            .self = self,
            .key = key,
            .chain_id = chain_id,
            .beacon = beacon,
            .params = params,
            .free_stake = free,
            .wants_seat = wants_seat};
    }
    void join(const Hash256& commitment) { beacon.seats = {{self, commitment, {height}, params.contributor_bond}}; }
    void open() { beacon.round = contracts::Round{.opened_at = {++height}, .block_hash = {}, .contributions = {}}; }
    void close() {
        beacon.round.reset();
        ++beacon.rounds;
        ++height;
    }
};

}  // namespace

TEST_CASE("a contributor joins once it has the stake, and leaves when it is not wanted") {
    Desk desk;
    desk.free = {11'000'000'000};  // enough for the seat, and for no segment besides
    CHECK_FALSE(decide_contributor(desk.view()).has_value());
    desk.free = {12'000'000'000};
    const auto joins = decide_contributor(desk.view());
    REQUIRE(joins.has_value());
    desk.join(std::get<JoinBeacon>(*joins).commitment);
    CHECK_FALSE(decide_contributor(desk.view()).has_value());
    CHECK(std::holds_alternative<LeaveBeacon>(decide_contributor(desk.view(false)).value()));
    Desk other;
    CHECK_FALSE(decide_contributor(other.view(false)).has_value());
    other.params.contributors_max = 0;
    CHECK_FALSE(decide_contributor(other.view()).has_value());
}

TEST_CASE("a contributor finds its secret again from its key, round after round, and shows none twice") {
    Desk desk;
    desk.beacon.rounds = 3;
    desk.join(commit_next(desk.self, desk.key, desk.chain_id, desk.beacon));
    desk.beacon.rounds = 9;  // rounds went by before the block that took it
    std::set<Hash256> shown;
    for (int i = 0; i < 5; ++i) {
        desk.open();
        const auto action = decide_contributor(desk.view(i != 4));
        REQUIRE(action.has_value());
        const auto& sent = std::get<Contribute>(*action);
        CHECK(contracts::beacon_commitment(desk.key.account(), sent.secret) == desk.beacon.seats.front().commitment);
        CHECK(shown.insert(sent.secret).second);
        desk.join(sent.next);
        CHECK(std::holds_alternative<LeaveBeacon>(decide_contributor(desk.view(false)).value()));
        if (i == 2) {
            desk.join(commit_next(desk.self, desk.key, desk.chain_id, desk.beacon));  // left, and joined again at once
        }
        desk.close();
    }
    CHECK(contribution_secret(desk.key, "test-1", 5) != contribution_secret(desk.key, "test-2", 5));
    CHECK(contribution_secret(desk.key, "test-1", 5) != contribution_secret(key_of(2), "test-1", 5));
}

TEST_CASE("a seat that somebody else committed for is seen, and nothing is sent for it") {
    Desk desk;
    desk.join(crypto::sha256(as_bytes("another's")));
    CHECK_FALSE(is_estranged(desk.view()));
    desk.open();
    CHECK(is_estranged(desk.view()));
    CHECK_FALSE(decide_contributor(desk.view()).has_value());
}
