// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/params/by_value.hpp>
#include <contracts/state/members.hpp>
#include <contracts/tasks/seats.hpp>
#include <tests/unit/contracts/statements.hpp>

/// How the seats of a group that computes each step together change while it trains (GRP-13, GRP-14).

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

/// What a member is paid of this part of the reward, in so many payments' roundings less.
std::uint64_t taxed(const Chain& chain, std::uint64_t amount) {
    return amount - amount * chain.params.tax_bps / 10'000;
}

bool is_about(std::uint64_t got, std::uint64_t wanted) { return got <= wanted + 10 && got + 10 >= wanted; }

}  // namespace

// The toy task has three segments, of 4, 4 and 2 steps of 10.

TEST_CASE("GRP-13: who joins has a bond, and is paid from its first segment on") {
    Team team(honest());
    Chain& chain = team.chain;
    const std::size_t index = add_partner(chain);
    const Actor late = chain.others[index];
    team.post(honest(), 2);
    CHECK(chain.run(chain.solver, make_reseat(team.id, 2, {&chain.solver, &team.members[0], &team.members[1]})) == 0);
    // Three seats are all that this task admits, so a member has to go for who comes.
    CHECK(
        chain.fail(chain.solver, make_reseat(team.id, 2, {&chain.solver, &team.members[0], &team.members[1], &late})) ==
        TxError::kSeatsInvalid
    );
    const auto with_late = [&](std::uint32_t from) {
        return make_reseat(team.id, from, {&chain.solver, &team.members[0], &late});
    };
    CHECK(chain.fail(chain.solver, with_late(2)) == TxError::kSeatsInvalid);  // it is in the middle of segment 2
    CHECK(chain.fail(chain.solver, with_late(4)) == TxError::kSeatsInvalid);
    REQUIRE(chain.run(chain.solver, with_late(3)) == 0);
    CHECK(chain.stake(Role::kSolver, late).locked.grains == team.bond);
    // What was given for segment 3 is not overtaken by a list for segment 2.
    CHECK(
        chain.fail(chain.solver, make_reseat(team.id, 2, {&chain.solver, &team.members[0], &team.members[1]})) ==
        TxError::kSeatsInvalid
    );
    CHECK(seats_for(chain.task(team.id), 1) == std::vector<std::uint8_t>{0, 1, 2});
    CHECK(seats_for(chain.task(team.id), 2) == std::vector<std::uint8_t>{0, 1, 2});
    CHECK(seats_for(chain.task(team.id), 3) == std::vector<std::uint8_t>{0, 1, 3});

    const std::uint64_t before_late = chain.balance(late);
    const std::uint64_t before_left = chain.balance(team.members[1]);
    team.finish(honest());
    chain.end_windows(team.id);
    REQUIRE(chain.task(team.id).state == TaskState::kSettled);
    const std::uint64_t reward = chain.task(team.id).spec.reward.grains;
    CHECK(is_about(chain.balance(late) - before_late, taxed(chain, reward * 2 / 10 / 3)));
    CHECK(is_about(chain.balance(team.members[1]) - before_left, taxed(chain, reward * 8 / 10 / 3)));
    CHECK(chain.stake(Role::kSolver, late).locked.grains == 0);
    CHECK(team.locked(team.members[1]) == 0);
}

TEST_CASE("GRP-13: seats of other numbers, at once where nobody loses one") {
    Team team(honest());
    Chain& chain = team.chain;
    team.post(honest(), 1);
    // The lead had one of three seats. It gives one of the others' to itself, and they sign.
    REQUIRE(chain.run(chain.solver, make_reseat(team.id, 2, {&chain.solver, &chain.solver, &team.members[0]})) == 0);
    const std::uint64_t before = chain.balance(team.members[1]);
    const std::uint64_t before_one = chain.balance(team.members[0]);
    team.finish(honest());
    chain.end_windows(team.id);
    const std::uint64_t reward = chain.task(team.id).spec.reward.grains;
    CHECK(is_about(chain.balance(team.members[1]) - before, taxed(chain, reward * 4 / 10 / 3)));
    CHECK(is_about(chain.balance(team.members[0]) - before_one, taxed(chain, reward / 3)));
}

