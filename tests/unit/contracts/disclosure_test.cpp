// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/chain/duty.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/verification/lottery.hpp>
#include <contracts/verification/verification.hpp>
#include <tests/unit/contracts/challenges.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

/// A wrong result of step 4, the first of segment 2, which every later state inherits.
const Tamper kTamper{false, 4, 2, 2};

}  // namespace

TEST_CASE("VER-9: marks lie strictly inside a segment, one in each eighth and one before the last step") {
    Task task;
    task.spec = make_spec();
    task.spec.steps = task.spec.checkpoint_interval = 100;
    Assignment assignment;
    assignment.segment = 1;
    CHECK(marks_of(task, assignment) == std::vector<std::uint32_t>{12, 25, 37, 50, 62, 75, 87, 99});
    assignment.offset = 11;
    CHECK(marks_of(task, assignment) == std::vector<std::uint32_t>{11, 23, 36, 48, 61, 73, 86, 98, 99});
    CHECK(marks_of(task, assignment).size() == kMaxMarks);
    task.spec.steps = task.spec.checkpoint_interval = 2;
    assignment.offset = 0;
    CHECK(marks_of(task, assignment) == std::vector<std::uint32_t>{1});
    task.spec.steps = task.spec.checkpoint_interval = 1;
    CHECK(marks_of(task, assignment).empty());
    assignment.segment = 0;
    CHECK(marks_of(task, assignment).empty());
}

TEST_CASE("VER-10: a probe is drawn among the marks once every verdict is committed, and one step has none") {
    std::set<std::uint32_t> seen;
    for (std::uint64_t skipped = 0; skipped < 12; ++skipped) {
        Chain chain(all_checked());
        chain.skip(skipped);
        const TaskId id = chain.verifying_task();
        for (const Assignment& assignment : chain.task(id).assignments) {
            CHECK(assignment.probe == 0);
        }
        chain.commit_all(id);
        for (const Assignment& assignment : chain.task(id).assignments) {
            const auto marks = marks_of(chain.task(id), assignment);
            const bool is_mark = std::find(marks.begin(), marks.end(), assignment.probe) != marks.end();
            CHECK((assignment.segment == 0 ? assignment.probe == 0 : is_mark));
            if (assignment.segment == 1) {
                seen.insert(assignment.probe);
            }
        }
    }
    CHECK(seen == std::set<std::uint32_t>{1, 2, 3});
    Chain chain(all_checked());
    chain.bond_all();
    TaskSpec spec = make_spec();
    spec.steps = 3;
    spec.checkpoint_interval = 1;
    const TaskId id = chain.start_task(spec);
    chain.post_checkpoints(id, {hash_of("0"), hash_of("1"), hash_of("2"), hash_of("3")});
    CHECK(chain.run(chain.solver, CompleteTask{id}) == 0);
    chain.skip(1);
    chain.commit_all(id);
    for (const Assignment& assignment : chain.task(id).assignments) {
        CHECK(assignment.probe == 0);
    }
}

TEST_CASE("VER-9: the probe root is published exactly where there is a probe and the segment is accepted") {
    Chain chain(all_checked());
    const TaskId id = chain.verifying_task();
    chain.commit_all(id);
    const Hash256 probe = hash_of("probe");
    CHECK(chain.fail(chain.verifier, PublishVerdict{id, 0, {hash_of("0"), probe}}) == TxError::kProbeMismatch);
    CHECK(chain.fail(chain.verifier, PublishVerdict{id, 1, {hash_of("1"), {}}}) == TxError::kProbeMismatch);
    CHECK(chain.fail(chain.verifier, PublishVerdict{id, 1, {hash_of("other"), probe}}) == TxError::kProbeMismatch);
    CHECK(chain.run(chain.verifier, PublishVerdict{id, 0, {hash_of("0"), {}}}) == 0);
    CHECK(chain.run(chain.verifier, PublishVerdict{id, 1, {hash_of("1"), probe}}) == 0);
    CHECK(chain.run(chain.verifier, PublishVerdict{id, 2, {hash_of("other"), {}}}) == 0);
    CHECK(chain.task(id).assignments[1].probe_root == probe);
    CHECK(chain.task(id).assignments[2].status == VerdictStatus::kRejected);
}

