// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <tuple>
#include <vector>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/state/members.hpp>
#include <tests/unit/contracts/committees.hpp>
#include <tests/unit/contracts/groups.hpp>

/// What is left of a group's task when a member is convicted (GRP-7, GRP-9), and committees over it (GRP-10).

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

const Tamper kTamper{false, 5, 2, 2};       ///< in segment 2
const Tamper kFirstTamper{false, 1, 2, 2};  ///< in segment 1

Params all_segments() {
    Params params = quick_params();
    params.segments_checked = 4;
    params.challenge_blocks = 60;
    return params;
}

/// A group's task with every verdict published and accepted, of the lead and one partner, by one verifier.
TaskId judged_group_task(Chain& chain, const ToyRun& run) {
    const TaskId id = complete_group_task(chain, run, 1);
    await_state(chain, id, TaskState::kVerifying);
    chain.commit_all(id);
    chain.publish_all(id);
    REQUIRE(chain.task(id).state == TaskState::kChallenge);
    return id;
}

void dispute_segment(Chain& chain, const TaskId& id, std::uint32_t segment) {
    REQUIRE(chain.run(chain.whistleblower, OpenDispute{id, segment, Role::kWhistleblower}) == 0);
}

DisputeState state_of(const Chain& chain, const TaskId& id, std::uint32_t segment, const Actor& challenger) {
    return find_dispute(chain.view, dispute_id(id, segment, challenger.id)).value().state();
}

/// As all_segments, with time enough to attest one after another.
Params committee_params() {
    Params params = params_of_five();
    params.segments_checked = 4;
    return params;
}

/// The verifiers that `has_data` names commit to what is right; then all windows end.
void judge_by(Chain& chain, const TaskId& id, const std::function<bool(const Assignment&)>& has_data) {
    for (const Assignment& assignment : chain.task(id).assignments) {
        if (assignment.status == VerdictStatus::kDue && has_data(assignment)) {
            const Hash256 root = claimed_root(chain.view, chain.task(id), assignment.segment);
            REQUIRE(chain.commit(chain.actor_of(assignment.verifier), id, assignment.segment, root) == 0);
        }
    }
    while (chain.task(id).lottery.is_zero()) {
        chain.skip(1);
    }
    chain.publish_all(id);
    chain.end_windows(id);
}

/// The next `count` committees of a task, all of whose members attest.
std::vector<Committee> attesting_committees(Chain& chain, const TaskId& id, std::size_t count) {
    std::vector<Committee> out;
    while (out.size() < count) {
        await_committee(chain, id);
        attest(chain, honest(), id);
        out.push_back(chain.task(id).committee.value());
    }
    return out;
}

/// Whether the verifier of the assignment was on one of the committees that covered its segment.
bool was_on(const std::vector<Committee>& committees, const Assignment& assignment) {
    return std::any_of(committees.begin(), committees.end(), [&](const Committee& committee) {
        const auto& [segments, members] = std::tie(committee.segments, committee.members);
        return std::count(segments.begin(), segments.end(), assignment.segment) != 0 &&
               std::any_of(members.begin(), members.end(), [&](const CommitteeMember& member) {
                   return member.account == assignment.verifier;
               });
    });
}

/// A group's task of which nobody has committed a verdict: it waits for a committee.
TaskId silent_group_task(Chain& chain) {
    chain.add_verifiers(6);
    const TaskId id = complete_group_task(chain, honest(), 1);
    await_state(chain, id, TaskState::kVerifying);
    give_no_verdict(chain, id);
    return id;
}

}  // namespace