TEST_CASE("GRP-13: a list is the lead's, is signed for its first segment, and names nobody who may not sit") {
    Team team(honest());
    Chain& chain = team.chain;
    const Actor poor = make_actor(90);
    REQUIRE(chain.run(chain.stranger, Transfer{poor.id, {2 * kCoin}}) == 0);
    team.post(honest(), 1);
    const Actor& one = team.members[0];
    const Actor& two = team.members[1];

    CHECK(chain.fail(one, make_reseat(team.id, 1, {&one, &chain.solver, &two})) == TxError::kNotSolver);
    CHECK(chain.fail(chain.solver, make_reseat(team.id, 1, {&one, &chain.solver, &two})) == TxError::kSeatsInvalid);
    Reseat other_segment = make_reseat(team.id, 2, {&chain.solver, &one, &two});
    other_segment.from = 1;
    CHECK(chain.fail(chain.solver, other_segment) == TxError::kSeatsNotSigned);
    Reseat accepted = make_reseat(team.id, 1, {&chain.solver, &one, &two});
    accepted.signatures = make_acceptance(team.id, {&chain.solver, &one, &two}, true).signatures;
    CHECK(chain.fail(chain.solver, accepted) == TxError::kSeatsNotSigned);
    CHECK(
        chain.fail(chain.solver, make_reseat(team.id, 2, {&chain.solver, &one, &poor})) == TxError::kInsufficientStake
    );
    CHECK(
        chain.fail(chain.solver, Reseat{.task = team.id, .from = 1, .seats = {}, .signatures = {}}) ==
        TxError::kSeatsInvalid
    );
    CHECK(chain.fail(chain.stranger, make_reseat(team.id, 1, {&chain.stranger, &one, &two})) == TxError::kNotSolver);
    // Who was convicted has no seat any more once there is another list.
    const Signed says = make_statement(team.id, honest(), {.step = 1, .index = 2}, one);
    const Signed says_too = make_statement(team.id, ToyRun(Tamper{false, 1, 2, 2}), {.step = 1, .index = 2}, one);
    REQUIRE(
        chain.run(
            two, ReportEquivocation{team.id, one.id, says.stated, says.signature, says_too.stated, says_too.signature}
        ) == 0
    );
    CHECK(chain.fail(chain.solver, make_reseat(team.id, 2, {&chain.solver, &one, &two})) == TxError::kSeatsInvalid);
    CHECK(chain.run(chain.solver, make_reseat(team.id, 2, {&chain.solver, &two})) == 0);
    // Once the last segment is posted there is nothing left to have a seat for.
    team.post(honest(), 4);
    CHECK(chain.fail(chain.solver, make_reseat(team.id, 4, {&chain.solver, &two})) == TxError::kSegmentUnknown);
}

TEST_CASE("GRP-13: members that take turns have their seats by posting") {
    Chain chain(all_segments());
    chain.bond_all();
    chain.add_verifiers(1);
    const TaskId id = start_group(chain, honest().spec(), 1);
    const Actor partner = chain.others.back();
    CHECK(chain.fail(chain.solver, make_reseat(id, 1, {&chain.solver, &partner})) == TxError::kNotTogether);
    CHECK(chain.fail(chain.solver, Demand{id, partner.id}) == TxError::kNotTogether);
}

