// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/arbitration/ending.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/availability/availability.hpp>
#include <contracts/verification/verification.hpp>
#include <tests/unit/contracts/committees.hpp>

/// What goes on while a committee sits and after it: disputes, bonds of verdicts that stand, tasks that wait on.

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

constexpr std::uint64_t kTenth = kCoin / 10;  ///< of a verifier's bond
const Tamper kTamper{false, 4, 2, 2};

}  // namespace

TEST_CASE("TASK-11: while a dispute is open a committee's time does not end, and a block after the last it does") {
    const ToyRun fraud(kTamper);
    Params params = params_of_five();
    params.attest_blocks = 3;
    params.draw_blocks = 200;
    Chain chain(params);
    const TaskId id = unjudged_task(chain, 4);
    await_committee(chain, id);
    REQUIRE(chain.run(chain.whistleblower, OpenDispute{id, 2, Role::kWhistleblower}) == 0);
    const DisputeId dispute = dispute_id(id, 2, chain.whistleblower.id);
    chain.skip(params.attest_blocks);
    CHECK(is_sitting(chain.task(id)));
    CHECK(chain.task(id).deadline.value == 0);
    SUBCASE("nobody attests") {
        play_dispute(chain, dispute, honest(), fraud, chain.whistleblower);
        REQUIRE(find_dispute(chain.view, dispute)->state() == DisputeState::kUpheld);
        CHECK(is_sitting(chain.task(id)));
        CHECK(chain.task(id).deadline.value == chain.height.value + 1);
        chain.skip(1);
        CHECK(chain.task(id).committee->state == CommitteeState::kWithheld);
        CHECK(await_committee(chain, id).sitting == 2);
    }
    SUBCASE("its members attest meanwhile") {
        attest(chain, honest(), id);
        CHECK(chain.task(id).committee->state == CommitteeState::kAvailable);
        CHECK(chain.task(id).deadline.value == chain.height.value + params.draw_blocks);
        CHECK_FALSE(get_bookkeeping(chain.view, id).suspended);
        play_dispute(chain, dispute, honest(), fraud, chain.whistleblower);
        CHECK(find_dispute(chain.view, dispute)->state() == DisputeState::kUpheld);
    }
}

TEST_CASE("VER-22: when the windows are over verdicts that stand have their bonds back, and are challenged no more") {
    const ToyRun fraud(kTamper);
    Params params = params_of_five();
    params.segments_checked = 4;
    params.challenge_blocks = 40;
    params.disclose_blocks = 20;
    Chain chain(params);
    chain.add_verifiers(5);
    const TaskId id = complete_toy_task(chain, fraud);
    chain.skip(1);
    for (const Assignment& assignment : chain.task(id).assignments) {
        if (assignment.segment != 0) {
            const Hash256 root = fraud.checkpoint_root(assignment.segment);
            REQUIRE(chain.commit(chain.actor_of(assignment.verifier), id, assignment.segment, root) == 0);
        }
    }
    while (chain.task(id).lottery.is_zero()) {
        chain.skip(1);
    }
    chain.publish_all(id);
    chain.end_windows(id);
    REQUIRE(open_segments(chain.task(id)) == std::vector<std::uint32_t>{0});
    CHECK(locked_of_verifiers(chain) == kTenth);  // of who was silent for the initialisation (AVL-8)
    CHECK(chain.task(id).lane == 0);
    redraw(chain, id, fraud);
    const auto assignments = chain.task(id).assignments;
    const auto accepting =
        std::find_if(assignments.begin(), assignments.end(), [](const Assignment& each) { return each.segment == 2; });
    REQUIRE(is_released(*accepting));
    CHECK(accepting->status == VerdictStatus::kAccepted);
    const ChallengeVerdict challenge{id, 2, accepting->verifier, Role::kWhistleblower};
    CHECK(chain.fail(chain.whistleblower, challenge) == TxError::kPhase);
    // DTY-6: what its verifier disputes has no place in the task any more, as its bond has not.
    Dispute late;
    late.segment = 2;
    late.challenger = accepting->verifier;
    CHECK_FALSE(has_place(chain.view, chain.task(id), late));
    SUBCASE("the task settles and pays them") {
        chain.commit_all(id);
        chain.publish_all(id);
        chain.end_windows(id);
        REQUIRE(chain.task(id).state == TaskState::kSettled);
        CHECK(chain.paid(id, Reason::kVerificationFee) == std::vector(4, 3 * kCoin / 4));
    }
    SUBCASE("SET-2: whose segment is refuted after that earns nothing and loses nothing") {
        REQUIRE(chain.run(chain.whistleblower, OpenDispute{id, 2, Role::kWhistleblower}) == 0);
        play_dispute(chain, dispute_id(id, 2, chain.whistleblower.id), fraud, honest(), chain.whistleblower);
        REQUIRE(chain.task(id).state == TaskState::kConvicted);
        CHECK(chain.slashed(id, Reason::kWrongVerdict).empty());
        CHECK(chain.paid(id, Reason::kVerificationFee) == std::vector(2, 3 * kCoin / 2));
        CHECK(locked_of_verifiers(chain) == 0);
    }
}