TEST_CASE("GRP-7: a refuted segment takes its member's bond, and what was before it is judged anew and paid") {
    const ToyRun fraud(kTamper);
    Chain chain(all_segments());
    const TaskId id = judged_group_task(chain, fraud);
    const Actor partner = chain.others.back();
    const std::uint64_t bond = members_bond(chain);
    const std::uint64_t verifier_bond = chain.params.verifier_bond.grains;
    dispute_segment(chain, id, 2);
    play_dispute(chain, dispute_id(id, 2, chain.whistleblower.id), fraud, honest(), chain.whistleblower);
    CHECK(state_of(chain, id, 2, chain.whistleblower) == DisputeState::kRefuted);

    Task task = chain.task(id);
    CHECK(task.state == TaskState::kCompleted);
    CHECK(segment_count(task) == 1);
    CHECK(task.group->convicted == std::vector<std::uint8_t>{1});
    CHECK(task.redraws == 1);
    CHECK(chain.slashed(id, Reason::kLostDispute) == std::vector{bond});
    CHECK(chain.slashed(id, Reason::kWrongVerdict) == std::vector{verifier_bond});
    CHECK(chain.paid(id, Reason::kWonDispute) == std::vector{bond / 2, verifier_bond / 2});
    CHECK(chain.stake(Role::kSolver, partner).free.grains == 0);
    CHECK(task.solver_bond.grains == bond);
    CHECK(chain.stake(Role::kVerifier, chain.verifier).locked.grains == 0);
    REQUIRE(task.assignments.size() == 3);
    for (const Assignment& assignment : task.assignments) {
        CHECK(assignment.status == VerdictStatus::kDropped);
        CHECK(assignment.segment != 2);
    }

    chain.add_verifiers(1);
    await_state(chain, id, TaskState::kVerifying);
    task = chain.task(id);
    REQUIRE(task.assignments.size() == 5);
    CHECK(task.assignments[3].verifier == chain.others.back().id);
    CHECK(task.assignments[4].segment == 1);
    CHECK(task.redraws == 1);
    chain.commit_all(id);
    chain.publish_all(id);
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.paid(id, Reason::kReward) == std::vector<std::uint64_t>{8 * kCoin});
    CHECK(chain.paid(id, Reason::kRefund) == std::vector<std::uint64_t>{12 * kCoin});
    CHECK(chain.paid(id, Reason::kVerificationFee) == std::vector<std::uint64_t>(5, 3 * kCoin / 5));
}

TEST_CASE("GRP-7: a member convicted for a later segment earns nothing for its earlier ones") {
    const ToyRun fraud(Tamper{false, 9, 2, 2});  // in segment 3, the lead's
    Chain chain(all_segments());
    const TaskId id = judged_group_task(chain, fraud);
    dispute_segment(chain, id, 3);
    play_dispute(chain, dispute_id(id, 3, chain.whistleblower.id), fraud, honest(), chain.whistleblower);
    CHECK(segment_count(chain.task(id)) == 2);
    CHECK(chain.task(id).solver_bond.grains == 0);
    const std::vector<Share> shares = reward_shares(chain.task(id));
    REQUIRE(shares.size() == 1);
    CHECK(shares[0].account == chain.others.back().id);
    CHECK(shares[0].amount.grains == 8 * kCoin);
    chain.add_verifiers(1);
    await_state(chain, id, TaskState::kVerifying);
    chain.commit_all(id);
    chain.publish_all(id);
    chain.end_windows(id);
    CHECK(chain.paid(id, Reason::kReward) == std::vector<std::uint64_t>{8 * kCoin});
    CHECK(chain.paid(id, Reason::kRefund) == std::vector<std::uint64_t>{12 * kCoin});
}

TEST_CASE("GRP-7: where nothing remains, or nobody may be drawn anew, the task ends as a single solver's") {
    const ToyRun fraud(kFirstTamper);
    Chain chain(all_segments());
    const TaskId id = judged_group_task(chain, fraud);
    dispute_segment(chain, id, 1);
    play_dispute(chain, dispute_id(id, 1, chain.whistleblower.id), fraud, honest(), chain.whistleblower);
    CHECK(chain.task(id).state == TaskState::kConvicted);
    CHECK(chain.stake(Role::kSolver, chain.others.back()).free.grains == members_bond(chain));
    CHECK(chain.paid(id, Reason::kReward).empty());
    CHECK(chain.paid(id, Reason::kRefund) == std::vector<std::uint64_t>{20 * kCoin});

    Params params = all_segments();
    params.redraws_max = 0;
    const ToyRun later(kTamper);
    Chain strict(params);
    const TaskId other = judged_group_task(strict, later);
    dispute_segment(strict, other, 2);
    play_dispute(strict, dispute_id(other, 2, strict.whistleblower.id), later, honest(), strict.whistleblower);
    CHECK(strict.task(other).state == TaskState::kConvicted);
    CHECK(strict.stake(Role::kSolver, strict.solver).free.grains == 100 * kCoin);
    CHECK(strict.stake(Role::kSolver, strict.others.back()).free.grains == 0);
}

