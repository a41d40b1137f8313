// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/beacon/contributing.hpp>
#include <contracts/beacon/rounds.hpp>
#include <contracts/chain/invariants.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/beacon/draw.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <tests/unit/contracts/contributors.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

TEST_CASE("BCN-1: to join locks the contributor's bond of free verifier stake") {
    Chain chain(beacon_params());
    CHECK(chain.fail(chain.verifier, join(chain.verifier)) == TxError::kInsufficientStake);
    seat(chain, chain.verifier);
    CHECK(chain.stake(Role::kVerifier, chain.verifier).locked.grains == kBond);
    const Seat taken{chain.verifier.id, commitment_of(chain.verifier, 0), chain.height, {kBond}};
    CHECK(beacon_of(chain).seats == std::vector{taken});
    CHECK(chain.fail(chain.verifier, join(chain.verifier, 1)) == TxError::kAlreadySeated);
    CHECK(commitment_of(chain.verifier, 0) != beacon_commitment(chain.stranger.id, secret_of(chain.verifier, 0)));
}

TEST_CASE("BCN-2: who owes no secret may leave and has its bond back") {
    Chain chain(beacon_params());
    CHECK(chain.fail(chain.verifier, LeaveBeacon{}) == TxError::kNotSeated);
    seat(chain, chain.verifier);
    CHECK(chain.run(chain.verifier, LeaveBeacon{}) == 0);
    CHECK(beacon_of(chain).seats.empty());
    CHECK(chain.stake(Role::kVerifier, chain.verifier).locked.grains == 0);

    Chain other(beacon_params());
    open_round(other, {&other.verifier, &other.stranger});
    CHECK(other.fail(other.verifier, LeaveBeacon{}) == TxError::kContributionDue);
    REQUIRE(other.run(other.verifier, contribute(other.verifier)) == 0);
    CHECK(other.run(other.verifier, LeaveBeacon{}) == 0);
    CHECK(beacon_of(other).round->contributions.size() == 1);  // its secret stays
}

TEST_CASE("BCN-3: when the seats are taken more stake wins one from less") {
    Params params = beacon_params();
    params.contributors_max = 2;
    Chain chain(params);
    seat(chain, chain.verifier, 100);
    seat(chain, chain.stranger, 50);
    REQUIRE(chain.run(chain.whistleblower, Bond{Role::kVerifier, {50 * kCoin}}) == 0);
    CHECK(chain.fail(chain.whistleblower, join(chain.whistleblower)) == TxError::kSeatsTaken);
    REQUIRE(chain.run(chain.whistleblower, Bond{Role::kVerifier, {1}}) == 0);
    CHECK(chain.run(chain.whistleblower, join(chain.whistleblower)) == 0);
    CHECK(find_seat(beacon_of(chain), chain.stranger.id) == nullptr);
    CHECK(chain.stake(Role::kVerifier, chain.stranger).locked.grains == 0);

    // Not from one that owes a secret: it could let an accomplice take its seat instead of paying.
    Chain late(params);
    open_round(late, {&late.verifier, &late.stranger});
    REQUIRE(late.run(late.whistleblower, Bond{Role::kVerifier, {800 * kCoin}}) == 0);
    CHECK(late.fail(late.whistleblower, join(late.whistleblower)) == TxError::kSeatsTaken);
    REQUIRE(late.run(late.stranger, contribute(late.stranger)) == 0);
    CHECK(late.run(late.whistleblower, join(late.whistleblower)) == 0);

    params.contributors_max = 0;  // a chain without contributors
    Chain none(params);
    REQUIRE(none.run(none.verifier, Bond{Role::kVerifier, {100 * kCoin}}) == 0);
    CHECK(none.fail(none.verifier, join(none.verifier)) == TxError::kSeatsTaken);
}

