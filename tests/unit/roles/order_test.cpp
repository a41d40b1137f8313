// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <vector>

#include <doctest/doctest.h>

#include <verifier/roles/order.hpp>

namespace assay::roles {
namespace {

TEST_CASE("what ends first is done first, and what has no deadline last") {
    std::map<TaskId, contracts::Task> tasks;
    const auto add = [&tasks](std::uint8_t name, std::uint64_t deadline) {
        const TaskId id{{name}};
        tasks[id].id = id;
        tasks[id].deadline = Height{deadline};
    };
    add(1, 0);
    add(2, 90);
    add(3, 20);
    add(4, 20);
    const auto order = by_deadline(tasks);
    REQUIRE(order.size() == 4);
    CHECK(order[0].id == TaskId{{3}});
    CHECK(order[1].id == TaskId{{4}});
    CHECK(order[2].id == TaskId{{2}});
    CHECK(order[3].id == TaskId{{1}});

    contracts::Dispute early;
    early.phase = contracts::AwaitingDisclosure{Height{5}};
    contracts::Dispute late;
    late.phase = contracts::AwaitingDisclosure{Height{6}};
    CHECK(by_deadline(std::vector<contracts::Dispute>{late, early}).front().deadline() == Height{5});
}

TEST_CASE("a replay for one dispute is left for a move that is due earlier in another, unless that was just tried") {
    std::vector<contracts::Dispute> due(3);
    for (std::uint8_t i = 0; i < 3; ++i) {
        due[i].id = contracts::DisputeId{{i}};
    }
    const contracts::DisputeId playing = due[1].id;
    CHECK(gives_way(playing, due, {{playing, 0}}));
    CHECK_FALSE(gives_way(playing, due, {{playing, 0}, {due[0].id, 0}}));
    due[0].position.rounds = 1;  // it was tried in the round before
    CHECK(gives_way(playing, due, {{playing, 0}, {due[0].id, 0}}));
    due.erase(due.begin());
    CHECK_FALSE(gives_way(playing, due, {{playing, 0}}));  // the other one is due later
    due.erase(due.begin());
    CHECK(gives_way(playing, due, {{playing, 0}}));  // no move is due in it any more
    CHECK(gives_way(playing, {}, {{playing, 0}}));
}

TEST_CASE("computations are long, and transactions are not") {
    CHECK(is_long(intent::Replay{}));
    CHECK(is_long(intent::ReplayProbe{}));
    CHECK(is_long(intent::Train{}));
    CHECK(is_long(intent::Accept{}));    // a step is tried before
    CHECK(is_long(intent::Complete{}));  // the score is computed
    CHECK(!is_long(intent::Commit{}));
    CHECK(!is_long(intent::Publish{}));
    CHECK(!is_long(intent::Disclose{}));
    CHECK(!is_long(intent::PostCheckpoint{}));
    CHECK(!is_long(intent::OpenDispute{}));
    CHECK(!is_long(Wait::kNothingDue));
}

}  // namespace
}  // namespace assay::roles