TEST_CASE("GRP-7: a cut ends disputes about what was dropped, and those about what is left go on") {
    Chain chain(all_segments());
    const TaskId id = judged_group_task(chain, honest());
    REQUIRE(chain.run(chain.submitter, Bond{Role::kWhistleblower, {50 * kCoin}}) == 0);
    dispute_segment(chain, id, 2);  // its responder is silent
    REQUIRE(chain.run(chain.submitter, OpenDispute{id, 3, Role::kWhistleblower}) == 0);
    chain.skip(5);
    REQUIRE(chain.run(chain.submitter, OpenDispute{id, 1, Role::kWhistleblower}) == 0);
    REQUIRE(chain.run(chain.submitter, ChallengeVerdict{id, 1, chain.verifier.id}) == 0);
    while (state_of(chain, id, 2, chain.whistleblower) == DisputeState::kActive) {
        chain.skip(1);
    }
    CHECK(state_of(chain, id, 2, chain.whistleblower) == DisputeState::kRefuted);
    CHECK(state_of(chain, id, 3, chain.submitter) == DisputeState::kMoot);
    CHECK(state_of(chain, id, 1, chain.submitter) == DisputeState::kActive);
    const DisputedVerdict subject{.verifier = chain.verifier.id};
    CHECK(find_dispute(chain.view, dispute_id(id, 1, chain.submitter.id, subject))->state() == DisputeState::kMoot);
    CHECK(chain.task(id).open_disputes == 1);
    CHECK(find_dispute(chain.view, dispute_id(id, 1, chain.submitter.id))->lane == dispute_weight(chain.params));
    // A clock has shown nothing: the bond of who accepted returns, and earns nothing.
    CHECK(chain.slashed(id, Reason::kWrongVerdict).empty());
    CHECK(chain.task(id).assignments.size() == 3);

    const ToyRun other(kFirstTamper);
    play_dispute(chain, dispute_id(id, 1, chain.submitter.id), honest(), other, chain.submitter);
    CHECK(state_of(chain, id, 1, chain.submitter) == DisputeState::kUpheld);
    chain.add_verifiers(1);
    await_state(chain, id, TaskState::kVerifying);
    chain.commit_all(id);
    chain.publish_all(id);
    chain.end_windows(id);
    CHECK(chain.paid(id, Reason::kReward) == std::vector<std::uint64_t>{8 * kCoin});
}

TEST_CASE("GRP-7: a verifier that rejects the segment wins, keeps its share, and a false rejection loses it") {
    const ToyRun fraud(kTamper);
    Chain chain(all_segments());
    const TaskId id = complete_group_task(chain, fraud, 1);
    await_state(chain, id, TaskState::kVerifying);
    for (std::uint32_t segment = 0; segment < 4; ++segment) {
        const Hash256 root = segment == 2   ? honest().checkpoint_root(2)
                             : segment == 1 ? hash_of("false")
                                            : fraud.checkpoint_root(segment);
        REQUIRE(chain.commit(chain.verifier, id, segment, root) == 0);
    }
    chain.skip(1);
    REQUIRE(chain.publish(chain.verifier, id, 2, honest().checkpoint_root(2)) == 0);
    REQUIRE(chain.publish(chain.verifier, id, 1, hash_of("false")) == 0);
    play_dispute(chain, dispute_id(id, 2, chain.verifier.id), fraud, honest(), chain.verifier);
    REQUIRE(chain.task(id).state == TaskState::kCompleted);
    std::vector<std::uint32_t> dropped;
    for (const Assignment& assignment : chain.task(id).assignments) {
        dropped.push_back(assignment.segment);
    }
    CHECK(dropped == std::vector<std::uint32_t>{1, 2});  // those that were published
    play_dispute(chain, dispute_id(id, 1, chain.verifier.id), fraud, ToyRun(kFirstTamper), chain.verifier);
    CHECK(state_of(chain, id, 1, chain.verifier) == DisputeState::kUpheld);
    chain.add_verifiers(1);
    await_state(chain, id, TaskState::kVerifying);
    chain.commit_all(id);
    chain.publish_all(id);
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kSettled);
    // The rejection of segment 2, and the two new verdicts.
    CHECK(chain.paid(id, Reason::kVerificationFee) == std::vector<std::uint64_t>(3, kCoin));
}

