// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/params/spec.hpp>
#include <contracts/state/members.hpp>
#include <contracts/tasks/seats.hpp>
#include <tests/unit/contracts/groups.hpp>

/// How a group forms, posts in turns, and is paid (GRP-1 to GRP-6, GRP-8).

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

std::uint64_t locked(const Chain& chain, const Actor& actor) { return chain.stake(Role::kSolver, actor).locked.grains; }

PostCheckpoint checkpoint(const TaskId& id, std::uint32_t index) {
    return {id, index, hash_of(std::to_string(index)), {}};
}

std::vector<Hash256> roots() { return {hash_of("0"), hash_of("1"), hash_of("2"), hash_of("3")}; }

/// Through the verdicts of everybody and the windows.
void settle(Chain& chain, const TaskId& id) {
    await_state(chain, id, TaskState::kVerifying);
    chain.commit_all(id);
    chain.publish_all(id);
    chain.end_windows(id);
    REQUIRE(chain.task(id).state == TaskState::kSettled);
}

void unlist(Chain& chain, const Actor& actor) {
    Overlay state = Overlay::over(chain.view);
    Stake stake = get_stake(chain.view, Role::kSolver, actor.id);
    stake.is_unlisted = true;
    set_stake(state, Role::kSolver, actor.id, stake);
    chain.view.apply(state.changes());
}

}  // namespace

TEST_CASE("GRP-1, TASK-2.10: a task admits 1 to 64 seats, and in tolerance mode one") {
    for (const int members : {1, 2, 64}) {
        TaskSpec spec = make_spec();
        spec.members = static_cast<std::uint8_t>(members);
        CHECK(check_spec(spec).has_value());
    }
    for (const int members : {0, 65, 255}) {
        TaskSpec spec = make_spec();
        spec.members = static_cast<std::uint8_t>(members);
        CHECK(check_spec(spec).error() == TxError::kSpecInvalid);
    }
    TaskSpec spec = make_spec();
    spec.mode = Mode::kTolerance;
    spec.distance = DistanceCommitment{hash_of("distance"), 5, 0, 0};
    CHECK(check_spec(spec).has_value());
    spec.members = 2;
    CHECK(check_spec(spec).error() == TxError::kSpecInvalid);
}

TEST_CASE("GRP-2: an acceptance with seats needs everybody's signature over the same list") {
    Params params = quick_params();
    params.accept_blocks = 50;
    Chain chain(params);
    chain.bond_all();
    chain.add_verifiers(1);
    TaskSpec spec = make_spec();
    spec.members = 3;
    const TaskId id = drawn_group_task(chain, spec);
    const std::size_t first = add_partner(chain);
    const std::size_t second = add_partner(chain);
    const Actor lead = chain.solver;
    const Actor one = chain.others[first];
    const Actor other = chain.others[second];
    const auto refused = [&](const AcceptTask& action) { return chain.fail(chain.solver, action); };

    AcceptTask unsigned_seats = make_acceptance(id, {&lead, &one, &other});
    unsigned_seats.signatures.pop_back();
    CHECK(refused(unsigned_seats) == TxError::kSeatsNotSigned);
    AcceptTask swapped = make_acceptance(id, {&lead, &one, &other});
    std::swap(swapped.signatures[0], swapped.signatures[1]);
    CHECK(refused(swapped) == TxError::kSeatsNotSigned);
    AcceptTask another_list = make_acceptance(id, {&lead, &one, &other});
    another_list.signatures = make_acceptance(id, {&lead, &other, &one}).signatures;
    std::swap(another_list.signatures[0], another_list.signatures[1]);
    CHECK(refused(another_list) == TxError::kSeatsNotSigned);
    AcceptTask another_task = make_acceptance(TaskId{}, {&lead, &one});
    another_task.task = id;
    CHECK(refused(another_task) == TxError::kSeatsNotSigned);
    AcceptTask another_chain = make_acceptance(id, {&lead, &one});
    another_chain.signatures = {one.key.sign(seats_claim("test-2", {.task = id, .seats = another_chain.seats}).view())};
    CHECK(refused(another_chain) == TxError::kSeatsNotSigned);

    CHECK(refused(make_acceptance(id, {&one, &lead})) == TxError::kSeatsInvalid);
    CHECK(refused(make_acceptance(id, {&lead, &lead})) == TxError::kSeatsInvalid);
    CHECK(refused(make_acceptance(id, {&lead, &one, &other, &one})) == TxError::kSeatsInvalid);
    AcceptTask no_seats{.task = id, .seats = {}, .signatures = {Signature{}}};
    CHECK(refused(no_seats) == TxError::kSeatsInvalid);
    AcceptTask too_many{.task = id, .seats = std::vector<AccountId>(65, lead.id), .signatures = {}};
    CHECK(refused(too_many) == TxError::kFieldOutOfRange);

    CHECK(chain.task(id).state == TaskState::kDrawn);
    CHECK(chain.run(chain.solver, make_acceptance(id, {&lead, &one, &one})) == 0);
    const Task task = chain.task(id);
    REQUIRE(task.group.has_value());
    CHECK(task.group->seats == std::vector<std::uint8_t>{0, 1, 1});
    CHECK(task.group->partners.size() == 1);
    const auto accepted = std::find_if(chain.history.begin(), chain.history.end(), [](const HistoryRecord& record) {
        return std::holds_alternative<history::Accepted>(record.event);
    });
    REQUIRE(accepted != chain.history.end());
    CHECK(std::get<history::Accepted>(accepted->event).seats == std::vector{lead.id, one.id, one.id});
}