TEST_CASE("BCN-4: what a round draws from is fixed when it opens") {
    Chain chain(beacon_params());
    const TaskId id = open_round(chain, {&chain.verifier, &chain.stranger});
    CHECK(beacon_of(chain).round->block_hash == hash_of("block " + std::to_string(chain.height.value)));
    CHECK(beacon_of(chain).round->opened_at == chain.height);
    REQUIRE(chain.run(chain.verifier, contribute(chain.verifier)) == 0);
    Chain calm = chain;
    REQUIRE(calm.run(calm.stranger, contribute(calm.stranger)) == 0);
    const auto drawn = drawn_for(calm, id);
    REQUIRE(drawn.size() == 2);
    // Who knows every secret can still move stake, or say what its machine is. It changes nothing.
    for (std::uint64_t coins = 1; coins <= 20; ++coins) {
        Chain moved = chain;
        moved.run_block(
            {moved.make_tx(moved.whistleblower, Bond{Role::kVerifier, {coins * kCoin}}),
             moved.make_tx(moved.solver, RegisterTerms{Role::kSolver, {1}, coins}),
             moved.make_tx(moved.verifier, RegisterTerms{Role::kVerifier, {1}, coins}),
             moved.make_tx(moved.stranger, contribute(moved.stranger))}
        );
        CHECK(drawn_for(moved, id) == drawn);
    }
}

TEST_CASE("BCN-4: a task that begins to wait while a round is open waits for the next") {
    Chain chain(beacon_params());
    const std::vector<TaskId> ids{trained_task(chain), trained_task(chain)};
    seat(chain, chain.verifier);
    REQUIRE(chain.run(chain.solver, CompleteTask{ids[0]}) == 0);
    REQUIRE(chain.run(chain.solver, CompleteTask{ids[1]}) == 0);
    REQUIRE(beacon_of(chain).round.has_value());
    REQUIRE(chain.run(chain.verifier, contribute(chain.verifier)) == 0);
    CHECK(chain.task(ids[0]).state == TaskState::kVerifying);
    CHECK(chain.task(ids[1]).state == TaskState::kCompleted);
    // Nor does the next open in the block that closed one: nobody would be due in it, and its hash alone would decide.
    CHECK_FALSE(beacon_of(chain).round.has_value());
    chain.skip(1);
    CHECK(beacon_of(chain).round->opened_at == chain.height);
    CHECK(is_due(beacon_of(chain), beacon_of(chain).seats.front()));
    REQUIRE(chain.run(chain.verifier, contribute(chain.verifier, 1)) == 0);
    CHECK(chain.task(ids[1]).state == TaskState::kVerifying);
}

TEST_CASE("BCN-5: a round closes with the last secret that is due, or after contribute_blocks") {
    Chain chain(beacon_params());
    const TaskId id = open_round(chain, {&chain.verifier, &chain.stranger});
    Chain late = chain;
    REQUIRE(chain.run(chain.verifier, contribute(chain.verifier)) == 0);
    CHECK(chain.task(id).state == TaskState::kCompleted);
    REQUIRE(chain.run(chain.stranger, contribute(chain.stranger)) == 0);
    CHECK(chain.task(id).state == TaskState::kVerifying);
    CHECK(chain.task(id).deadline == Height{chain.height.value + chain.params.commit_blocks});
    CHECK_FALSE(beacon_of(chain).round.has_value());
    CHECK(beacon_of(chain).seats.size() == 2);

    late.skip(late.params.contribute_blocks - 1);
    CHECK(late.task(id).state == TaskState::kCompleted);
    late.skip(1);
    CHECK(late.task(id).state == TaskState::kVerifying);
}

TEST_CASE("BCN-5: a commitment of the block that opens a round is for the next one") {
    Chain chain(beacon_params());
    REQUIRE(chain.run(chain.verifier, Bond{Role::kVerifier, {20 * kCoin}}) == 0);
    const TaskId id = chain.complete_task();
    const std::uint64_t rounds = beacon_of(chain).rounds;
    REQUIRE(chain.run(chain.verifier, join(chain.verifier)) == 0);
    CHECK(chain.task(id).state == TaskState::kVerifying);  // nobody was due
    CHECK(beacon_of(chain).rounds == rounds + 1);
}

