// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <contracts/state/members.hpp>
#include <verifier/roles/seats.hpp>

using namespace assay;
using roles::next_seats;
using roles::seated;

namespace {

AccountId account(std::uint8_t number) {
    AccountId out;
    out.data[0] = number;
    return out;
}

/// In training of its second segment of four; the lead is account 0, which has partners 1 and 2.
contracts::Task make_task() {
    contracts::Task task;
    task.state = contracts::TaskState::kTraining;
    task.spec.steps = 16;
    task.spec.checkpoint_interval = 4;
    task.spec.members = 4;
    task.checkpoints = 2;
    task.solver = account(0);
    task.group.emplace();
    task.group->is_together = true;
    task.group->partners = {{account(1), {100}}, {account(2), {100}}};
    task.group->seats = {0, 1, 2};
    task.group->posters = {0, 0};
    return task;
}

}  // namespace

TEST_CASE("GRP-13: a list without who is gone, and with who wants to join") {
    const contracts::Task task = make_task();
    CHECK(next_seats(task, {}, {}).empty());
    CHECK(next_seats(task, {}, {account(1)}).empty());  // it has a seat
    CHECK(next_seats(task, {account(1)}, {}) == std::vector{account(0), account(2)});
    CHECK(next_seats(task, {}, {account(3)}) == std::vector{account(0), account(1), account(2), account(3)});
    CHECK(next_seats(task, {account(2)}, {account(3)}) == std::vector{account(0), account(1), account(3)});
    // Who goes need not wait for consent to who joins.
    CHECK(next_seats(task, {account(2)}, {account(3), account(4)}) == std::vector{account(0), account(1), account(3)});
    CHECK(next_seats(task, {account(0)}, {}).empty());     // the lead stays
    CHECK(next_seats(task, {}, {account(3)}, 3).empty());  // the steps are divided among three at most
    // The task admits four seats.
    CHECK(next_seats(task, {}, {account(3), account(4)}).size() == 4);
    CHECK(next_seats(task, {account(3)}, {account(3)}).empty());
}

TEST_CASE("GRP-13: nobody who was convicted or is out is on the list") {
    contracts::Task task = make_task();
    task.group->convicted = {1};
    CHECK(next_seats(task, {}, {account(1)}) == std::vector{account(0), account(2)});
    task = make_task();
    task.group->demanded = {2, 2};
    contracts::vacate_seats(task, 2);
    CHECK(seated(task, 1) == std::vector{account(1), account(2)});
    CHECK(seated(task, 2) == std::vector{account(1)});
    CHECK(next_seats(task, {}, {account(2)}) == std::vector{account(0), account(1)});
}

TEST_CASE("GRP-13: no list for a segment that there is not, and none beyond the last that the rules allow") {
    contracts::Task task = make_task();
    task.checkpoints = 4;  // the last one is in training
    CHECK(next_seats(task, {account(1)}, {}).empty());
    task.checkpoints = 3;
    CHECK_FALSE(next_seats(task, {account(1)}, {}).empty());
    task.group->earlier.assign(contracts::kMaxSeatings, {1, {0, 1, 2}});
    CHECK(next_seats(task, {account(1)}, {}).empty());
}