TEST_CASE("GRP-2: each member has stake, is listed and of the class, and seats are paid for") {
    Params params = quick_params();
    params.accept_blocks = 50;
    params.hardware_classes = {{"cpu", 1}, {"gpu", 100}};
    Chain chain(params);
    chain.bond_all();
    chain.add_verifiers(1);
    REQUIRE(chain.run(chain.solver, RegisterTerms{Role::kSolver, {.hardware_class = 1}, 5}) == 0);
    TaskSpec spec = make_spec();
    spec.members = 2;
    spec.hardware_class = 1;
    const TaskId id = drawn_group_task(chain, spec);
    add_partner(chain, {member_bond(chain.params, task_value(spec)).grains - 1});
    const auto partner = [&]() -> const Actor& { return chain.others.back(); };
    const auto acceptance = [&] { return make_acceptance(id, {&chain.solver, &chain.others.back()}); };
    CHECK(chain.fail(chain.solver, acceptance()) == TxError::kSeatsInvalid);  // not of the class
    REQUIRE(chain.run(partner(), RegisterTerms{Role::kSolver, {.hardware_class = 1}, 5}) == 0);
    CHECK(chain.fail(chain.solver, acceptance()) == TxError::kInsufficientStake);
    REQUIRE(chain.run(partner(), Bond{Role::kSolver, {1}}) == 0);
    unlist(chain, partner());
    CHECK(chain.fail(chain.solver, acceptance()) == TxError::kSeatsInvalid);
    REQUIRE(chain.run(partner(), RegisterTerms{Role::kSolver, {.hardware_class = 1}, 5}) == 0);
    const Height due = chain.task(id).deadline;
    const Bytes unpaid = chain.make_tx(chain.solver, acceptance(), due.value, Amount{});
    CHECK(chain.run_block({unpaid}).receipts.at(0).code == static_cast<std::uint8_t>(TxError::kFeeTooLow));
    CHECK(chain.task(id).state == TaskState::kDrawn);
    CHECK(chain.run(chain.solver, acceptance()) == 0);
    CHECK(chain.task(id).state == TaskState::kTraining);
}

TEST_CASE("GRP-3: segments belong to the seats in turn, and no member judges the task") {
    Params params = quick_params();
    params.segments_checked = 4;
    params.watchers_per_verdict = 2;
    Chain chain(params);
    chain.bond_all();
    const TaskId id = start_group(chain, make_spec(), 2);
    const Task task = chain.task(id);
    const AccountId first = chain.others[0].id;
    const AccountId second = chain.others[1].id;
    const std::vector<AccountId> owners{chain.solver.id, chain.solver.id, first, second, chain.solver.id};
    for (std::uint32_t i = 0; i < owners.size(); ++i) {
        CHECK(owner_of(task, i) == owners[i]);
    }
    for (const Actor& partner : chain.others) {
        REQUIRE(chain.run(partner, Bond{Role::kVerifier, {20 * kCoin}}) == 0);
        REQUIRE(chain.run(partner, Bond{Role::kWhistleblower, {20 * kCoin}}) == 0);
    }
    post_by_turns(chain, id, roots());
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
    await_state(chain, id, TaskState::kVerifying);
    chain.commit_all(id);
    chain.skip(2);
    std::size_t watched = 0;
    for (const Assignment& assignment : chain.task(id).assignments) {
        CHECK(assignment.verifier == chain.verifier.id);
        for (const AccountId& watcher : assignment.watchers) {
            CHECK(watcher == chain.whistleblower.id);
            ++watched;
        }
    }
    CHECK(watched != 0);
}

