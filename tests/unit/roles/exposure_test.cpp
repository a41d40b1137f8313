// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <doctest/doctest.h>

#include <contracts/params/by_value.hpp>
#include <contracts/params/work.hpp>
#include <verifier/roles/exposure.hpp>

namespace assay::roles {
namespace {

using contracts::Task;
using contracts::TaskState;

const contracts::Params kNetwork = [] {
    contracts::Params params;
    params.segments_checked = 12;
    params.segments_checked_max = 12;
    return params;
}();
const AccountId kDrawn{{1}};
/// Multiply-adds of a block at the speed of the slowest class.
constexpr std::uint64_t kWorkOfBlock = 10'000'000'000;

/// A task of twelve segments, of which a replay takes its class so many blocks. It pays whatever the work costs.
Task task_of(std::uint64_t replay_blocks, TaskState state = TaskState::kTraining, std::uint8_t number = 1) {
    Task task;
    task.id = contracts::TaskId{{number}};
    task.submitter = AccountId{{2}};
    task.solver = AccountId{{3}};
    task.state = state;
    task.spec.steps = 120;
    task.spec.checkpoint_interval = 10;
    task.spec.program.step_work = kWorkOfBlock / 10 * replay_blocks;
    task.spec.verification_fee = Amount{100'000'000'000};
    return task;
}

Amount bonds(const Task& task, std::uint64_t count) {
    return Amount{contracts::verifier_needs(kNetwork, contracts::task_value(task.spec)).grains * count};
}

StakeView view_of(const Task& task, std::uint64_t count) {
    StakeView view;
    view.self = kDrawn;
    view.free_stake = bonds(task, count);
    view.block_us = 1'000'000;
    view.tasks[task.id] = task;
    return view;
}

TEST_CASE("WRK-5: a machine of its class replays three long segments in time, and a stake for more is told to shrink") {
    const Task task = task_of(3'000);
    REQUIRE(contracts::consents(kNetwork, task.spec, {}));
    CHECK(!find_exposure(kNetwork, view_of(task, 3)));
    const auto found = find_exposure(kNetwork, view_of(task, 5));
    REQUIRE(found);
    CHECK(found->segments == 5);
    CHECK(found->replays == 3);
    CHECK(found->excess == bonds(task, 2));
    CHECK(found->replay_blocks == 100);  // five of 100 blocks in 200 + 300
    // The terms that it names end it: it does not consent to the task any more (TRM-2).
    StakeView told = view_of(task, 5);
    told.terms.replay_blocks = found->replay_blocks;
    CHECK(!find_exposure(kNetwork, told));
    const Task shorter = task_of(found->replay_blocks);
    told.tasks = {{shorter.id, shorter}};
    CHECK(!find_exposure(kNetwork, told));
    const Task longer = task_of(found->replay_blocks + 1);
    told.terms.replay_blocks += 1;
    told.tasks = {{longer.id, longer}};
    CHECK(find_exposure(kNetwork, told));
}

TEST_CASE("HW-2: a machine that has registered a greater score replays more") {
    const Task task = task_of(3'000);
    StakeView view = view_of(task, 6);
    view.terms.hardware_class = 1;
    view.score = 20'000;  // twice the least of its class
    CHECK(!find_exposure(kNetwork, view));
    view.free_stake = bonds(task, 7);
    CHECK(find_exposure(kNetwork, view).value().replays == 6);
    view.score = 10;  // less than it has to have: the class's own
    CHECK(find_exposure(kNetwork, view).value().replays == 3);
}

TEST_CASE("a stake is compared with what the chain's tasks can ask for") {
    // Replays of less than a block are no matter.
    const Task small = task_of(0);
    CHECK(!find_exposure(kNetwork, view_of(small, 1'000)));
    // A task of three segments asks for no fourth.
    Task task = task_of(3'000);
    task.spec.steps = 20;
    CHECK(!find_exposure(kNetwork, view_of(task, 1'000)));
    StakeView view = view_of(task, 1'000);
    Task another = task;
    another.id = contracts::TaskId{{2}};
    view.tasks[another.id] = another;
    CHECK(find_exposure(kNetwork, view).value().segments > 3);
    // Those that are judged already ask for nothing more, and neither do one's own.
    for (auto& [id, each] : view.tasks) {
        each.state = TaskState::kChallenge;
    }
    CHECK(!find_exposure(kNetwork, view));
    Task own = task_of(3'000);
    own.submitter = kDrawn;
    CHECK(!find_exposure(kNetwork, view_of(own, 1'000)));
    own = task_of(3'000);
    own.solver = kDrawn;
    CHECK(!find_exposure(kNetwork, view_of(own, 1'000)));
}

TEST_CASE("what a verifier was drawn for takes of what its machine can do") {
    Task drawn = task_of(3'000, TaskState::kVerifying, 2);
    for (std::uint32_t segment = 1; segment <= 2; ++segment) {
        drawn.assignments.emplace_back();
        drawn.assignments.back().segment = segment;
        drawn.assignments.back().verifier = kDrawn;
    }
    const Task task = task_of(3'000);
    StakeView view = view_of(task, 1);
    view.tasks[drawn.id] = drawn;
    CHECK(!find_exposure(kNetwork, view));
    view.free_stake = bonds(task, 2);
    const auto found = find_exposure(kNetwork, view);
    REQUIRE(found);
    CHECK(found->segments == 4);
    CHECK(found->excess == bonds(task, 1));
}

TEST_CASE("a stake of very many bonds is told to shrink, and that no replay time helps") {
    const Task task = task_of(3'000);
    StakeView view = view_of(task, 1);
    view.free_stake = Amount{kMaxU64 / 2};
    const auto found = find_exposure(kNetwork, view);
    REQUIRE(found);
    CHECK(found->replay_blocks == 0);
    CHECK(found->excess == Amount{kMaxU64 / 2 - bonds(task, 3).grains});
}

}  // namespace
}  // namespace assay::roles
