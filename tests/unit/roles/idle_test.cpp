// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <contracts/params/by_value.hpp>
#include <contracts/params/work.hpp>
#include <verifier/roles/idle.hpp>

namespace assay::roles {
namespace {

using contracts::Role;
using contracts::Task;
using contracts::TaskState;

const AccountId kIdler{{1}};
const AccountId kStranger{{2}};
const contracts::Params kParams;
constexpr std::uint64_t kRich = 1'000'000'000'000;

Task task_in(TaskState state, std::uint8_t number = 9) {
    Task task;
    task.id = contracts::TaskId{{number}};
    task.submitter = kStranger;
    task.state = state;
    task.spec.steps = 100;
    task.spec.checkpoint_interval = 10;
    task.spec.reward = Amount{20'000'000'000};
    task.spec.verification_fee = Amount{3'000'000'000};
    task.spec.program.memory = 1'000'000;
    task.spec.program.step_work = 1'000;
    return task;
}

IdleView view_of(Role role, const std::vector<Task>& tasks = {}) {
    IdleView view;
    view.self = kIdler;
    view.role = role;
    view.free_stake = Amount{kRich};
    view.height = 100;
    for (const Task& task : tasks) {
        view.tasks[task.id] = task;
    }
    return view;
}

Idle reason_of(const IdleView& view) { return decide_idle(kParams, view).reason; }

/// The only misfit of the view's open tasks.
Misfit misfit_of(const IdleView& view) {
    const Idleness idleness = decide_idle(kParams, view);
    REQUIRE(idleness.reason == Idle::kNoneFits);
    REQUIRE(idleness.misfits.size() == 1);
    return idleness.misfits.begin()->first;
}

TEST_CASE("a worker whose owner admits nothing new says so, unless it has something in work") {
    IdleView view = view_of(Role::kSolver, {task_in(TaskState::kOpen)});
    view.is_closed = true;
    CHECK(reason_of(view) == Idle::kClosed);
    Task ours = task_in(TaskState::kTraining);
    ours.solver = kIdler;
    IdleView busy = view_of(Role::kSolver, {ours});
    busy.is_closed = true;
    CHECK(reason_of(busy) == Idle::kInWork);
}

TEST_CASE("a worker without a node, with one that is behind, or with an open breaker looks no further") {
    IdleView view = view_of(Role::kSolver, {task_in(TaskState::kOpen)});
    view.free_stake = {};
    view.is_breaker_open = true;
    view.node = NodeState::kUnreachable;
    CHECK(reason_of(view) == Idle::kNoNode);
    view.node = NodeState::kCatchesUp;
    CHECK(reason_of(view) == Idle::kCatchingUp);
    view.node = NodeState::kMakesNoBlocks;
    CHECK(reason_of(view) == Idle::kNoBlocks);
    view.node = NodeState::kFollows;
    CHECK(reason_of(view) == Idle::kBreaker);
    view.is_breaker_open = false;
    CHECK(reason_of(view) == Idle::kNoStake);
}

TEST_CASE("OPR-5: a worker whose key its owner has not named says so before it looks at stake") {
    IdleView view = view_of(Role::kVerifier, {});
    view.free_stake = {};
    view.may_act = false;
    CHECK(reason_of(view) == Idle::kNotOperator);
    CHECK(std::string(to_string(Idle::kNotOperator)) == "not_operator");
    view.may_act = true;
    CHECK(reason_of(view) == Idle::kNoStake);
}

TEST_CASE("too little stake says how much is missing to the least bond of the role") {
    for (const Role role : {Role::kSolver, Role::kVerifier, Role::kWhistleblower}) {
        CAPTURE(contracts::to_string(role));
        IdleView view = view_of(role);
        CHECK(reason_of(view) == Idle::kNoTask);
        view.free_stake = {};
        const Idleness none = decide_idle(kParams, view);
        CHECK(none.reason == Idle::kNoStake);
        view.free_stake = none.stake_missing;  // what is missing suffices, and a grain less does not
        CHECK(reason_of(view) == Idle::kNoTask);
        view.free_stake.grains -= 1;
        CHECK(decide_idle(kParams, view).stake_missing == Amount{1});
    }
    IdleView itself = view_of(Role::kWhistleblower);
    itself.free_stake = {};
    itself.bonds_itself = true;
    CHECK(reason_of(itself) == Idle::kNoTask);
}

TEST_CASE("tasks in work come before what hinders new ones") {
    Task ours = task_in(TaskState::kChallenge);
    ours.solver = kIdler;
    IdleView view = view_of(Role::kSolver, {ours, task_in(TaskState::kOpen, 8)});
    view.free_stake = {};
    const Idleness idleness = decide_idle(kParams, view);
    CHECK(idleness.reason == Idle::kInWork);
    CHECK(idleness.tasks == 1);

    Task assigned = task_in(TaskState::kVerifying);
    assigned.assignments.emplace_back();
    assigned.assignments.back().verifier = kIdler;
    CHECK(reason_of(view_of(Role::kVerifier, {assigned})) == Idle::kInWork);
    assigned.assignments[0].verifier = kStranger;
    CHECK(reason_of(view_of(Role::kVerifier, {assigned})) == Idle::kNoTask);
    assigned.assignments[0].watchers = {kIdler};
    CHECK(reason_of(view_of(Role::kVerifier, {assigned})) == Idle::kNoTask);
    CHECK(reason_of(view_of(Role::kWhistleblower, {assigned})) == Idle::kInWork);

    Task seated = task_in(TaskState::kCompleted);
    seated.committee = contracts::Committee{};
    seated.committee->members.push_back({.account = kIdler, .seats = 1});
    CHECK(reason_of(view_of(Role::kVerifier, {seated})) == Idle::kInWork);
    seated.committee->state = contracts::CommitteeState::kAvailable;
    CHECK(reason_of(view_of(Role::kVerifier, {seated})) == Idle::kNotDrawn);

    Task profiled = task_in(TaskState::kProfiling);
    profiled.tolerance = contracts::Tolerance{};
    profiled.tolerance->profiles.emplace_back();
    profiled.tolerance->profiles.back().profiler = kIdler;
    CHECK(reason_of(view_of(Role::kVerifier, {profiled})) == Idle::kInWork);
}

TEST_CASE("a solver that was told to take no more, or let a task lapse, says that") {
    IdleView view = view_of(Role::kSolver, {task_in(TaskState::kOpen)});
    CHECK(reason_of(view) == Idle::kNotDrawn);
    view.is_unlisted = true;
    CHECK(reason_of(view) == Idle::kUnlisted);
    view.accepted_tasks = 2;
    view.tasks_max = 2;
    CHECK(reason_of(view) == Idle::kEnoughTasks);
    view.role = Role::kVerifier;
    CHECK(reason_of(view) == Idle::kNotDrawn);
}

TEST_CASE("a solver that leaves tasks to others because it has enough to defend says so, while it is so") {
    Task held = task_in(TaskState::kChallenge, 1);
    held.solver = kIdler;
    IdleView view = view_of(Role::kSolver, {held, task_in(TaskState::kOpen, 2)});
    CHECK(reason_of(view) == Idle::kInWork);
    view.declined[contracts::TaskId{{2}}] = Offer::kTooLong;
    CHECK(reason_of(view) == Idle::kInWork);
    view.declined[contracts::TaskId{{2}}] = Offer::kTooMany;
    CHECK(reason_of(view) == Idle::kFull);
    CHECK(decide_idle(kParams, view).tasks == 1);
    // Drawn for it and waiting for room: it is none of those in work.
    view.tasks[contracts::TaskId{{2}}].state = TaskState::kDrawn;
    view.tasks[contracts::TaskId{{2}}].solver = kIdler;
    CHECK(reason_of(view) == Idle::kFull);
    CHECK(decide_idle(kParams, view).tasks == 1);
    // Somebody else trains it.
    view.tasks[contracts::TaskId{{2}}].state = TaskState::kTraining;
    view.tasks[contracts::TaskId{{2}}].solver = kStranger;
    CHECK(reason_of(view) == Idle::kInWork);
    // It is too much beside a seat that was signed, whose task is not in work yet.
    view.tasks.erase(contracts::TaskId{{1}});
    view.tasks[contracts::TaskId{{2}}] = task_in(TaskState::kOpen, 2);
    CHECK(misfit_of(view) == Misfit::kDeclined);
    CHECK(decide_idle(kParams, view).offers == std::set<Offer>{Offer::kTooMany});
}

TEST_CASE("what is open depends on the role") {
    CHECK(reason_of(view_of(Role::kSolver, {task_in(TaskState::kTraining)})) == Idle::kNoTask);
    CHECK(reason_of(view_of(Role::kVerifier, {task_in(TaskState::kTraining)})) == Idle::kNotDrawn);
    CHECK(reason_of(view_of(Role::kVerifier, {task_in(TaskState::kChallenge)})) == Idle::kNoTask);
    CHECK(reason_of(view_of(Role::kWhistleblower, {task_in(TaskState::kChallenge)})) == Idle::kNotDrawn);
    CHECK(reason_of(view_of(Role::kWhistleblower, {task_in(TaskState::kTraining)})) == Idle::kNoTask);
    CHECK(reason_of(view_of(Role::kWhistleblower, {task_in(TaskState::kProfiling)})) == Idle::kNoTask);
}

TEST_CASE("tasks that are open and not taken say why, and what they need") {
    Task classy = task_in(TaskState::kOpen, 1);
    classy.spec.hardware_class = 3;
    IdleView view = view_of(Role::kSolver, {classy});
    CHECK(misfit_of(view) == Misfit::kClass);
    CHECK(decide_idle(kParams, view).classes == std::set<std::uint32_t>{3});
    view.terms.hardware_class = 3;
    CHECK(reason_of(view) == Idle::kNotDrawn);
    view.declined_until = 101;
    CHECK(misfit_of(view) == Misfit::kResting);
    view.declined_until = 100;
    CHECK(reason_of(view) == Idle::kNotDrawn);
    view.declined[classy.id] = Offer::kTooLittle;
    CHECK(misfit_of(view) == Misfit::kDeclined);
    CHECK(decide_idle(kParams, view).offers == std::set<Offer>{Offer::kTooLittle});
    view.declined[classy.id] = std::nullopt;
    CHECK(misfit_of(view) == Misfit::kDeclined);
    view.unusable.insert(classy.id);
    CHECK(misfit_of(view) == Misfit::kUnusable);
}

TEST_CASE("a dear task says how much its bond is above the free stake, the nearest of several") {
    Task dear = task_in(TaskState::kOpen, 1);
    dear.spec.reward = Amount{150'000'000'000};
    Task dearer = dear;
    dearer.id = contracts::TaskId{{2}};
    dearer.spec.reward = Amount{190'000'000'000};
    const Amount bond = contracts::solver_bond(kParams, contracts::task_value(dear.spec));
    IdleView view = view_of(Role::kSolver, {dear, dearer});
    view.free_stake = Amount{bond.grains - 7};
    REQUIRE(view.free_stake >= kParams.solver_bond);
    CHECK(misfit_of(view) == Misfit::kStake);
    const Idleness idleness = decide_idle(kParams, view);
    CHECK(idleness.stake_missing == Amount{7});
    CHECK(idleness.misfits.at(Misfit::kStake) == 2);
}

TEST_CASE("ENV-3: a solver learns that a task asks for another environment than it offers") {
    Task task = task_in(TaskState::kOpen, 1);
    task.spec.environment = contracts::Environment{.image = {}, .labels = {"cuda=12.4"}};
    IdleView view = view_of(Role::kSolver, {task});
    CHECK(misfit_of(view) == Misfit::kEnvironment);
    view.terms.offers = contracts::fingerprints(task.spec.environment);
    CHECK(reason_of(view) != Idle::kNoneFits);
    view = view_of(Role::kVerifier, {task});
    CHECK(reason_of(view) != Idle::kNoneFits);
}

TEST_CASE("TRM-2: a verifier learns which of its terms a task does not meet") {
    Task large = task_in(TaskState::kTraining, 1);
    large.spec.program.memory = kParams.memory_default + 1;
    IdleView view = view_of(Role::kVerifier, {large});
    CHECK(misfit_of(view) == Misfit::kMemory);
    CHECK(decide_idle(kParams, view).memory_least == kParams.memory_default + 1);
    view.terms.memory = kParams.memory_default + 1;
    CHECK(reason_of(view) == Idle::kNotDrawn);

    Task poor = task_in(TaskState::kTraining, 2);
    poor.spec.program.step_work = 1'000'000'000'000;
    poor.spec.verification_fee = Amount{1};
    view = view_of(Role::kVerifier, {poor});
    view.terms.price = kParams.work_price;
    CHECK(misfit_of(view) == Misfit::kPrice);
    poor.spec.program.memory = kParams.memory_default + 1;
    view.tasks[poor.id] = poor;
    CHECK(misfit_of(view) == Misfit::kTerms);

    Task slow = task_in(TaskState::kTraining, 3);
    slow.spec.program.step_work = 1'000'000'000'000;
    view = view_of(Role::kVerifier, {slow});
    view.terms.replay_blocks = 1;
    view.terms.price = 0;
    CHECK(misfit_of(view) == Misfit::kTime);

    Task own = task_in(TaskState::kTraining, 4);
    own.submitter = kIdler;
    CHECK(misfit_of(view_of(Role::kVerifier, {own})) == Misfit::kOwn);
}

TEST_CASE("a reason is said anew when it or the kinds of misfits change, not with every number") {
    Idleness said{.reason = Idle::kNoneFits, .stake_missing = {}, .tasks = 1, .misfits = {{Misfit::kClass, 1}}};
    Idleness now = said;
    now.tasks = 5;
    now.misfits[Misfit::kClass] = 5;
    CHECK(!now.differs_from(said));
    now.misfits[Misfit::kStake] = 1;
    CHECK(now.differs_from(said));
    now = said;
    now.reason = Idle::kNoTask;
    CHECK(now.differs_from(said));
}

TEST_CASE("a node is behind when its last block is old and new ones come faster than they are made") {
    constexpr std::uint64_t kHour = 3'600'000;
    NodeView view{
        .block_age_ms = 0, .height_before = 100, .height = 100, .elapsed_ms = 3'000, .block_interval_ms = 1'000};
    CHECK(judge_node(view) == NodeState::kFollows);
    view.block_age_ms = kHour;
    CHECK(judge_node(view) == NodeState::kMakesNoBlocks);
    view.height = 103;  // a clock that is an hour fast
    CHECK(judge_node(view) == NodeState::kFollows);
    view.height = 200;
    CHECK(judge_node(view) == NodeState::kCatchesUp);
    view.block_age_ms = kBlockAgeMaxMs;
    CHECK(judge_node(view) == NodeState::kFollows);
    // A chain with a block in ten minutes is not late after five.
    view = {
        .block_age_ms = 300'000, .height_before = 5, .height = 5, .elapsed_ms = 3'000, .block_interval_ms = 600'000};
    CHECK(judge_node(view) == NodeState::kFollows);
    view.block_interval_ms = 0;
    CHECK(judge_node(view) == NodeState::kMakesNoBlocks);
}

}  // namespace
}  // namespace assay::roles