TEST_CASE("GRP-4: each member posts in its turn, and another may after the turn and has the seat from then on") {
    Chain chain;
    chain.bond_all();
    const TaskId id = start_group(chain, make_spec(), 1);
    const Actor partner = chain.others[0];
    const std::uint64_t turn = turn_blocks(chain.task(id));
    CHECK(turn == 10);  // 30 blocks for 3 segments, 2 seats
    CHECK(chain.fail(partner, checkpoint(id, 0)) == TxError::kNotNext);
    CHECK(chain.fail(chain.stranger, checkpoint(id, 0)) == TxError::kNotSolver);
    CHECK(chain.run(chain.solver, checkpoint(id, 0)) == 0);
    CHECK(chain.fail(partner, checkpoint(id, 1)) == TxError::kNotNext);
    CHECK(chain.run(chain.solver, checkpoint(id, 1)) == 0);
    const std::uint64_t since = chain.height.value;
    CHECK(chain.fail(chain.solver, checkpoint(id, 2)) == TxError::kNotNext);
    chain.skip(since + turn - 2 - chain.height.value);
    CHECK(chain.fail(chain.solver, checkpoint(id, 2)) == TxError::kNotNext);
    CHECK(chain.height.value == since + turn - 1);
    const Bytes unpaid = chain.make_tx(chain.solver, checkpoint(id, 2), chain.task(id).deadline.value, Amount{});
    CHECK(chain.run_block({unpaid}).receipts.at(0).code == 0);  // a duty that passed to the lead (DTY-2)
    CHECK(chain.task(id).group->seats == std::vector<std::uint8_t>{0, 0});
    CHECK(chain.task(id).group->posters == std::vector<std::uint8_t>{0, 0, 0});
    CHECK(chain.fail(partner, checkpoint(id, 3)) == TxError::kNotNext);
    CHECK(chain.fail(partner, CompleteTask{id}) == TxError::kNotSolver);
}

TEST_CASE("GRP-4: who has been idle for a turn may still post, and the start passes as well") {
    Chain chain;
    chain.bond_all();
    const TaskId id = start_group(chain, make_spec(), 1);
    const Actor partner = chain.others[0];
    chain.skip(turn_blocks(chain.task(id)) - 1);
    CHECK(chain.run(partner, checkpoint(id, 0)) == 0);
    CHECK(chain.task(id).group->seats == std::vector<std::uint8_t>{0, 1});
    CHECK(chain.task(id).group->posters == std::vector<std::uint8_t>{1});
    chain.skip(turn_blocks(chain.task(id)));
    CHECK(chain.run(chain.solver, checkpoint(id, 1)) == 0);
    CHECK(chain.task(id).group->seats == std::vector<std::uint8_t>{0, 1});
}

TEST_CASE("GRP-5: each member locks five quarters of a bond, and who posted a segment answers for it") {
    Params params = quick_params();
    params.solver_bond_bps = 10'000;
    Chain chain(params);
    chain.bond_all();
    TaskSpec spec = make_spec();
    spec.members = 3;
    chain.add_verifiers(1);
    const TaskId id = drawn_group_task(chain, spec);
    add_partner(chain);
    const Actor partner = chain.others.back();
    REQUIRE(chain.run(chain.solver, make_acceptance(id, {&chain.solver, &partner, &partner})) == 0);
    const std::uint64_t bond = 23 * kCoin / 4 * 5;  // of the task's value
    CHECK(locked(chain, chain.solver) == bond);
    CHECK(locked(chain, partner) == bond);
    post_by_turns(chain, id, roots());
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
    REQUIRE(chain.run(chain.solver, Bond{Role::kWhistleblower, {20 * kCoin}}) == 0);
    REQUIRE(chain.run(partner, Bond{Role::kWhistleblower, {20 * kCoin}}) == 0);
    CHECK(chain.fail(chain.solver, OpenDispute{id, 1, Role::kWhistleblower}) == TxError::kNotParty);
    CHECK(chain.fail(partner, OpenDispute{id, 3, Role::kWhistleblower}) == TxError::kNotParty);
    CHECK(chain.run(chain.solver, OpenDispute{id, 2, Role::kWhistleblower}) == 0);
    CHECK(find_dispute(chain.view, dispute_id(id, 2, chain.solver.id))->responder == partner.id);
    CHECK(chain.run(partner, OpenDispute{id, 1, Role::kWhistleblower}) == 0);
    CHECK(find_dispute(chain.view, dispute_id(id, 1, partner.id))->responder == chain.solver.id);
}

