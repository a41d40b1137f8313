// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <verifier/roles/solver.hpp>

namespace assay::roles {
namespace {

using contracts::TaskState;

const AccountId kSelf{{1}};
const TaskId kTask{{9}};

SolverView view_in(TaskState state) {
    SolverView view;
    view.self = kSelf;
    view.task.id = kTask;
    view.task.solver = kSelf;
    view.task.state = state;
    view.task.spec.steps = 25;
    view.task.spec.checkpoint_interval = 10;
    view.free_stake = Amount{5};
    view.solver_bond = Amount{5};
    return view;
}

TEST_CASE("TASK-15: a drawn solver accepts what it can back and was asked to do, and declines the rest") {
    const SolverView good = view_in(TaskState::kDrawn);
    CHECK(decide_solver(good) == Intent{intent::Accept{kTask}});
    SolverView view = good;
    view.is_breaker_open = true;
    CHECK(decide_solver(view) == Intent{intent::Decline{kTask}});
    view = good;
    view.is_unusable = true;
    CHECK(decide_solver(view) == Intent{intent::Decline{kTask}});
    view = good;
    view.is_elsewhere = true;  // ENV-4
    CHECK(decide_solver(view) == Intent{intent::Decline{kTask}});
    view = good;
    view.free_stake = Amount{4};
    CHECK(decide_solver(view) == Intent{intent::Decline{kTask}});
    view.task.solver_bond = Amount{1};  // TASK-6: what the draw has locked is part of the bond
    CHECK(decide_solver(view) == Intent{intent::Accept{kTask}});
    view = good;
    view.tasks_max = 2;
    view.accepted_tasks = 2;
    CHECK(decide_solver(view) == Intent{intent::Decline{kTask}});
    view.accepted_tasks = 1;
    CHECK(decide_solver(view) == Intent{intent::Accept{kTask}});
    view = good;
    view.task.solver = AccountId{{2}};
    CHECK(decide_solver(view) == Intent{Wait::kNothingDue});
}

TEST_CASE("PRV-3: a drawn solver waits for the keys of a private task that it would accept, and declines any other") {
    SolverView view = view_in(TaskState::kDrawn);
    view.awaits_keys = true;
    CHECK(decide_solver(view) == Intent{Wait::kOtherParty});
    view.is_unusable = true;
    CHECK(decide_solver(view) == Intent{intent::Decline{kTask}});
}

TEST_CASE("TASK-6: a solver that let a task lapse registers again, unless it would decline what it is drawn for") {
    CHECK(!registers_again({}));
    CHECK(registers_again({.is_unlisted = true}));
    CHECK(!registers_again({.is_unlisted = true, .is_breaker_open = true}));
    CHECK(registers_again({.is_unlisted = true, .accepted_tasks = 1, .tasks_max = 2}));
    CHECK(!registers_again({.is_unlisted = true, .accepted_tasks = 2, .tasks_max = 2}));
}

TEST_CASE("ENV-3: a solver registers again when it runs in another environment than it has registered") {
    CHECK(registers_again({.offers_another = true}));
    CHECK(!registers_again({.is_breaker_open = true, .offers_another = true}));
    CHECK(!registers_again({.accepted_tasks = 2, .tasks_max = 2, .offers_another = true}));
}

TEST_CASE("EVL-4: a solver that lost its final state makes it again before it completes with a score") {
    SolverView view = view_in(TaskState::kTraining);
    view.task.checkpoints = 4;
    view.stored_checkpoints = 3;
    CHECK(decide_solver(view) == Intent{intent::Complete{kTask}});
    view.task.spec.evaluation = contracts::EvaluationCommitment{};
    CHECK(decide_solver(view) == Intent{intent::Train{kTask, 3}});
    view.stored_checkpoints = 4;
    CHECK(decide_solver(view) == Intent{intent::Complete{kTask}});
}

TEST_CASE("a training solver trains, posts and completes in order") {
    struct Row {
        std::uint32_t stored;
        std::uint32_t posted;
        Intent expected;
    };
    // 25 steps in tens: the initialisation and three segments.
    const Row rows[] = {
        {0, 0, intent::Train{kTask, 0}},
        {1, 0, intent::PostCheckpoint{kTask, 0}},
        {1, 1, intent::Train{kTask, 1}},
        {3, 1, intent::PostCheckpoint{kTask, 1}},
        {3, 3, intent::Train{kTask, 3}},
        {4, 3, intent::PostCheckpoint{kTask, 3}},
        {4, 4, intent::Complete{kTask}},
        // A lost disk: everything is computed again before anything more is posted.
        {0, 2, intent::Train{kTask, 0}},
        {2, 2, intent::Train{kTask, 2}},
        {0, 4, intent::Complete{kTask}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.stored);
        CAPTURE(row.posted);
        SolverView view = view_in(TaskState::kTraining);
        view.stored_checkpoints = row.stored;
        view.task.checkpoints = row.posted;
        CHECK(decide_solver(view) == row.expected);
        // Work that was accepted is finished, whatever happens elsewhere.
        view.is_breaker_open = true;
        CHECK(decide_solver(view) == row.expected);
    }
    SolverView diverged = view_in(TaskState::kTraining);
    diverged.is_stopped = true;
    CHECK(decide_solver(diverged) == Intent{Wait::kUnable});
}

TEST_CASE("ART-20: a solver trains on while a checkpoint is written to stores, and posts it when it is there") {
    SolverView view = view_in(TaskState::kTraining);
    view.stored_checkpoints = 2;
    view.task.checkpoints = 1;
    view.is_publishing = true;
    CHECK(decide_solver(view) == Intent{intent::Train{kTask, 2}});
    view.is_publishing = false;
    CHECK(decide_solver(view) == Intent{intent::PostCheckpoint{kTask, 1}});
    // There is nothing left to train, or no way to: then it waits for the stores.
    view.is_publishing = true;
    view.stored_checkpoints = 4;
    CHECK(decide_solver(view) == Intent{intent::PostCheckpoint{kTask, 1}});
    view.stored_checkpoints = 2;
    view.is_stopped = true;
    CHECK(decide_solver(view) == Intent{intent::PostCheckpoint{kTask, 1}});
}

TEST_CASE("a solver does nothing before it is drawn and after it has completed") {
    for (const TaskState state :
         {TaskState::kOpen, TaskState::kCompleted, TaskState::kVerifying, TaskState::kChallenge, TaskState::kSettled,
          TaskState::kConvicted, TaskState::kCancelled, TaskState::kExpired}) {
        CHECK(decide_solver(view_in(state)) == Intent{Wait::kNothingDue});
    }
}

const AccountId kPartner{{2}};

// 25 steps in tens, seats of the lead and one partner: segments 1 and 3 are the lead's, 2 the partner's.
SolverView member_view(const AccountId& self, std::uint32_t posted, std::uint32_t stored) {
    SolverView view = view_in(TaskState::kTraining);
    view.self = self;
    view.task.checkpoints = posted;
    view.stored_checkpoints = stored;
    view.task.group = contracts::Group{
        .partners = {{kPartner, Amount{5}}},
        .seats = {0, 1},
        .earlier = {},
        .posters = {},
        .convicted = {},
        .culprits = {},
        .demanded = {},
        .counted = {}};
    for (std::uint32_t index = 0; index < posted; ++index) {
        view.task.group->posters.push_back(index == 2 ? 1 : 0);
    }
    return view;
}

TEST_CASE("GRP-4: a member posts and trains in its turn, and fetches what others posted") {
    struct Row {
        AccountId self;
        std::uint32_t posted;
        std::uint32_t stored;
        Intent expected;
    };
    const Row rows[] = {
        {kSelf, 0, 0, intent::Train{kTask, 0}},
        {kSelf, 0, 1, intent::PostCheckpoint{kTask, 0}},
        {kSelf, 1, 1, intent::Train{kTask, 1}},
        {kSelf, 2, 2, Wait::kOtherParty},
        {kSelf, 3, 2, intent::FetchCheckpoint{kTask, 2}},
        {kSelf, 3, 3, intent::Train{kTask, 3}},
        {kSelf, 3, 1, intent::Train{kTask, 1}},  // its own, lost on its disk
        {kSelf, 4, 4, intent::Complete{kTask}},
        {kPartner, 0, 0, Wait::kOtherParty},
        {kPartner, 1, 0, intent::FetchCheckpoint{kTask, 0}},
        {kPartner, 2, 1, intent::FetchCheckpoint{kTask, 1}},
        {kPartner, 2, 2, intent::Train{kTask, 2}},
        {kPartner, 2, 3, intent::PostCheckpoint{kTask, 2}},
        {kPartner, 3, 3, Wait::kOtherParty},
        {kPartner, 4, 4, Wait::kNothingDue},
        {AccountId{{3}}, 2, 2, Wait::kNothingDue},
    };
    for (const Row& row : rows) {
        CAPTURE(static_cast<int>(row.self.data[0]));
        CAPTURE(row.posted);
        CAPTURE(row.stored);
        CHECK(decide_solver(member_view(row.self, row.posted, row.stored)) == row.expected);
    }
}

TEST_CASE("GRP-4: only the lead takes a turn over, whose deadline it is") {
    SolverView view = member_view(kSelf, 2, 2);
    view.is_turn_over = true;
    CHECK(decide_solver(view) == Intent{intent::Train{kTask, 2}});
    view.stored_checkpoints = 3;
    CHECK(decide_solver(view) == Intent{intent::PostCheckpoint{kTask, 2}});
    view.is_turn_over = false;  // somebody has posted meanwhile
    CHECK(decide_solver(view) == Intent{Wait::kOtherParty});
    SolverView partner = member_view(kPartner, 3, 3);
    partner.is_turn_over = true;
    CHECK(decide_solver(partner) == Intent{Wait::kOtherParty});
}

TEST_CASE("a member trains a later segment of its own while others train theirs, if it has nothing else to do") {
    SolverView view = member_view(kPartner, 1, 1);
    view.segment_ahead = 2;
    CHECK(decide_solver(view) == Intent{intent::TrainAhead{kTask, 2}});
    view.stored_checkpoints = 0;
    CHECK(decide_solver(view) == Intent{intent::FetchCheckpoint{kTask, 0}});
    view = member_view(kPartner, 2, 2);
    view.segment_ahead = 4;
    CHECK(decide_solver(view) == Intent{intent::Train{kTask, 2}});
    view.is_stopped = true;
    CHECK(decide_solver(view) == Intent{Wait::kUnable});
}

}  // namespace
}  // namespace assay::roles