TEST_CASE("GRP-9: a task that was cut is no parent, and its descendants are marked before they are paid") {
    Params params = all_segments();
    params.challenge_blocks = 200;
    params.draw_blocks = 300;
    const ToyRun fraud(kTamper);
    Chain chain(params);
    const TaskId id = judged_group_task(chain, fraud);
    const auto submit_child = [&] {
        TaskSpec spec = fraud.spec();
        spec.parent = id;
        const TaskId child = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
        const std::uint8_t code = chain.run(chain.submitter, SubmitTask{spec});
        return std::pair{child, static_cast<TxError>(code)};
    };
    const TaskId accepted = submit_child().first;
    chain.await_solver(accepted);
    REQUIRE(chain.run(chain.solver, AcceptTask{accepted}) == 0);
    const TaskId open = submit_child().first;
    dispute_segment(chain, id, 2);
    play_dispute(chain, dispute_id(id, 2, chain.whistleblower.id), fraud, honest(), chain.whistleblower);
    chain.skip(1);
    CHECK(chain.task(id).state == TaskState::kCompleted);
    CHECK(chain.task(accepted).tainted_by == id);
    CHECK(chain.task(open).state == TaskState::kCancelled);
    CHECK(submit_child().second == TxError::kParentUnfit);
    // It was accepted with the last state, and posts that.
    CHECK(chain.run(chain.solver, PostCheckpoint{accepted, 0, fraud.checkpoint_root(3), {}}) == 0);
}

TEST_CASE("GRP-10: a committee covers the segments of one responder, and charges it and their verifiers alone") {
    Chain chain(committee_params());
    const TaskId id = silent_group_task(chain);
    const AccountId partner = chain.task(id).group->partners[0].account;
    Committee committee = await_committee(chain, id);
    CHECK(committee.segments == std::vector<std::uint32_t>{0, 1, 3});
    attest(chain, honest(), id);
    REQUIRE(chain.task(id).committee->state == CommitteeState::kAvailable);
    CHECK(chain.slashed(id, Reason::kMissedVerdict).size() == 3);
    CHECK(chain.task(id).solver_bond.grains < members_bond(chain));
    CHECK(bond_of(chain.task(id), partner).grains == members_bond(chain));

    committee = await_committee(chain, id);
    CHECK(committee.segments == std::vector<std::uint32_t>{2});
    CHECK(committee.sitting == 1);
    attest(chain, honest(), id);
    CHECK(chain.slashed(id, Reason::kMissedVerdict).size() == 4);
    CHECK(bond_of(chain.task(id), partner).grains < members_bond(chain));
    await_state(chain, id, TaskState::kVerifying);
    CHECK(chain.task(id).assignments.size() == 8);
}

TEST_CASE("GRP-10, AVL-7: of each member's segments those are verifiers who have attested for them") {
    Chain chain(committee_params());
    const TaskId id = silent_group_task(chain);
    const std::vector<Committee> committees = attesting_committees(chain, id, 2);
    await_state(chain, id, TaskState::kVerifying);
    const Task task = chain.task(id);
    REQUIRE(task.available.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(task.available[i].segments == committees[i].segments);
        CHECK(task.available[i].attesters.size() == committees[i].members.size());
    }
    REQUIRE(task.assignments.size() == 8);
    for (std::size_t i = 4; i < 8; ++i) {
        CHECK(was_on(committees, task.assignments[i]));
    }
    // So each of them pays alone for its silence, and no committee has to sit once more (AVL-8).
    const std::size_t missed = chain.slashed(id, Reason::kMissedVerdict).size();
    const std::size_t unserved = chain.slashed(id, Reason::kUnserved).size();
    give_no_verdict(chain, id);
    CHECK(chain.slashed(id, Reason::kMissedVerdict).size() == missed + 4);
    CHECK(chain.slashed(id, Reason::kUnserved).size() == unserved);
    CHECK_FALSE(needs_committee(chain.task(id)));
}

TEST_CASE("GRP-10, AVL-8: who attested one member's segments is not alone at fault for silence about another's") {
    Chain chain(committee_params());
    const TaskId id = silent_group_task(chain);
    const AccountId partner = chain.task(id).group->partners[0].account;
    const std::vector<Committee> committees = attesting_committees(chain, id, 2);
    disarm_attesters(chain, id);  // so nobody who has attested for the partner's segment can be drawn for it
    await_state(chain, id, TaskState::kVerifying);
    REQUIRE(chain.task(id).committee->segments == std::vector<std::uint32_t>{2});
    const std::uint64_t partner_bond = bond_of(chain.task(id), partner).grains;
    chain.skip(chain.params.commit_blocks);
    const Task task = chain.task(id);
    std::size_t held = 0;
    for (std::size_t i = 4; i < task.assignments.size(); ++i) {
        const Assignment& drawn = task.assignments[i];
        CHECK(drawn.status == VerdictStatus::kMissed);
        CHECK((drawn.bond.grains == 0) == was_on(committees, drawn));
        held += drawn.segment == 2 && drawn.bond.grains != 0 ? 1U : 0U;
    }
    CHECK(held == 1);
    CHECK(bond_of(task, partner).grains == partner_bond);
    // The committee over the partner's segment makes the partner pay as much as its verifier.
    while (chain.task(id).state == TaskState::kChallenge) {
        chain.skip(1);
    }
    CHECK(await_committee(chain, id).segments == std::vector<std::uint32_t>{2});
    attest(chain, honest(), id);
    CHECK(bond_of(chain.task(id), partner).grains < partner_bond);
}