TEST_CASE("BCN-6: a contribution opens what its seat committed to, once, while it is due") {
    Chain chain(beacon_params());
    seat(chain, chain.verifier);
    CHECK(chain.fail(chain.verifier, contribute(chain.verifier)) == TxError::kNotDue);
    CHECK(chain.fail(chain.stranger, contribute(chain.stranger)) == TxError::kNotSeated);
    Chain open(beacon_params());
    open_round(open, {&open.verifier, &open.stranger});
    CHECK(open.fail(open.verifier, contribute(open.verifier, 1)) == TxError::kSecretMismatch);
    REQUIRE(open.run(open.verifier, contribute(open.verifier)) == 0);
    CHECK(open.fail(open.verifier, contribute(open.verifier, 1)) == TxError::kNotDue);
    CHECK(find_seat(beacon_of(open), open.verifier.id)->commitment == commitment_of(open.verifier, 1));
}

TEST_CASE("BCN-7: the seed is made of the secrets in the order of accounts, whatever the order of arrival") {
    Chain chain(beacon_params());
    open_round(chain, {&chain.verifier, &chain.stranger});
    const Beacon before = beacon_of(chain);
    Chain other = chain;
    REQUIRE(chain.run(chain.verifier, contribute(chain.verifier)) == 0);
    REQUIRE(chain.run(chain.stranger, contribute(chain.stranger)) == 0);
    REQUIRE(other.run(other.stranger, contribute(other.stranger)) == 0);
    REQUIRE(other.run(other.verifier, contribute(other.verifier)) == 0);
    CHECK(beacon_of(chain).seed == beacon_of(other).seed);
    std::vector<Contribution> secrets{
        {chain.verifier.id, secret_of(chain.verifier, 0)}, {chain.stranger.id, secret_of(chain.stranger, 0)}};
    std::sort(secrets.begin(), secrets.end(), [](const auto& a, const auto& b) { return a.account < b.account; });
    const auto& tag = crypto::TaggedHash("assay/round");
    Bytes written = codec::encode(before.seed);
    append(written, codec::encode(before.rounds));
    append(written, codec::encode(before.round->block_hash));
    append(written, codec::encode(secrets));
    CHECK(beacon_of(chain).seed == tag(written));
    CHECK(beacon_of(chain).rounds == before.rounds + 1);
}

TEST_CASE("BCN-7: with one honest secret a proposer that tries 1000 hashes draws no better than chance") {
    // One of four alike is its accomplice. It has to choose the hash before it can know the secret.
    std::vector<Candidate> candidates;
    for (std::uint8_t i = 1; i <= 4; ++i) {
        candidates.push_back({make_actor(i).id, 100});
    }
    const auto draws_accomplice = [&](const Hash256& block_hash, const std::vector<Contribution>& secrets, int task) {
        const DrawName name{TaskId{hash_of(std::to_string(task)).data}, DrawKind::kVerifier, 1, 0};
        const Hash256 seed = round_seed({}, 7, block_hash, secrets);
        return draw_weighted(candidates, draw_randomness(seed, name)) == std::size_t{0};
    };
    constexpr int kTasks = 400;
    int alone = 0;
    int with_secret = 0;
    int last_of_two = 0;
    for (int task = 0; task < kTasks; ++task) {
        Hash256 chosen = hash_of("0");
        for (int i = 0; i < 1'000 && !draws_accomplice(chosen, {}, task); ++i) {
            chosen = hash_of(std::to_string(i));
        }
        const Contribution honest{make_actor(9).id, hash_of("secret " + std::to_string(task))};
        const Contribution own{make_actor(10).id, hash_of("own " + std::to_string(task))};
        alone += draws_accomplice(chosen, {}, task) ? 1 : 0;
        with_secret += draws_accomplice(chosen, {honest}, task) ? 1 : 0;
        // Who contributes last may withhold: the better of two draws, for a tenth of its bond (BCN-8).
        const bool any = draws_accomplice(chosen, {honest}, task) || draws_accomplice(chosen, {honest, own}, task);
        last_of_two += any ? 1 : 0;
    }
    CHECK(alone == kTasks);
    CHECK(with_secret > kTasks * 18 / 100);  // a quarter, within three and a half standard deviations
    CHECK(with_secret < kTasks * 32 / 100);
    CHECK(last_of_two > kTasks * 36 / 100);  // 1 - (3/4)^2
    CHECK(last_of_two < kTasks * 52 / 100);
}