TEST_CASE("GRP-14: a demand costs both the same, and the second one ends the member's seats") {
    Team team(honest());
    Chain& chain = team.chain;
    team.post(honest(), 1);
    const Actor& one = team.members[0];
    const Actor& two = team.members[1];
    const std::uint64_t cost = demand_cost(chain.params, task_value(chain.task(team.id).spec)).grains;
    CHECK(cost == (team.bond + 255) / 256);

    REQUIRE(chain.run(chain.solver, Demand{team.id, two.id}) == 0);
    CHECK(team.locked(chain.solver) == team.bond - cost);
    CHECK(team.locked(two) == team.bond - cost);
    CHECK(seats_for(chain.task(team.id), 1) == std::vector<std::uint8_t>{0, 1, 2});
    team.post(honest(), 2);  // segment 1 is posted, 2 is in training
    REQUIRE(chain.run(one, Demand{team.id, two.id}) == 0);
    CHECK(team.locked(one) == team.bond - cost);
    CHECK(team.locked(two) == team.bond - 2 * cost);
    CHECK(chain.slashed(team.id, Reason::kDemand) == std::vector{cost, cost, cost, cost});
    CHECK(seats_for(chain.task(team.id), 1) == std::vector<std::uint8_t>{0, 1, 2});
    CHECK(seats_for(chain.task(team.id), 2) == std::vector<std::uint8_t>{0, 1, kVacant});
    CHECK(seats_for(chain.task(team.id), 3) == std::vector<std::uint8_t>{0, 1, kVacant});
    // It is out: nobody demands anything of it, nor has a seat for it, and it demands nothing.
    CHECK(chain.fail(one, Demand{team.id, two.id}) == TxError::kNotTogether);
    CHECK(chain.fail(two, Demand{team.id, one.id}) == TxError::kNotTogether);
    CHECK(chain.fail(chain.solver, make_reseat(team.id, 3, {&chain.solver, &one, &two})) == TxError::kSeatsInvalid);

    const std::uint64_t before_one = chain.balance(one);
    const std::uint64_t before_two = chain.balance(two);
    team.finish(honest());
    chain.end_windows(team.id);
    REQUIRE(chain.task(team.id).state == TaskState::kSettled);
    const std::uint64_t reward = chain.task(team.id).spec.reward.grains;
    // Nobody gains by what it was not paid: a seat that is nobody's earns nothing.
    CHECK(is_about(chain.balance(two) - before_two, taxed(chain, reward * 4 / 10 / 3)));
    CHECK(is_about(chain.balance(one) - before_one, taxed(chain, reward / 3)));
    CHECK(chain.stake(Role::kSolver, two).free.grains == team.bond - 2 * cost);
}

TEST_CASE("GRP-14: the lead keeps its seats, and pays for two demands at most") {
    Team team(honest());
    Chain& chain = team.chain;
    team.post(honest(), 1);
    const std::uint64_t cost = demand_cost(chain.params, task_value(chain.task(team.id).spec)).grains;
    REQUIRE(chain.run(team.members[0], Demand{team.id, chain.solver.id}) == 0);
    REQUIRE(chain.run(team.members[1], Demand{team.id, chain.solver.id}) == 0);
    CHECK(team.locked(chain.solver) == team.bond - 2 * cost);
    CHECK(chain.fail(team.members[0], Demand{team.id, chain.solver.id}) == TxError::kNotTogether);
    CHECK(seats_for(chain.task(team.id), 1) == std::vector<std::uint8_t>{0, 1, 2});
    team.post(honest(), 2);
    CHECK(chain.task(team.id).checkpoints == 2);
}

TEST_CASE("GRP-14: who is out has no seat of a list that begins later, either") {
    Team team(honest());
    Chain& chain = team.chain;
    team.post(honest(), 1);
    const Actor& one = team.members[0];
    const Actor& two = team.members[1];
    REQUIRE(chain.run(chain.solver, make_reseat(team.id, 2, {&chain.solver, &two, &one})) == 0);
    REQUIRE(chain.run(chain.solver, Demand{team.id, one.id}) == 0);
    REQUIRE(chain.run(two, Demand{team.id, one.id}) == 0);
    CHECK(seats_for(chain.task(team.id), 1) == std::vector<std::uint8_t>{0, kVacant, 2});
    CHECK(seats_for(chain.task(team.id), 2) == std::vector<std::uint8_t>{0, 2, kVacant});
    REQUIRE(chain.run(chain.solver, make_reseat(team.id, 2, {&chain.solver, &two})) == 0);
    CHECK(seats_for(chain.task(team.id), 1) == std::vector<std::uint8_t>{0, kVacant, 2});
    CHECK(seats_for(chain.task(team.id), 3) == std::vector<std::uint8_t>{0, 2});
}

TEST_CASE("GRP-14: nobody demands without a bond, of itself, or of who is no member") {
    Team team(honest());
    Chain& chain = team.chain;
    team.post(honest(), 1);
    const Actor& one = team.members[0];
    CHECK(chain.fail(one, Demand{team.id, one.id}) == TxError::kNotTogether);
    CHECK(chain.fail(one, Demand{team.id, chain.stranger.id}) == TxError::kNotTogether);
    CHECK(chain.fail(chain.stranger, Demand{team.id, one.id}) == TxError::kNotSolver);
    CHECK(chain.fail(one, Demand{TaskId{}, one.id}) == TxError::kTaskUnknown);
    team.finish(honest());
    CHECK(chain.fail(one, Demand{team.id, chain.solver.id}) == TxError::kTaskState);
}
