// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

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

TEST_CASE("BCN-9: a draw that fails is made again with the next round") {
    Chain chain(beacon_params());
    const TaskId id = complete_without_verifiers(chain);
    chain.skip(1);
    REQUIRE(beacon_of(chain).round.has_value());
    REQUIRE(chain.run(chain.verifier, Bond{Role::kVerifier, {100 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.submitter, contribute(chain.submitter)) == 0);
    CHECK(chain.task(id).state == TaskState::kCompleted);  // the verifier came after the round had opened
    chain.skip(chain.params.redraw_blocks + 1);            // TASK-18, BCN-4
    REQUIRE(beacon_of(chain).round.has_value());
    REQUIRE(chain.run(chain.submitter, contribute(chain.submitter, 1)) == 0);
    CHECK(chain.task(id).state == TaskState::kVerifying);
}

TEST_CASE("BCN-9: a task whose deadline passes while a round is open has that draw, and expires when it fails") {
    Params params = beacon_params();
    params.contribute_blocks = 2;
    params.draw_blocks = 6;
    Chain chain(params);
    const TaskId id = complete_without_verifiers(chain);
    chain.skip(1);
    REQUIRE(chain.run(chain.submitter, contribute(chain.submitter)) == 0);
    chain.skip(2);  // TASK-18: drawn for again
    REQUIRE(beacon_of(chain).round.has_value());
    chain.skip(2);  // its deadline, and the end of the round
    CHECK(chain.task(id).state == TaskState::kExpired);
    CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == 100 * kCoin);

    // Without a round that is open the deadline is the end.
    Chain alone(params);
    const TaskId lone = trained_task(alone);
    REQUIRE(alone.run(alone.solver, CompleteTask{lone}) == 0);
    alone.skip(5);
    CHECK(alone.task(lone).state == TaskState::kCompleted);
    alone.skip(1);
    CHECK(alone.task(lone).state == TaskState::kExpired);
}

TEST_CASE("VER-7.3: a draw that fails ends no task while a dispute over it is open") {
    Params params = beacon_params();
    params.contribute_blocks = 2;
    params.draw_blocks = 6;
    for (const bool answers : {false, true}) {
        CAPTURE(answers);
        Chain chain(params);
        REQUIRE(chain.run(chain.whistleblower, Bond{Role::kWhistleblower, {10 * kCoin}}) == 0);
        const TaskId id = complete_without_verifiers(chain);
        REQUIRE(chain.run(chain.whistleblower, OpenDispute{id, 1, Role::kWhistleblower}) == 0);
        const DisputeId dispute = dispute_id(id, 1, chain.whistleblower.id);
        if (answers) {
            const std::vector<Hash256> ends{hash_of("a"), hash_of("b"), hash_of("c"), hash_of("1")};
            REQUIRE(chain.run(chain.solver, RevealMove{dispute, 0, ends}) == 0);
        }
        chain.skip(params.draw_blocks);
        CHECK(chain.task(id).state == TaskState::kCompleted);
        CHECK(chain.task(id).deadline == Height{});
        chain.skip(params.dispute_clock_blocks - params.draw_blocks);
        if (!answers) {
            CHECK(chain.task(id).state == TaskState::kConvicted);
            CHECK(chain.slashed(id, Reason::kDisputeTimeout).size() == 1);
            continue;
        }
        // The challenger was silent, and the task had waited for long enough.
        CHECK(find_dispute(chain.view, dispute)->state() == DisputeState::kUpheld);
        chain.skip(2 * params.dispute_clock_blocks);  // TASK-18: the next draw
        CHECK(chain.task(id).state == TaskState::kExpired);
        CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == 100 * kCoin);
    }
}

TEST_CASE("VER-7.3: a draw that fails ends no task whose dispute began when its deadline had passed") {
    Params params = beacon_params();
    params.contribute_blocks = 4;
    params.draw_blocks = 10;
    Chain chain(params);
    REQUIRE(chain.run(chain.whistleblower, Bond{Role::kWhistleblower, {10 * kCoin}}) == 0);
    const TaskId id = complete_without_verifiers(chain);
    const std::uint64_t deadline = chain.task(id).deadline.value;
    for (int number = 0; chain.height.value < deadline;) {
        const auto round = beacon_of(chain).round;
        if (round && round->opened_at.value + params.contribute_blocks <= deadline) {
            REQUIRE(chain.run(chain.submitter, contribute(chain.submitter, number++)) == 0);
        } else {
            chain.skip(1);
        }
    }
    REQUIRE(chain.task(id).state == TaskState::kCompleted);
    REQUIRE(chain.task(id).deadline == Height{});
    REQUIRE(beacon_of(chain).round.has_value());
    REQUIRE(chain.run(chain.whistleblower, OpenDispute{id, 1, Role::kWhistleblower}) == 0);
    chain.skip(params.contribute_blocks);
    CHECK(beacon_of(chain).withheld == std::vector{chain.submitter.id});  // that round is over, and its draw has failed
    CHECK(chain.task(id).state == TaskState::kCompleted);
    chain.skip(params.dispute_clock_blocks);
    CHECK(chain.task(id).state == TaskState::kConvicted);
}