TEST_CASE("VER-10: the lottery is the seed of the round after the commit phase") {
    Chain chain(all_checked());
    const TaskId id = chain.verifying_task();
    CHECK(chain.task(id).lottery.is_zero());
    chain.commit_all(id);
    CHECK(chain.task(id).lottery == get_beacon(chain.view).seed);
    Chain late(all_checked());
    const TaskId other = late.verifying_task();
    CHECK(late.commit(late.verifier, other, 1, hash_of("1")) == 0);
    late.skip(late.params.commit_blocks);
    CHECK_FALSE(late.task(other).lottery.is_zero());
}

TEST_CASE("VER-11: how often a verdict is forced is the parameter's share, and the salt decides") {
    Task task;
    task.lottery = hash_of("lottery");
    Assignment assignment;
    assignment.segment = 1;
    task.spec = make_spec();
    assignment.probe = 2;
    VerdictOpening opening{{hash_of("r"), {}}, {hash_of("p"), hash_of("q"), hash_of("o")}, hash_of("d"), {}};
    int forced = 0;
    for (int i = 0; i < 2'000; ++i) {
        opening.salt = hash_of(std::to_string(i));
        forced += is_forced(task, assignment, opening, 2'500) ? 1 : 0;
        CHECK_FALSE(is_forced(task, assignment, opening, 0));
        CHECK(is_forced(task, assignment, opening, 10'000));
    }
    CHECK(forced > 420);
    CHECK(forced < 580);
    CHECK(published_verdict(task, assignment, opening, false) == Verdict{hash_of("r"), hash_of("q")});
    CHECK(published_verdict(task, assignment, opening, true) == Verdict{hash_of("r"), hash_of("d")});
    opening.marks.clear();
    CHECK(published_verdict(task, assignment, opening, true) == opening.verdict);
    CHECK_FALSE(is_forced(task, assignment, opening, 10'000));
}

TEST_CASE("VER-12: watchers are whistleblowers with a bond to spare, and none of the task's own people") {
    Params params = all_checked();
    params.watchers_per_verdict = 3;
    Chain chain(params);
    for (const Actor* actor : {&chain.solver, &chain.submitter, &chain.verifier, &chain.stranger}) {
        CHECK(chain.run(*actor, Bond{Role::kWhistleblower, {50 * kCoin}}) == 0);
    }
    const TaskId id = chain.verifying_task();
    CHECK(chain.task(id).assignments[1].watchers.empty());
    chain.commit_all(id);
    for (const Assignment& assignment : chain.task(id).assignments) {
        const auto& watchers = assignment.watchers;
        REQUIRE(watchers.size() == (assignment.probe == 0 ? 0U : 2U));
        if (assignment.probe != 0) {
            CHECK(
                std::set<AccountId>(watchers.begin(), watchers.end()) ==
                std::set<AccountId>{chain.whistleblower.id, chain.stranger.id}
            );
        }
    }
    CHECK(chain.stake(Role::kWhistleblower, chain.whistleblower).locked.grains == 0);
}

TEST_CASE("VER-13: verdicts are disclosed after the challenge window, once, and then the task settles") {
    const ToyRun honest;
    Chain chain(all_checked());
    const TaskId id = published_task(chain, honest, honest);
    CHECK(as_error(disclose(chain, id, 1)) == TxError::kPhase);
    chain.skip(chain.params.challenge_blocks);
    CHECK(chain.task(id).state == TaskState::kDisclosure);
    CHECK(disclose(chain, id, 1) == 0);
    CHECK(as_error(disclose(chain, id, 1)) == TxError::kAlreadyDisclosed);
    CHECK(chain.task(id).assignments[1].forced == false);
    CHECK(chain.fail(chain.whistleblower, ChallengeVerdict{id, 2, chain.verifier.id}) == TxError::kTaskState);
    chain.disclose_all(id);
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.paid(id, Reason::kVerificationFee).size() == 4);
    CHECK(chain.stake(Role::kVerifier, chain.verifier).free.grains == 100 * kCoin);
}

TEST_CASE("VER-5: who does not disclose loses a tenth of the bond and earns no fee") {
    const ToyRun honest;
    Chain chain(all_checked());
    const TaskId id = published_task(chain, honest, honest);
    chain.skip(chain.params.challenge_blocks);
    CHECK(disclose(chain, id, 1) == 0);
    chain.skip(chain.params.disclose_blocks);
    CHECK(chain.slashed(id, Reason::kMissedVerdict) == std::vector<std::uint64_t>(3, kCoin / 10));
    CHECK(chain.task(id).assignments[2].status == VerdictStatus::kMissed);
    CHECK(chain.task(id).state == TaskState::kCompleted);  // AVL-7: three segments wait for other verifiers
    CHECK(chain.paid(id, Reason::kVerificationFee).empty());
}

TEST_CASE("VER-14: a verdict that was published otherwise than committed loses the whole bond") {
    const ToyRun honest;
    for (const std::uint32_t bps : {0U, 10'000U}) {
        CAPTURE(bps);
        Chain chain(all_checked(bps));
        const TaskId id = complete_toy_task(chain, honest);
        chain.skip(1);
        chain.commit_all(id);
        // A copy of somebody's probe root, or the true one where the lottery demands the decoy.
        const Hash256 end = honest.checkpoint_root(1);
        const Hash256 shown = bps == 0 ? hash_of("copied") : hash_of("probe");
        CHECK(chain.run(chain.verifier, PublishVerdict{id, 1, {end, shown}}) == 0);
        CHECK(chain.publish(chain.verifier, id, 0, honest.checkpoint_root(0)) == 0);
        CHECK(chain.publish(chain.verifier, id, 2, honest.checkpoint_root(2)) == 0);
        CHECK(chain.publish(chain.verifier, id, 3, honest.checkpoint_root(3)) == 0);
        chain.skip(chain.params.challenge_blocks);
        CHECK(chain.disclose(chain.verifier, id, 1, end) == 0);
        CHECK(chain.task(id).assignments[1].status == VerdictStatus::kBroken);
        auto opening = chain.opening(chain.verifier, id, 2, honest.checkpoint_root(2));
        opening.salt = hash_of("pepper");
        CHECK(chain.run(chain.verifier, DiscloseVerdict{id, 2, opening}) == 0);
        CHECK(chain.slashed(id, Reason::kBrokenCommitment) == std::vector<std::uint64_t>(2, kCoin));
        CHECK(chain.burned() == 2 * kCoin);
        chain.end_windows(id);
        chain.disclose_all(id);
        chain.end_windows(id);
        CHECK(open_segments(chain.task(id)) == std::vector<std::uint32_t>{1, 2});  // AVL-7
        CHECK(chain.task(id).state == TaskState::kCompleted);
        CHECK(chain.paid(id, Reason::kVerificationFee).empty());
    }
}

TEST_CASE("VER-14: a decoy that is the true root is none") {
    const ToyRun honest;
    Chain chain(all_checked(10'000));
    chain.probe_root = [](std::uint32_t, std::uint32_t) { return hash_of("decoy"); };
    const TaskId id = complete_toy_task(chain, honest);
    chain.skip(1);
    chain.commit_all(id);
    chain.publish_all(id);
    chain.skip(chain.params.challenge_blocks);
    CHECK(disclose(chain, id, 1) == 0);
    CHECK(chain.task(id).assignments[1].status == VerdictStatus::kBroken);
}

TEST_CASE("VER-15: true results that take forced ones' places have a window of their own, and are disputed in it") {
    const ToyRun honest;
    const ToyRun wrong(kTamper);
    Chain chain(all_checked(10'000));
    const TaskId id = published_task(chain, honest, wrong);
    CHECK(chain.task(id).assignments[2].probe_root == hash_of("decoy"));
    chain.skip(chain.params.challenge_blocks);
    chain.disclose_all(id);
    CHECK(chain.task(id).state == TaskState::kChallenge);
    CHECK(chain.task(id).second_window);
    const Assignment second = chain.task(id).assignments[2];
    CHECK(second.forced == true);
    CHECK(second.probe_root == chain.probe_root(2, second.probe));
    const DisputeId dispute = challenge(chain, chain.whistleblower, id, 2, Role::kWhistleblower);
    CHECK(dispute_of(chain, dispute).state() == DisputeState::kActive);
    CHECK(dispute_of(chain, dispute).verdict()->is_second);
    play_dispute(chain, dispute, wrong, honest, chain.whistleblower);
    CHECK(dispute_of(chain, dispute).state() == DisputeState::kRefuted);
    CHECK(chain.task(id).assignments[2].status == VerdictStatus::kRefuted);
    chain.end_windows(id);
    CHECK(open_segments(chain.task(id)) == std::vector<std::uint32_t>{2});
    CHECK(chain.task(id).state == TaskState::kCompleted);  // AVL-7
    CHECK(chain.paid(id, Reason::kJackpot).empty());
}

TEST_CASE("VER-16: a jackpot is what the fee and the rate make fair, and never more for more winners") {
    Chain chain(all_checked(5'000));
    const TaskId id = chain.verifying_task();
    std::vector<AccountId> winners;
    std::uint64_t last = ~std::uint64_t{0};
    for (std::uint32_t count = 1; count <= 70; ++count) {
        winners.push_back(chain.stranger.id);
        Overlay state = Overlay::over(chain.view);
        Supply supply = get_supply(state);
        supply.treasury = {100 * kCoin};
        set_supply(state, supply);
        const BlockContext block;
        Context context{.state = state, .params = chain.params, .block = block, .tx = {}, .actor = {}, .history = {}};
        Task task = chain.task(id);
        pay_jackpots(context, task, winners);
        const std::uint64_t total = 100 * kCoin - get_supply(state).treasury.grains;
        CHECK(total <= last);
        last = total;
        if (count == 1) {
            CHECK(total == 3 * kCoin / 4 * 2);  // a verdict's share of the fee over one half
        }
        CHECK(context.history.size() == (total == 0 ? 0 : count));
    }
    CHECK(last == 0);
}

TEST_CASE("VER-16: all jackpots of a task come to a tenth of a contributor's bond at most, whatever its fee") {
    Params params = all_checked(5'000);
    params.contributor_bond = {12 * kCoin};
    Chain chain(params);
    Task task = chain.task(chain.verifying_task());
    REQUIRE(task.assignments.size() == 4);
    const auto paid = [&](std::uint64_t fee) {
        Overlay state = Overlay::over(chain.view);
        Supply supply = get_supply(state);
        supply.treasury = {1'000 * kCoin};
        set_supply(state, supply);
        const BlockContext block;
        Context context{.state = state, .params = chain.params, .block = block, .tx = {}, .actor = {}, .history = {}};
        task.spec.verification_fee = {fee};
        pay_jackpots(context, task, {chain.stranger.id});
        return 1'000 * kCoin - get_supply(state).treasury.grains;
    };
    CHECK(paid(6 * kCoin / 10) == 3 * kCoin / 10);  // 0.15 over one half
    CHECK(paid(60 * kCoin) == 3 * kCoin / 10);      // 1.2 over four assignments
    CHECK(paid(~std::uint64_t{0}) == 3 * kCoin / 10);
}

TEST_CASE("INV-8: the treasury shrinks only by recorded jackpots, and by at most a third") {
    Chain chain(all_checked(10'000));
    const ToyRun honest;
    const TaskId id = published_task(chain, honest, honest);
    challenge_as_watcher(chain, chain.whistleblower, id, 3);
    keep_secret(chain);
    const std::uint64_t before = get_supply(chain.view).treasury.grains - chain.floors;
    CHECK(disclose(chain, id, 3) == 0);
    const auto jackpots = chain.paid(id, Reason::kJackpot);
    REQUIRE(jackpots.size() == 1);
    CHECK(get_supply(chain.view).treasury.grains == before + chain.floors - jackpots[0]);
    CHECK(3 * jackpots[0] <= before + chain.floors);
}

TEST_CASE("SET-8: settlement pays the treasury's tax out of reward and fee first") {
    Params params = all_checked();
    params.tax_bps = 1'000;
    const ToyRun honest;
    Chain chain(params);
    const TaskId id = published_task(chain, honest, honest);
    chain.skip(params.challenge_blocks);
    CHECK(disclose(chain, id, 0) == 0);
    CHECK(disclose(chain, id, 1) == 0);
    CHECK(disclose(chain, id, 2) == 0);
    const std::uint64_t treasury = get_supply(chain.view).treasury.grains - chain.floors;
    CHECK(disclose(chain, id, 3) == 0);
    CHECK(chain.paid(id, Reason::kTax) == std::vector<std::uint64_t>{2 * kCoin, 3 * kCoin / 10});
    CHECK(chain.paid(id, Reason::kReward) == std::vector<std::uint64_t>{18 * kCoin});
    CHECK(chain.paid(id, Reason::kVerificationFee) == std::vector<std::uint64_t>(4, 27 * kCoin / 40));
    CHECK(get_supply(chain.view).treasury.grains == treasury + chain.floors + 23 * kCoin / 10);
}