TEST_CASE("BCN-8: who withholds its secret loses a tenth of the bond and the seat") {
    Chain chain(beacon_params());
    const TaskId id = open_round(chain, {&chain.verifier, &chain.stranger});
    const Stake before = chain.stake(Role::kVerifier, chain.stranger);
    const std::uint64_t burned = chain.burned();
    REQUIRE(chain.run(chain.verifier, contribute(chain.verifier)) == 0);
    chain.skip(chain.params.contribute_blocks - 1);
    const Beacon after = beacon_of(chain);
    CHECK(after.withheld == std::vector{chain.stranger.id});
    CHECK(find_seat(after, chain.stranger.id) == nullptr);
    CHECK(find_seat(after, chain.verifier.id) != nullptr);
    const Stake left = chain.stake(Role::kVerifier, chain.stranger);
    CHECK(before.free.grains + before.locked.grains - left.free.grains - left.locked.grains == kBond / 10);
    CHECK(chain.burned() - burned == kBond / 10);
    CHECK(chain.task(id).state == TaskState::kVerifying);
    const auto* closed = std::get_if<history::RoundClosed>(&chain.last.history.front().event);
    REQUIRE(closed != nullptr);
    REQUIRE(closed->withheld.size() == 1);
    CHECK(closed->withheld[0].contributor == chain.stranger.id);
    CHECK(closed->withheld[0].burned == Amount{kBond / 10});
    // The next round notes nobody.
    REQUIRE(chain.run(chain.verifier, LeaveBeacon{}) == 0);
    chain.complete_task();
    chain.skip(1);
    CHECK(beacon_of(chain).rounds == after.rounds + 2);  // of its solver, of its verifiers
    CHECK(beacon_of(chain).withheld.empty());
}

TEST_CASE("BCN-9: the lottery waits for a round, and publication for the lottery") {
    Chain chain(beacon_params());
    const TaskId id = open_round(chain, {&chain.verifier});
    REQUIRE(chain.run(chain.verifier, contribute(chain.verifier)) == 0);
    REQUIRE(chain.task(id).state == TaskState::kVerifying);
    chain.commit_all(id);
    CHECK(chain.task(id).lottery.is_zero());
    CHECK(chain.task(id).deadline == Height{});
    const std::uint32_t segment = chain.task(id).assignments[0].segment;
    const Hash256 root = hash_of(std::to_string(segment));
    CHECK(static_cast<TxError>(chain.publish(chain.verifier, id, segment, root)) == TxError::kPhase);
    REQUIRE(chain.run(chain.verifier, contribute(chain.verifier, 1)) == 0);
    CHECK(chain.task(id).lottery == beacon_of(chain).seed);
    CHECK(chain.task(id).deadline == Height{chain.height.value + chain.params.publish_blocks});
    CHECK(chain.publish(chain.verifier, id, segment, root) == 0);
}

TEST_CASE("BCN-10: who is drawn and cannot lock the bond any more is replaced by a second draw") {
    Chain chain(beacon_params());
    REQUIRE(chain.run(chain.verifier, Bond{Role::kVerifier, {100 * kCoin}}) == 0);
    const TaskId id = open_round(chain, {&chain.stranger});
    const Amount free = chain.stake(Role::kVerifier, chain.stranger).free;
    REQUIRE(chain.run(chain.stranger, Unbond{Role::kVerifier, free}) == 0);
    REQUIRE(chain.run(chain.stranger, contribute(chain.stranger)) == 0);
    REQUIRE(chain.task(id).state == TaskState::kVerifying);
    for (const auto& [segment, verifier] : drawn_for(chain, id)) {
        CHECK(verifier == chain.verifier.id);
    }
    // The weights stay those of the round, so that nobody else's draw changes.
    const std::vector<Candidate> candidates{{make_actor(1).id, 100}, {make_actor(2).id, 100}, {make_actor(3).id, 100}};
    for (std::uint32_t i = 0; i < 100; ++i) {
        const DrawName name{{}, DrawKind::kVerifier, 1, i};
        const auto all = draw_able(candidates, hash_of("seed"), name, [](const AccountId&) { return true; });
        const auto some = draw_able(candidates, hash_of("seed"), name, [](const AccountId& account) {
            return account != make_actor(2).id;
        });
        CHECK(*some != make_actor(2).id);
        CHECK((all == some || *all == make_actor(2).id));
    }
    CHECK_FALSE(draw_able(candidates, hash_of("s"), {}, [](const AccountId&) { return false; }).has_value());
}