TEST_CASE("GRP-6: a deadline with nothing posted costs the lead and nobody else, and the task expires") {
    Chain chain;
    chain.bond_all();
    const TaskId id = start_group(chain, make_spec(), 1);
    CHECK(chain.run(chain.solver, checkpoint(id, 0)) == 0);
    chain.skip(29);
    CHECK(chain.task(id).state == TaskState::kExpired);
    const std::uint64_t bond = members_bond(chain);
    CHECK(chain.slashed(id, Reason::kMissedDeadline) == std::vector{bond / 4});
    CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == 100 * kCoin - bond / 4);
    CHECK(chain.stake(Role::kSolver, chain.others[0]).free.grains == bond);
    CHECK(chain.paid(id, Reason::kRefund) == std::vector<std::uint64_t>{23 * kCoin});
}

TEST_CASE("GRP-6, GRP-8: what was posted by the deadline is judged and paid, and the lead pays for the rest") {
    Chain chain;
    chain.bond_all();
    const TaskId id = start_group(chain, make_spec(), 1);
    for (std::uint32_t i = 0; i < 3; ++i) {
        const AccountId owner = owner_of(chain.task(id), i);
        REQUIRE(chain.run(chain.actor_of(owner), checkpoint(id, i)) == 0);
    }
    chain.skip(27);
    CHECK(chain.task(id).state == TaskState::kCompleted);
    CHECK(segment_count(chain.task(id)) == 2);
    CHECK(chain.slashed(id, Reason::kMissedDeadline) == std::vector{members_bond(chain) / 4});
    settle(chain, id);
    CHECK(chain.paid(id, Reason::kReward) == std::vector<std::uint64_t>{8 * kCoin, 8 * kCoin});
    CHECK(chain.paid(id, Reason::kRefund) == std::vector<std::uint64_t>{4 * kCoin});
    CHECK(locked(chain, chain.solver) == 0);
    CHECK(locked(chain, chain.others[0]) == 0);
}

TEST_CASE("GRP-8: each member is paid for the steps that it posted, and what does not divide goes back") {
    Params params = quick_params();
    params.tax_bps = 1'000;
    Chain chain(params);
    chain.bond_all();
    TaskSpec spec = make_spec();
    spec.reward = {1'009};
    const TaskId id = start_group(chain, spec, 2);
    post_by_turns(chain, id, roots());
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
    const std::vector<Share> shares = reward_shares(chain.task(id));
    REQUIRE(shares.size() == 3);
    CHECK(shares[0].amount.grains == 403);  // 4 of 10 steps
    CHECK(shares[1].amount.grains == 403);
    CHECK(shares[2].amount.grains == 201);
    CHECK(earned_reward(chain.task(id)).grains == 1'007);
    settle(chain, id);
    CHECK(chain.paid(id, Reason::kReward) == std::vector<std::uint64_t>{403 - 40, 403 - 40, 201 - 20});
    CHECK(chain.paid(id, Reason::kRefund) == std::vector<std::uint64_t>{2});
}

TEST_CASE("GRP-8: a divergence is declared by whose turn it is, and earns its steps") {
    const ToyRun diverging(std::nullopt, ToyRun::kDivergingScale);
    Chain chain;
    chain.bond_all();
    const TaskId id = start_group(chain, diverging.spec(), 1);
    for (std::uint32_t i = 0; i < 2; ++i) {
        REQUIRE(chain.run(chain.solver, PostCheckpoint{id, i, diverging.checkpoint_root(i), {}}) == 0);
    }
    const auto& state = diverging.state(ToyRun::kDivergesAt + 1);
    const DeclareDivergence action{
        id, ToyRun::kDivergesAt, root_of(state), {}, dispute::open_divergence(state).value()};
    CHECK(chain.fail(chain.solver, action) == TxError::kNotNext);
    REQUIRE(chain.run(chain.others[0], action) == 0);
    CHECK(chain.task(id).state == TaskState::kCompleted);
    CHECK(responder_of(chain.task(id), 2) == chain.others[0].id);
    const std::vector<Share> shares = reward_shares(chain.task(id));
    REQUIRE(shares.size() == 2);
    CHECK(shares[0].amount.grains == 8 * kCoin);  // steps 0 to 3
    CHECK(shares[1].amount.grains == 4 * kCoin);  // steps 4 and 5
}
