// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <contracts/params/work.hpp>
#include <verifier/roles/defence.hpp>

namespace assay::roles {
namespace {

using contracts::Task;
using contracts::TaskSpec;
using contracts::TaskState;

const contracts::Params kChain;
constexpr std::uint64_t kSecond = 1'000'000;
/// Multiply-adds of a second at the speed of the slowest class.
constexpr std::uint64_t kWorkOfSecond = 10'000'000'000;
const std::uint64_t kFixed = kChain.dispute_clock_blocks * kSecond;  // blocks of a second
const AccountId kOwner{{1}};
const AccountId kOther{{2}};

/// A task of so many segments beside the initialisation, the replay of each of which takes its class so long.
TaskSpec spec_of(std::uint32_t segments, std::uint64_t replay_ms) {
    TaskSpec spec;
    spec.checkpoint_interval = 10;
    spec.steps = 10 * segments;
    spec.program.step_work = kWorkOfSecond / 10'000 * replay_ms;
    return spec;
}

/// Of a machine that takes `percent` of the time of the task's class.
Burden at(const TaskSpec& spec, std::uint64_t percent) {
    const std::uint64_t in_class = contracts::segment_work(spec) / (kWorkOfSecond / kSecond);
    return burden_of(kChain, spec, claims_alone(spec), {.segment_us = in_class * percent / 100}, kSecond);
}

bool can_defend_each(std::size_t count, const TaskSpec& spec, std::uint64_t percent) {
    return can_defend(kFixed, std::vector<Burden>(count, at(spec, percent)));
}

TEST_CASE("WRK-5: what a task asks for is counted by the chain's clock, and by what was measured") {
    TaskSpec spec = spec_of(12, 100'000);
    const Burden unmeasured = burden_of(kChain, spec, claims_alone(spec), {}, kSecond);
    CHECK(unmeasured.claims == 13);
    CHECK(unmeasured.replay_us == 100 * kSecond);
    CHECK(unmeasured.clock_us == 200 * kSecond);
    CHECK(burden_of(kChain, spec, 13, {}, kSecond / 2).clock_us == 100 * kSecond);
    CHECK(burden_of(kChain, spec, 13, {.segment_us = 7, .start_us = 3}, kSecond).replay_us == 7);
    CHECK(burden_of(kChain, spec, 13, {.segment_us = 7, .start_us = 9}, kSecond).replay_us == 9);
    // Outputs of 2^28 bytes are hashed in 1.024 s, which adds a block to the replay's clock twice.
    spec.program.outputs = std::uint64_t{1} << 28U;
    const Burden hashed = burden_of(kChain, spec, 13, {}, kSecond);
    CHECK(hashed.replay_us == 101'024'000);
    CHECK(hashed.clock_us == 202 * kSecond);
    // A score that was not measured runs at the speed of the class.
    spec.program.outputs = 0;
    spec.evaluation = contracts::EvaluationCommitment{};
    spec.evaluation->work = 30 * kWorkOfSecond;
    CHECK(burden_of(kChain, spec, 14, {.segment_us = 7}, kSecond).replay_us == 30 * kSecond);
}

TEST_CASE("DSP-32: a machine that needs all the time of its class defends one task of long segments and no second") {
    const TaskSpec spec = spec_of(12, 1'000'000);
    CHECK(can_defend_each(1, spec, 100));
    CHECK(!can_defend_each(2, spec, 100));
    CHECK(!can_defend_each(3, spec, 100));
    // One segment of each of them is too much already: two replays of each are due in one clock of two.
    const Burden one_claim = burden_of(kChain, spec, 1, {}, kSecond);
    CHECK(can_defend(kFixed, {one_claim}));
    CHECK(!can_defend(kFixed, {one_claim, one_claim}));
}

TEST_CASE("DSP-32: a machine defends as many tasks of long segments as it is faster than its class") {
    const TaskSpec spec = spec_of(12, 1'000'000);
    CHECK(can_defend_each(2, spec, 50));
    CHECK(!can_defend_each(3, spec, 50));
    CHECK(can_defend_each(8, spec, 12));
    CHECK(!can_defend_each(9, spec, 12));
    // Different tasks: their parts of the machine's time add up.
    const TaskSpec short_one = spec_of(30, 300'000);
    CHECK(can_defend(kFixed, {at(spec, 40), at(spec, 30), at(short_one, 30)}));
    CHECK(!can_defend(kFixed, {at(spec, 40), at(spec, 40), at(short_one, 30)}));
}

TEST_CASE("DSP-32: the fixed part of a clock has room for tasks whose replays are short against it") {
    // Two of a hundred seconds, one claim each: 400 s of work, due after 400 + 200.
    const TaskSpec spec = spec_of(12, 100'000);
    const Burden one_claim = burden_of(kChain, spec, 1, {}, kSecond);
    CHECK(can_defend(kFixed, {one_claim, one_claim, one_claim}));
    CHECK(!can_defend(kFixed, {one_claim, one_claim, one_claim, one_claim}));
    // Replays of 50 ms lengthen no clock: 13 claims, twice each, are 1.3 s of 400.
    const TaskSpec small = spec_of(12, 50);
    CHECK(can_defend_each(307, small, 100));
    CHECK(!can_defend_each(308, small, 100));
    CHECK(can_defend_each(1, small, 5'000));
    // Beside a long one they have what its last claim leaves of the fixed part.
    std::vector<Burden> mixed(307, at(small, 100));
    mixed.push_back(at(spec_of(12, 1'000'000), 100));
    CHECK(can_defend(kFixed, mixed));
    mixed.push_back(at(small, 100));
    CHECK(!can_defend(kFixed, mixed));
}

TEST_CASE("DSP-32: the last claim of a short task may be what cannot be played, although a long one has time left") {
    const TaskSpec long_one = spec_of(100, 1'000'000);
    const TaskSpec short_one = spec_of(3, 1'000'000);
    CHECK(can_defend(kFixed, {at(long_one, 50), at(short_one, 50)}));
    CHECK(!can_defend(kFixed, {at(long_one, 50), at(short_one, 100)}));
}

TEST_CASE("a task alone is taken, and no second beside one that asks for all that there is") {
    CHECK(can_defend(kFixed, {}));
    CHECK(can_defend_each(1, spec_of(12, 1'000'000), 201));
    // Half a second a thousand times is more than the fixed part.
    CHECK(can_defend_each(1, spec_of(1'000, 500), 100));
    CHECK(!can_defend_each(2, spec_of(1'000, 500), 100));
}

TEST_CASE("WRK-5: a replay of less than a block counts at the speed of its class, whatever was measured") {
    const Measured slow{.segment_us = 100 * kSecond, .start_us = kSecond};
    CHECK(burden_of(kChain, spec_of(12, 999), 13, slow, kSecond).replay_us == 999'000);
    CHECK(burden_of(kChain, spec_of(12, 1'000), 13, slow, kSecond).replay_us == 100 * kSecond);
}

TEST_CASE("numbers that a submitter chose do not overflow into a task that can be defended") {
    TaskSpec endless = spec_of(12, 1'000'000);
    const Burden large = burden_of(kChain, endless, kMaxU64 >> 44U, {.segment_us = kMaxU64}, kMaxU64);
    CHECK(!can_defend(0, {large, large}));
    endless.program.step_work = kMaxU64;
    endless.program.outputs = kMaxU64;
    CHECK(!can_defend(kFixed, {at(endless, 100), burden_of(kChain, endless, 13, {.segment_us = kMaxU64}, kSecond)}));
}

/// Plays all claims of all tasks from one moment on, whatever is due first, and has two replays to do for each. Returns
/// the greatest time by which one of them is late; negative: the least time left.
std::int64_t lateness(std::uint64_t fixed_us, const std::vector<Burden>& burdens) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> games;  // deadline and work
    for (const Burden& burden : burdens) {
        for (std::uint64_t claim = 1; claim <= burden.claims; ++claim) {
            games.emplace_back(fixed_us + claim * burden.clock_us, 2 * burden.replay_us);
        }
    }
    std::sort(games.begin(), games.end());
    std::uint64_t now = 0;
    std::int64_t late = -static_cast<std::int64_t>(fixed_us);
    for (const auto& [deadline, work] : games) {
        now += work;
        late = std::max(late, static_cast<std::int64_t>(now) - static_cast<std::int64_t>(deadline));
    }
    return late;
}

TEST_CASE("DSP-32: what can be defended is played in time, and what is refused is late by less than a claim of each") {
    std::uint64_t word = 1;
    const auto draw = [&word](std::uint64_t below) {
        word = word * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
        return (word >> 33U) % below;
    };
    std::size_t defended = 0;
    constexpr std::size_t kCases = 4'000;
    for (std::size_t i = 0; i < kCases; ++i) {
        std::vector<Burden> burdens(2 + draw(4));
        std::int64_t one_of_each = 0;
        for (Burden& burden : burdens) {
            const std::uint64_t in_class = draw(3) == 0 ? draw(10) : draw(500);
            burden = {.claims = 1 + draw(20), .replay_us = in_class * draw(120) / 100};
            burden.clock_us = draw(4) == 0 ? 0 : 2 * in_class;
            one_of_each += static_cast<std::int64_t>(2 * burden.replay_us + 1);
        }
        const std::uint64_t fixed = draw(4'000);
        const std::int64_t late = lateness(fixed, burdens);
        const bool can = can_defend(fixed, burdens);
        defended += can ? 1 : 0;
        CHECK((can ? late <= 0 : late + one_of_each > 0));
    }
    CHECK(defended > kCases / 10);
    CHECK(defended < kCases * 9 / 10);
}

Task task_in(TaskState state) {
    Task task;
    task.state = state;
    task.solver = kOwner;
    task.spec = spec_of(12, 1'000);
    return task;
}

TEST_CASE("a solver answers for a task from its acceptance to the end of the last window of challenges") {
    for (const TaskState state :
         {TaskState::kTraining, TaskState::kCompleted, TaskState::kVerifying, TaskState::kChallenge,
          TaskState::kDisclosure}) {
        CHECK(is_answerable(task_in(state), kOwner));
        CHECK(!is_answerable(task_in(state), kOther));
    }
    for (const TaskState state :
         {TaskState::kOpen, TaskState::kDrawn, TaskState::kJudged, TaskState::kSettled, TaskState::kConvicted,
          TaskState::kCancelled, TaskState::kExpired, TaskState::kProfiling, TaskState::kKept}) {
        CHECK(!is_answerable(task_in(state), kOwner));
    }
}

TEST_CASE("GRP-5: a member answers for the segments of its seats, and the lead may for all of them") {
    Task task = task_in(TaskState::kTraining);
    CHECK(claims_of(task, kOwner) == 13);
    task.spec.evaluation = contracts::EvaluationCommitment{};
    CHECK(claims_of(task, kOwner) == 14);
    task.spec.evaluation.reset();
    task.group = contracts::Group{
        .partners = {{kOther, Amount{5}}},
        .seats = {0, 1, 0},
        .earlier = {},
        .posters = {},
        .convicted = {},
        .culprits = {},
        .demanded = {},
        .counted = {}};
    CHECK(claims_of(task, kOwner) == 13);
    CHECK(claims_of(task, kOther) == 5);  // a third of 13, rounded up
    contracts::SeatsTerms terms{.task = {}, .seats = {kOwner, kOther, kOwner}};
    CHECK(claims_of(task.spec, terms, kOther) == 5);
    CHECK(claims_of(task.spec, terms, kOwner) == 13);
    // Whoever computes a part of each step can be accused of each.
    task.group->is_together = true;
    terms.is_together = true;
    CHECK(claims_of(task, kOther) == 13);
    CHECK(claims_of(task.spec, terms, kOther) == 13);
}

TEST_CASE("VER-17: in tolerance mode a verdict may have to be challenged beside each segment") {
    TaskSpec spec = spec_of(12, 1'000);
    spec.mode = contracts::Mode::kTolerance;
    CHECK(claims_alone(spec) == 26);
    spec.mode = contracts::Mode::kExact;
    spec.parent = contracts::TaskId{{3}};  // LIN-2: nobody trains segment 0
    CHECK(claims_alone(spec) == 12);
}

TEST_CASE("a solver takes another task if it can defend it beside the others, or as many as it was told to") {
    const TaskSpec spec = spec_of(12, 1'000'000);
    DefenceView view;
    view.fixed_us = kFixed;
    view.offered = at(spec, 100);
    CHECK(may_take(view));
    view.held = {at(spec, 100)};
    CHECK(!may_take(view));
    view.offered = at(spec_of(12, 50), 100);
    CHECK(may_take(view));
    view.offered = at(spec, 100);
    view.tasks_at_once = 2;
    CHECK(may_take(view));
    view.held.push_back(at(spec, 100));
    CHECK(!may_take(view));
    view.held = {at(spec_of(12, 50), 100)};
    view.tasks_at_once = 1;
    CHECK(!may_take(view));
}

}  // namespace
}  // namespace assay::roles
