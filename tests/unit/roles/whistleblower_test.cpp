// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <doctest/doctest.h>

#include <verifier/roles/whistleblower.hpp>

namespace assay::roles {
namespace {

using contracts::TaskState;

const TaskId kTask{{9}};

WatchView fresh(std::uint32_t segments = 4) {
    WatchView view;
    view.self = AccountId{{1}};
    view.task.id = kTask;
    view.task.solver = AccountId{{2}};
    view.task.state = TaskState::kVerifying;
    for (std::uint32_t i = 0; i < segments; ++i) {
        view.claimed.push_back(Hash256{{static_cast<std::uint8_t>(100 + i)}});
    }
    view.replays.resize(segments);
    view.seed = 7;
    view.free_stake = Amount{1};
    view.challenger_bond = Amount{1};
    return view;
}

std::vector<std::uint32_t> order_of(const WatchView& view) {
    return checking_order(view.seed, kTask, static_cast<std::uint32_t>(view.claimed.size()));
}

TEST_CASE("the checking order is a permutation that depends on seed and task") {
    auto order = checking_order(1, kTask, 50);
    CHECK(order == checking_order(1, kTask, 50));
    CHECK(order != checking_order(2, kTask, 50));
    CHECK(order != checking_order(1, TaskId{{8}}, 50));
    std::sort(order.begin(), order.end());
    for (std::uint32_t i = 0; i < 50; ++i) {
        CHECK(order[i] == i);
    }
}

TEST_CASE("a whistleblower replays every segment in its order and then rests") {
    WatchView view = fresh();
    for (const std::uint32_t segment : order_of(view)) {
        CHECK(decide_whistleblower(view) == Intent{intent::Replay{kTask, segment}});
        view.replays[segment].first = view.claimed[segment];
    }
    CHECK(decide_whistleblower(view) == Intent{Wait::kNothingDue});
}

TEST_CASE("LIN-2: segment 0 of a task with a parent is not replayed") {
    WatchView view = fresh();
    view.task.spec.parent = TaskId{{8}};
    std::uint32_t replayed = 0;
    for (const std::uint32_t segment : order_of(view)) {
        if (segment != 0) {
            CHECK(decide_whistleblower(view) == Intent{intent::Replay{kTask, segment}});
            view.replays[segment].first = view.claimed[segment];
            ++replayed;
        }
    }
    CHECK(replayed == 3);
    CHECK(decide_whistleblower(view) == Intent{Wait::kNothingDue});
}

TEST_CASE("a contradiction is replayed again before it is disputed, and one dispute is enough") {
    WatchView view = fresh();
    const std::uint32_t segment = order_of(view)[1];
    view.replays[segment].first = Hash256{{1}};
    view.replays[order_of(view)[0]].first = view.claimed[order_of(view)[0]];
    CHECK(decide_whistleblower(view) == Intent{intent::Replay{kTask, segment}});
    view.replays[segment].second = Hash256{{1}};
    CHECK(decide_whistleblower(view) == Intent{intent::OpenDispute{kTask, segment}});
    view.free_stake = Amount{0};
    CHECK(decide_whistleblower(view) == Intent{Wait::kNoStake});
    view.has_disputed = true;
    CHECK(decide_whistleblower(view) == Intent{Wait::kOtherParty});
}

TEST_CASE("a segment that cannot be computed is skipped") {
    WatchView view = fresh(2);
    const auto order = order_of(view);
    view.replays[order[0]].unable = true;
    CHECK(decide_whistleblower(view) == Intent{intent::Replay{kTask, order[1]}});
    view.replays[order[1]].first = Hash256{{1}};
    view.replays[order[1]].second = Hash256{{2}};
    CHECK(decide_whistleblower(view) == Intent{Wait::kNothingDue});
}

TEST_CASE("a missing artifact waits behind the other segments and is asked for as long as the task lasts") {
    WatchView view = fresh(2);
    const auto order = order_of(view);
    view.replays[order[0]].missing_checkpoint = 1;
    view.replays[order[0]].fetch_failures = 1;
    CHECK(decide_whistleblower(view) == Intent{intent::Replay{kTask, order[1]}});
    view.replays[order[1]].first = view.claimed[order[1]];
    CHECK(decide_whistleblower(view) == Intent{intent::Replay{kTask, order[0]}});
    view.replays[order[0]].fetch_failures = 100;
    CHECK(decide_whistleblower(view) == Intent{intent::Replay{kTask, order[0]}});
}

TEST_CASE("a whistleblower watches from completion to settlement, not its own task, not with an open breaker") {
    for (const auto state : {TaskState::kCompleted, TaskState::kVerifying, TaskState::kChallenge}) {
        WatchView view = fresh();
        view.task.state = state;
        view.task.deadline = Height{5};
        CHECK(std::holds_alternative<intent::Replay>(decide_whistleblower(view)));
    }
    for (const auto state :
         {TaskState::kOpen, TaskState::kDrawn, TaskState::kTraining, TaskState::kSettled, TaskState::kConvicted,
          TaskState::kCancelled, TaskState::kExpired}) {
        WatchView view = fresh();
        view.task.state = state;
        CHECK(decide_whistleblower(view) == Intent{Wait::kNothingDue});
    }
    WatchView view = fresh();
    view.task.state = TaskState::kChallenge;
    view.task.deadline = Height{0};
    CHECK(decide_whistleblower(view) == Intent{Wait::kNothingDue});
    view = fresh();
    view.task.solver = view.self;
    CHECK(decide_whistleblower(view) == Intent{Wait::kNothingDue});
    view = fresh();
    view.is_breaker_open = true;
    CHECK(decide_whistleblower(view) == Intent{Wait::kBreaker});
}

TEST_CASE("DSP-44: what is judged by distance is its verdicts', not a whistleblower's") {
    WatchView view = fresh(2);
    view.task.tolerance.emplace();
    view.replays[0].first = view.claimed[0];
    CHECK(decide_whistleblower(view) == Intent{Wait::kNothingDue});
    view.replays[1].first = Hash256{{1}};  // near, as it has to be
    CHECK(decide_whistleblower(view) == Intent{Wait::kNothingDue});
    view.replays[1].first.reset();
    view.replays[1].missing_checkpoint = 1;
    CHECK(decide_whistleblower(view) == Intent{Wait::kNothingDue});
}

}  // namespace
}  // namespace assay::roles
