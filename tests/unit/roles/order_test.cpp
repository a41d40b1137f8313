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