TEST_CASE("VER-7.4: after a committee too a task that lacks nothing but free stake waits on") {
    Params params = params_of_five();
    params.commit_blocks = 400;
    Chain chain(params);
    const TaskId id = unjudged_task(chain, 0);  // there is one verifier
    chain.add_verifiers(1, {3 * kCoin});        // the other has not the four for both segments yet
    await_committee(chain, id);
    attest(chain, honest(), id);
    REQUIRE(chain.task(id).committee->state == CommitteeState::kAvailable);
    REQUIRE(chain.run(chain.verifier, Unbond{Role::kVerifier, chain.stake(Role::kVerifier, chain.verifier).free}) == 0);
    TaskSpec spec = make_spec();
    spec.training_blocks = 200;
    const TaskId rival = chain.start_task(spec);
    chain.post_checkpoints(rival, {hash_of("0"), hash_of("1"), hash_of("2"), hash_of("3")});
    REQUIRE(chain.task(id).state == TaskState::kCompleted);
    while (get_bookkeeping(chain.view, id).draws < 6) {
        chain.skip(1);  // TASK-18: a pause of 32 blocks begins
    }
    REQUIRE(chain.run(chain.stranger, Transfer{chain.others[0].id, {kCoin}}) == 0);
    REQUIRE(chain.run(chain.others[0], Bond{Role::kVerifier, {kCoin}}) == 0);
    REQUIRE(chain.run(chain.solver, CompleteTask{rival}) == 0);
    chain.skip(5 * params.draw_blocks);
    REQUIRE(chain.task(rival).state == TaskState::kVerifying);
    CHECK(chain.stake(Role::kVerifier, chain.others[0]).free == Amount{});
    CHECK(chain.task(id).state == TaskState::kCompleted);
    chain.commit_all(rival);
    chain.publish_all(rival);
    chain.end_windows(rival);
    REQUIRE(chain.task(rival).state == TaskState::kSettled);
    for (int i = 0; i < 300 && chain.task(id).state == TaskState::kCompleted; ++i) {
        chain.skip(1);
    }
    CHECK(chain.task(id).state == TaskState::kVerifying);
    CHECK(chain.task(id).redraws == 1);
}

TEST_CASE("AVL-8, VER-7.5: a tenth is held for as long as a committee is waited for at first, and never for ever") {
    Params params = params_of_five();
    params.verifier_bond_bps =
        10'000;  // so that the tenth of a bond is more than the least bond, and its verifier in the registry
    Chain chain(params);
    const TaskId id = unjudged_task(chain, 0);
    const auto withdraw = [&chain] {
        const Amount free = chain.stake(Role::kVerifier, chain.verifier).free;
        REQUIRE(chain.run(chain.verifier, Unbond{Role::kVerifier, free}) == 0);
    };
    withdraw();  // nobody is left to sit on a committee, but for what is held
    REQUIRE(locked_of_verifiers(chain) == 2 * 23 * kTenth);
    for (int i = 0; i < 400 && locked_of_verifiers(chain) != 0; ++i) {
        chain.skip(1);
    }
    CHECK(locked_of_verifiers(chain) == 0);
    CHECK(chain.slashed(id, Reason::kMissedVerdict).empty());
    REQUIRE(chain.task(id).state == TaskState::kCompleted);
    withdraw();
    chain.skip(400);
    CHECK(chain.task(id).state == TaskState::kExpired);
}
