// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <verifier/roles/watch.hpp>

namespace assay::roles {
namespace {

using contracts::TaskState;
using contracts::VerdictStatus;

const TaskId kTask{{9}};
const AccountId kVerifier{{4}};
const Hash256 kPublished{{1}};
const Hash256 kMine{{2}};

VerdictView view_of(std::optional<Hash256> first, std::optional<Hash256> second = std::nullopt) {
    VerdictView view;
    view.self = AccountId{{5}};
    view.task.id = kTask;
    view.task.state = TaskState::kChallenge;
    view.task.deadline = Height{30};
    view.assignment.segment = 2;
    view.assignment.verifier = kVerifier;
    view.assignment.status = VerdictStatus::kAccepted;
    view.assignment.bond = Amount{10};
    view.assignment.probe = 3;
    view.assignment.probe_root = kPublished;
    view.replays.first = first;
    view.replays.second = second;
    view.is_duty = true;
    view.free_stake = Amount{1};
    view.challenger_bond = Amount{1};
    return view;
}

const Intent kReplay = intent::ReplayProbe{kTask, 2, 3};
const Intent kChallenge = intent::ChallengeVerdict{kTask, 2, kVerifier, kMine};
const Intent kNothing = Wait::kNothingDue;

TEST_CASE("VER-12: a watcher replays up to the probe, again when it differs, and then challenges") {
    CHECK(decide_verdict_watch(view_of({})) == kReplay);
    CHECK(decide_verdict_watch(view_of(kPublished)) == kNothing);
    CHECK(decide_verdict_watch(view_of(kMine)) == kReplay);
    CHECK(decide_verdict_watch(view_of(kMine, kMine)) == kChallenge);
    CHECK(decide_verdict_watch(view_of(kMine, Hash256{{3}})) == Intent{Wait::kUnable});
}

TEST_CASE("VER-19: a solver replays first the segments by whose verdicts it would be convicted, in the task's order") {
    contracts::Task task;
    task.tolerance.emplace();
    task.spec.steps = 40;
    task.spec.checkpoint_interval = 10;
    const VerdictStatus says[] = {
        VerdictStatus::kAccepted, VerdictStatus::kRejected, VerdictStatus::kRefuted, VerdictStatus::kRejected};
    for (std::uint32_t i = 0; i < 4; ++i) {
        contracts::Assignment assignment;
        assignment.segment = i + 1;
        assignment.status = says[i];
        task.assignments.push_back(assignment);
    }
    std::vector<std::uint32_t> order;
    for (const contracts::Assignment& assignment : in_order_of_harm(contracts::Params(), task)) {
        order.push_back(assignment.segment);
    }
    CHECK(order == std::vector<std::uint32_t>{2, 4, 1, 3});
}

TEST_CASE("VER-12: a verdict is watched by who is drawn, by every whistleblower where nobody is, and by the solver") {
    contracts::Task task;
    contracts::Assignment assignment;
    const AccountId self{{5}};
    const AccountId other{{6}};
    CHECK(is_watchers_duty(task, assignment, self, contracts::Role::kWhistleblower));
    CHECK_FALSE(is_watchers_duty(task, assignment, self, contracts::Role::kVerifier));
    CHECK_FALSE(is_watchers_duty(task, assignment, self, contracts::Role::kSolver));
    assignment.watchers = {other};
    task.solver = self;
    CHECK_FALSE(is_watchers_duty(task, assignment, self, contracts::Role::kWhistleblower));
    CHECK(is_watchers_duty(task, assignment, other, contracts::Role::kWhistleblower));
    CHECK(is_watchers_duty(task, assignment, self, contracts::Role::kSolver));
}

TEST_CASE("VER-15: the true result of a forced verdict is judged by the same replays") {
    VerdictView view = view_of(kMine, kMine);
    view.has_challenged = true;
    CHECK(decide_verdict_watch(view) == Intent{Wait::kOtherParty});
    view.has_challenged = false;  // another result, another challenge
    view.assignment.forced = true;
    view.assignment.probe_root = kMine;
    CHECK(decide_verdict_watch(view) == kNothing);
    view.assignment.probe_root = Hash256{{7}};
    CHECK(decide_verdict_watch(view) == kNothing);  // not before its own window
    view.task.second_window = true;
    CHECK(decide_verdict_watch(view) == kChallenge);
}

TEST_CASE("who is not drawn compares with what it knows and replays nothing for it") {
    VerdictView view = view_of({});
    view.is_duty = false;
    CHECK(decide_verdict_watch(view) == kNothing);
    view.replays.first = kMine;
    CHECK(decide_verdict_watch(view) == kReplay);
    view.replays.second = kMine;
    CHECK(decide_verdict_watch(view) == kChallenge);
}

TEST_CASE("who is not drawn leaves the first half of the window to who is") {
    VerdictView view = view_of(kMine, kMine);
    view.challenge_span = 20;
    view.assignment.watchers = {AccountId{{6}}};
    view.height = Height{19};  // the window ends with block 30
    CHECK(decide_verdict_watch(view) == Intent{Wait::kOtherParty});
    view.height = Height{20};
    CHECK(decide_verdict_watch(view) == kChallenge);
    view.task.state = TaskState::kVerifying;
    CHECK(decide_verdict_watch(view) == Intent{Wait::kOtherParty});
    view.assignment.watchers.push_back(view.self);
    CHECK(decide_verdict_watch(view) == kChallenge);
    view.assignment.watchers.clear();
    CHECK(decide_verdict_watch(view) == kChallenge);
    // Once disclosed there is nothing left to win by it.
    view.assignment.watchers = {AccountId{{6}}};
    view.assignment.forced = false;
    CHECK(decide_verdict_watch(view) == kChallenge);
}

TEST_CASE("a verdict is challenged only while the window is open, with a bond, by somebody else") {
    VerdictView view = view_of(kMine, kMine);
    view.free_stake = Amount{0};
    CHECK(decide_verdict_watch(view) == Intent{Wait::kNoStake});
    view.task.solver = view.self;  // DSP-46
    CHECK(decide_verdict_watch(view) == kChallenge);
    view = view_of(kMine, kMine);
    view.self = kVerifier;
    CHECK(decide_verdict_watch(view) == kNothing);
    view = view_of(kMine, kMine);
    view.is_breaker_open = true;
    CHECK(decide_verdict_watch(view) == Intent{Wait::kBreaker});
    view = view_of(kMine, kMine);
    view.task.deadline = Height{0};
    CHECK(decide_verdict_watch(view) == kNothing);
    view = view_of(kMine, kMine);
    view.task.state = TaskState::kDisclosure;
    CHECK(decide_verdict_watch(view) == kNothing);
    view = view_of(kMine, kMine);
    view.assignment.status = VerdictStatus::kRefuted;
    CHECK(decide_verdict_watch(view) == kNothing);
    view = view_of(kMine, kMine);
    view.assignment.probe_root.reset();
    CHECK(decide_verdict_watch(view) == kNothing);
    view = view_of(kMine, kMine);
    view.assignment.bond = {};  // VER-22
    CHECK(decide_verdict_watch(view) == kNothing);
}

TEST_CASE("a whistleblower joins while few others watch and leaves once it has had its part") {
    Registry registry{.others = 2, .others_max = 2, .checks = 0, .payout_checks = 10, .is_member = false};
    CHECK(decide_membership(registry) == Membership::kJoin);
    registry.others = 3;
    CHECK(decide_membership(registry) == Membership::kStayOut);
    registry.is_member = true;
    CHECK(decide_membership(registry) == Membership::kStay);
    registry.checks = 10;
    CHECK(decide_membership(registry) == Membership::kLeave);
    registry.is_member = false;
    registry.others = 0;
    CHECK(decide_membership(registry) == Membership::kStayOut);
}

}  // namespace
}  // namespace assay::roles