TEST_CASE("BCN-11: solvers are drawn by a round, whose seed is not known when its block is made") {
    Chain chain(beacon_params());
    seat(chain, chain.verifier);
    REQUIRE(chain.run(chain.solver, Bond{Role::kSolver, {100 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.stranger, Bond{Role::kSolver, {60 * kCoin}}) == 0);
    const TaskId id = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
    REQUIRE(chain.run(chain.submitter, SubmitTask{make_spec()}) == 0);
    CHECK_FALSE(beacon_of(chain).round.has_value());  // BCN-4: from the next block on
    chain.skip(1);
    const Beacon open = beacon_of(chain);
    REQUIRE(open.round.has_value());
    CHECK(chain.task(id).state == TaskState::kOpen);
    const auto pool = read_pool(chain.view, Role::kSolver);
    REQUIRE(chain.run(chain.verifier, contribute(chain.verifier)) == 0);
    const Contribution secret{chain.verifier.id, secret_of(chain.verifier, 0)};
    const Hash256 seed = round_seed(open.seed, open.rounds, open.round->block_hash, {secret});
    const auto expected = draw_weighted(pool, draw_randomness(seed, {id, DrawKind::kSolver, 0, 0}));
    CHECK(chain.task(id).state == TaskState::kDrawn);
    CHECK(chain.task(id).solver == pool[expected.value()].account);
}

TEST_CASE("BCN-12: a task's history names each round that it was drawn by") {
    Chain chain(beacon_params());
    const TaskId id = open_round(chain, {&chain.verifier, &chain.stranger});
    REQUIRE(chain.run(chain.verifier, contribute(chain.verifier)) == 0);
    REQUIRE(chain.run(chain.stranger, contribute(chain.stranger)) == 0);
    const auto& event = chain.last.history.front().event;
    const auto* closed = std::get_if<history::RoundClosed>(&event);
    REQUIRE(closed != nullptr);
    CHECK(closed->round == beacon_of(chain).rounds - 1);
    CHECK(closed->seed == beacon_of(chain).seed);
    CHECK(closed->contributors == 2);
    CHECK(closed->withheld.empty());
    CHECK(chain.last.history.front().task == id);
}

TEST_CASE("INV-5: a seat's bond is stake that is locked") {
    Chain chain(beacon_params());
    seat(chain, chain.verifier);
    Overlay state = Overlay::over(chain.view);
    Beacon beacon = get_beacon(state);
    beacon.seats.clear();
    set_beacon(state, beacon);
    const auto verdict = check_invariants(chain.view, state.net_changes(), {});
    REQUIRE_FALSE(verdict.has_value());
    CHECK(verdict.error() == InvariantError::kLocked);
}

TEST_CASE("PAR-1.8: the beacon's parameters have their bounds") {
    Params params;
    params.contribute_blocks = 0;
    CHECK_FALSE(are_valid(params));
    params = {};
    params.contributor_bond = {};
    CHECK_FALSE(are_valid(params));
    params = {};
    params.contributors_max = kMaxContributors + 1;
    CHECK_FALSE(are_valid(params));
}

TEST_CASE("PAR-6: where jackpots are won, a contributor's bond leaves something of them") {
    Params params;
    params.contributor_bond = {59};  // 5 segments and an evaluation
    CHECK_FALSE(are_valid(params));
    params.watchers_per_verdict = 0;
    CHECK(are_valid(params));
    params.watchers_per_verdict = 1;
    params.forced_error_bps = 0;
    CHECK(are_valid(params));
    params.forced_error_bps = 1;
    params.contributor_bond = {60};
    CHECK(are_valid(params));
}