TEST_CASE("GRP-10, AVL-7: members who serve committees alone do not let their task expire") {
    Params params = committee_params();
    params.redraws_max = 1;
    Chain chain(params);
    const TaskId id = silent_group_task(chain);
    const std::vector<Committee> committees = attesting_committees(chain, id, 2);
    await_state(chain, id, TaskState::kVerifying);
    // Who was on no committee of a segment was served nothing of it.
    judge_by(chain, id, [&](const Assignment& drawn) { return was_on(committees, drawn); });
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.paid(id, Reason::kReward).size() == 2);
}

TEST_CASE("GRP-10, AVL-8: verifiers of a member that has nothing left to lose lose nothing to it") {
    const ToyRun fraud(Tamper{false, 9, 2, 2});  // in segment 3, the lead's
    Params params = committee_params();
    params.challenge_blocks = 60;
    params.draw_blocks = 300;
    Chain chain(params);
    chain.add_verifiers(6);
    const TaskId id = judged_group_task(chain, fraud);
    dispute_segment(chain, id, 3);
    play_dispute(chain, dispute_id(id, 3, chain.whistleblower.id), fraud, honest(), chain.whistleblower);
    REQUIRE(segment_count(chain.task(id)) == 2);
    REQUIRE(chain.task(id).solver_bond.grains == 0);
    await_state(chain, id, TaskState::kVerifying);
    const std::size_t missed = chain.slashed(id, Reason::kMissedVerdict).size();
    give_no_verdict(chain, id);
    CHECK(await_committee(chain, id).segments == std::vector<std::uint32_t>{0, 1});
    attest(chain, honest(), id);
    REQUIRE(chain.task(id).committee->state == CommitteeState::kAvailable);
    CHECK(chain.slashed(id, Reason::kMissedVerdict).size() == missed);
    for (const Assignment& assignment : chain.task(id).assignments) {
        CHECK(
            (assignment.bond.grains != 0) == (assignment.status == VerdictStatus::kMissed && assignment.segment == 2)
        );
    }
    // The partner has its bond, so for its segment each loses a tenth.
    CHECK(await_committee(chain, id).segments == std::vector<std::uint32_t>{2});
    attest(chain, honest(), id);
    CHECK(chain.slashed(id, Reason::kMissedVerdict).size() == missed + 1);
    CHECK(chain.slashed(id, Reason::kUnserved).size() == 1);
}

TEST_CASE("GRP-10: three committees convict the responder of their segments, and cut the task before the first") {
    Params params = committee_params();
    params.attest_blocks = 4;
    Chain chain(params);
    chain.add_verifiers(6);
    const TaskId id = complete_group_task(chain, honest(), 1);
    await_state(chain, id, TaskState::kVerifying);
    judge_by(chain, id, [](const Assignment& drawn) { return drawn.segment != 2; });
    for (std::uint32_t sitting = 1; sitting <= 3; ++sitting) {
        const Committee committee = await_committee(chain, id);
        CHECK(committee.segments == std::vector<std::uint32_t>{2});
        CHECK(committee.sitting == sitting);
        end_sitting(chain, id);
    }
    const std::uint64_t bond = members_bond(chain);
    CHECK(chain.slashed(id, Reason::kUnavailable) == std::vector{bond / 2});
    CHECK(chain.task(id).state == TaskState::kCompleted);
    CHECK(segment_count(chain.task(id)) == 1);
    CHECK(!chain.task(id).committee.has_value());
    CHECK(chain.task(id).solver_bond.grains == bond);
    await_state(chain, id, TaskState::kVerifying);
    chain.commit_all(id);
    chain.publish_all(id);
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.paid(id, Reason::kReward) == std::vector<std::uint64_t>{8 * kCoin});
    CHECK(chain.stake(Role::kSolver, chain.others.back()).free.grains == bond / 2);
}
