// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/params/gas.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/lifecycle/waiting.hpp>
#include <contracts/verification/verification.hpp>
#include <tests/unit/contracts/committees.hpp>
#include <tests/unit/contracts/distances.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

constexpr std::uint64_t kDrawPrice = 1'000'000;

Params priced_params() {
    Params params = quick_params();
    params.draw_price = {kDrawPrice};
    params.room_price = {20};
    params.draws_max = 3;
    return params;
}

TaskId submit(Chain& chain, const TaskSpec& spec = make_spec()) {
    const TaskId id = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
    REQUIRE(chain.run(chain.submitter, SubmitTask{spec}) == 0);
    return id;
}

std::uint64_t sum(const std::vector<std::uint64_t>& amounts) {
    std::uint64_t total = 0;
    for (const std::uint64_t amount : amounts) {
        total += amount;
    }
    return total;
}

/// Commits every verdict that is due but the one on a segment.
void commit_but(Chain& chain, const TaskId& id, std::uint32_t left_out) {
    for (const Assignment& assignment : chain.task(id).assignments) {
        if (assignment.segment != left_out && assignment.status == VerdictStatus::kDue) {
            const Hash256 root = claimed_root(chain.view, chain.task(id), assignment.segment);
            REQUIRE(chain.commit(chain.verifier, id, assignment.segment, root) == 0);
        }
    }
}

}  // namespace

TEST_CASE("TASK-17: a submission deposits what its waiting may cost, and has back what it did not use") {
    Chain chain(priced_params());
    chain.bond_all();
    const Amount deposit = waiting_deposit(chain.params, make_spec());
    CHECK(deposit.grains > 5 * kDrawPrice);  // draws_max, its verifiers' and its lottery's; and its room
    const std::uint64_t before = chain.balance(chain.submitter);
    const TaskId id = submit(chain);
    CHECK(chain.task(id).room == deposit);
    CHECK(chain.balance(chain.submitter) == before - kFee - 23 * kCoin - deposit.grains);
    chain.await_solver(id);
    CHECK(chain.task(id).room.grains == deposit.grains - kDrawPrice);
    REQUIRE(chain.run(chain.solver, AcceptTask{id}) == 0);
    const std::uint64_t waited = chain.height.value - chain.task(id).submitted_at.value;
    const std::uint64_t room = (deposit.grains - 5 * kDrawPrice) * waited / chain.params.draw_blocks;
    CHECK(chain.task(id).room.grains == deposit.grains - kDrawPrice - room);
    chain.post_checkpoints(id, {hash_of("0"), hash_of("1"), hash_of("2"), hash_of("3")});
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
    chain.skip(1);
    chain.commit_all(id);
    chain.publish_all(id);
    chain.end_windows(id);
    REQUIRE(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.task(id).room.grains == 0);
    CHECK(chain.paid(id, Reason::kRoom).back() == deposit.grains - 3 * kDrawPrice - room);
    CHECK(sum(chain.paid(id, Reason::kRoom)) == deposit.grains);
    CHECK(chain.burned() == 3 * kDrawPrice + room);
}

TEST_CASE("TASK-17: a task that is cancelled pays for the draws that were made") {
    Chain chain(priced_params());
    const std::uint64_t before = chain.balance(chain.submitter);
    const TaskId id = submit(chain);
    chain.skip(1);  // a draw, without a solver
    REQUIRE(chain.run(chain.submitter, CancelTask{id}) == 0);
    CHECK(chain.balance(chain.submitter) == before - 2 * kFee - kDrawPrice);
}

TEST_CASE("TASK-17: who cannot pay the deposit submits nothing") {
    Chain chain(priced_params());
    const std::uint64_t value = 23 * kCoin;
    const std::uint64_t left = value + waiting_deposit(chain.params, make_spec()).grains + kFee - 1;
    REQUIRE(chain.run(chain.stranger, Transfer{chain.pauper.id, {left}}) == 0);
    CHECK(chain.fail(chain.pauper, SubmitTask{make_spec()}) == TxError::kInsufficientBalance);
}

TEST_CASE("TASK-17: an open task expires when its draws are used up, or after draw_blocks") {
    Params params = priced_params();
    Chain chain(params);
    const TaskId id = submit(chain);
    chain.skip(1 + 2 + 3);  // TASK-18: draws in the block after, one block later, two blocks later
    CHECK(chain.task(id).state == TaskState::kOpen);
    CHECK(get_bookkeeping(chain.view, id).draws == 3);
    chain.skip(4 + 1);
    CHECK(chain.task(id).state == TaskState::kExpired);
    CHECK(chain.paid(id, Reason::kRefund) == std::vector{23 * kCoin});

    params.draws_max = 20;
    Chain patient(params);
    const TaskId other = submit(patient);
    patient.skip(params.draw_blocks - 1);
    CHECK(patient.task(other).state == TaskState::kOpen);
    patient.skip(1);
    CHECK(patient.task(other).state == TaskState::kExpired);
}

TEST_CASE(
    "TASK-15, TASK-17: who declines a draw or lets it lapse pays half of its price, and the submitter the other half"
) {
    Params params = priced_params();
    params.draw_price = {kDrawPrice + 1};
    constexpr std::uint64_t kHalf = kDrawPrice / 2;
    for (const bool declines : {true, false}) {
        CAPTURE(declines);
        Chain chain(params);
        chain.bond_all();
        const std::uint64_t before = chain.balance(chain.submitter);
        const TaskId id = submit(chain);
        const std::uint64_t deposit = chain.task(id).room.grains;
        chain.await_solver(id);
        CHECK(chain.task(id).solver_bond.grains == kHalf);
        CHECK(chain.stake(Role::kSolver, chain.solver).locked.grains == kHalf);
        if (declines) {
            REQUIRE(chain.run(chain.solver, DeclineTask{id}) == 0);
        } else {
            chain.skip(params.accept_blocks);
        }
        REQUIRE(chain.task(id).state == TaskState::kOpen);
        CHECK(chain.task(id).solver_bond.grains == 0);
        CHECK(chain.task(id).room.grains == deposit - (kDrawPrice + 1) + kHalf);
        CHECK(chain.slashed(id, Reason::kRoom) == std::vector{kHalf});
        CHECK(chain.stake(Role::kSolver, chain.solver).locked.grains == 0);
        CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == 100 * kCoin - kHalf);
        REQUIRE(chain.run(chain.submitter, CancelTask{id}) == 0);
        CHECK(chain.balance(chain.submitter) == before - 2 * kFee - (kDrawPrice + 1 - kHalf));
        CHECK(chain.burned() == kDrawPrice + 1);
    }
}

TEST_CASE("TASK-6: what a draw has locked is part of the bond of who accepts, and comes back when the task is cancelled"
) {
    for (const bool accepts : {true, false}) {
        CAPTURE(accepts);
        Chain chain(priced_params());
        const Amount bond = chain.params.solver_bond;
        REQUIRE(chain.run(chain.solver, Bond{Role::kSolver, bond}) == 0);               // and not a grain more
        REQUIRE(chain.run(chain.verifier, Bond{Role::kVerifier, {100 * kCoin}}) == 0);  // TRM-3
        const TaskId id = submit(chain);
        chain.await_solver(id);
        CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == bond.grains - kDrawPrice / 2);
        if (accepts) {
            REQUIRE(chain.run(chain.solver, AcceptTask{id}) == 0);
            CHECK(chain.task(id).solver_bond == bond);
            CHECK(chain.stake(Role::kSolver, chain.solver).locked == bond);
        } else {
            REQUIRE(chain.run(chain.submitter, CancelTask{id}) == 0);
            CHECK(chain.stake(Role::kSolver, chain.solver).free == bond);
            CHECK(chain.stake(Role::kSolver, chain.solver).locked.grains == 0);
        }
        CHECK(chain.slashed(id, Reason::kRoom).empty());
    }
}

TEST_CASE("TASK-6, TASK-15: a solver that takes its stake back before it declines pays all the same") {
    Chain chain(priced_params());
    chain.bond_all();
    const TaskId id = submit(chain);
    chain.await_solver(id);
    const Amount free = chain.stake(Role::kSolver, chain.solver).free;
    CHECK(chain.fail(chain.solver, Unbond{Role::kSolver, {100 * kCoin}}) == TxError::kInsufficientStake);
    REQUIRE(chain.run(chain.solver, Unbond{Role::kSolver, free}) == 0);
    CHECK(chain.fail(chain.solver, AcceptTask{id}) == TxError::kInsufficientStake);
    REQUIRE(chain.run(chain.solver, DeclineTask{id}) == 0);
    CHECK(chain.slashed(id, Reason::kRoom) == std::vector{kDrawPrice / 2});
    CHECK(chain.stake(Role::kSolver, chain.solver).locked.grains == 0);
}

TEST_CASE("TASK-15, STK-5: whose stake covers no bond after it declined is in the registry no more until it bonds") {
    Chain chain(priced_params());
    REQUIRE(chain.run(chain.solver, Bond{Role::kSolver, chain.params.solver_bond}) == 0);
    REQUIRE(chain.run(chain.verifier, Bond{Role::kVerifier, {100 * kCoin}}) == 0);  // TRM-3
    const TaskId id = submit(chain);
    chain.await_solver(id);
    REQUIRE(chain.run(chain.solver, DeclineTask{id}) == 0);
    CHECK(get_stakers(chain.view, Role::kSolver).empty());
    CHECK_FALSE(chain.stake(Role::kSolver, chain.solver).is_unlisted);
    REQUIRE(chain.run(chain.solver, Bond{Role::kSolver, {kDrawPrice / 2}}) == 0);
    CHECK(get_stakers(chain.view, Role::kSolver) == std::vector{chain.solver.id});
}

TEST_CASE("TASK-6: a draw locks no more than the bond that it asks for") {
    Params params = priced_params();
    params.solver_bond = {100};
    Chain chain(params);
    chain.bond_all();
    const TaskId id = submit(chain);
    chain.await_solver(id);
    CHECK(chain.task(id).solver_bond.grains == 100);
    REQUIRE(chain.run(chain.solver, AcceptTask{id}) == 0);
    CHECK(chain.stake(Role::kSolver, chain.solver).locked.grains == 100);
}

TEST_CASE("TASK-18: after a draw that failed the next is twice as late") {
    Params params = quick_params();
    params.draw_blocks = 200;
    params.redraw_blocks = 2;
    Chain chain(params);
    const TaskId id = submit(chain);
    std::vector<std::uint64_t> draws_at;
    std::uint32_t draws = 0;
    for (int i = 0; i < 80; ++i) {
        chain.skip(1);
        if (get_bookkeeping(chain.view, id).draws != draws) {
            draws = get_bookkeeping(chain.view, id).draws;
            draws_at.push_back(chain.height.value);
        }
    }
    REQUIRE(draws_at.size() >= 5);
    for (std::size_t i = 1; i < draws_at.size(); ++i) {
        // Queued when the pause is over, drawn for in the block after (BCN-4).
        CHECK(draws_at[i] - draws_at[i - 1] == (params.redraw_blocks << (i - 1)) + 1);
    }
}

TEST_CASE("TASK-19: a solver has one open offer of a value, and a dearer task does not wait for its answer") {
    Params params = quick_params();
    params.draw_blocks = 200;
    params.redraw_blocks = 3;
    Chain chain(params);
    REQUIRE(chain.run(chain.solver, Bond{Role::kSolver, {100 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.verifier, Bond{Role::kVerifier, {100 * kCoin}}) == 0);  // TRM-3
    TaskSpec cheap = make_spec();
    cheap.reward = {};
    cheap.verification_fee = {};
    std::vector<Bytes> txs;
    std::vector<TaskId> ids;
    for (std::uint64_t i = 0; i < 8; ++i) {
        ids.push_back(task_id(chain.submitter.id, i));
        txs.push_back(chain.make_tx(chain.submitter, SubmitTask{i == 7 ? make_spec() : cheap}, i, Amount{kFee}));
    }
    chain.run_block(txs);
    chain.skip(1);
    const auto drawn = [&] {
        return std::count_if(ids.begin(), ids.end(), [&](const TaskId& id) {
            return chain.task(id).state == TaskState::kDrawn;
        });
    };
    CHECK(chain.task(ids[0]).state == TaskState::kDrawn);
    CHECK(chain.task(ids[7]).state == TaskState::kDrawn);
    CHECK(drawn() == 2);
    CHECK(get_bookkeeping(chain.view, ids[1]).draws == 0);  // the pause is not doubled
    REQUIRE(chain.run(chain.solver, DeclineTask{ids[0]}) == 0);
    REQUIRE(chain.run(chain.solver, AcceptTask{ids[7]}) == 0);
    chain.skip(params.decline_blocks - 2);
    CHECK(drawn() == 0);  // TASK-15
    while (drawn() == 0) {
        chain.skip(1);
    }
    CHECK(drawn() == 1);
}

TEST_CASE("GAS-10.1: deadlines beyond a block's gas wait for the next block, in their order") {
    Params params = quick_params();
    const std::uint64_t dearest = kGasPerEntry + deadline_gas(params);
    params.end_block_gas_max = static_cast<std::uint32_t>(4 * dearest);  // two deadlines a block
    Chain chain(params);
    chain.bond_all();
    REQUIRE(chain.run(chain.stranger, Bond{Role::kSolver, {100 * kCoin}}) == 0);
    std::vector<Bytes> txs;
    std::vector<TaskId> ids;
    for (std::uint64_t i = 0; i < 5; ++i) {
        ids.push_back(task_id(chain.submitter.id, i));
        txs.push_back(chain.make_tx(chain.submitter, SubmitTask{make_spec()}, i, Amount{kFee}));
    }
    REQUIRE(chain.run(chain.solver, Unbond{Role::kSolver, {100 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.stranger, Unbond{Role::kSolver, {100 * kCoin}}) == 0);
    chain.run_block(txs);
    const auto expired = [&] {
        return std::count_if(ids.begin(), ids.end(), [&](const TaskId& id) {
            return chain.task(id).state == TaskState::kExpired;
        });
    };
    chain.skip(params.draw_blocks - 1);
    CHECK(expired() == 0);
    std::vector<std::ptrdiff_t> seen;
    for (int i = 0; i < 4; ++i) {
        chain.skip(1);
        CHECK(chain.last.end_gas <= params.end_block_gas_max);
        seen.push_back(expired());
    }
    CHECK(seen == std::vector<std::ptrdiff_t>{2, 4, 5, 5});
    CHECK_FALSE(find_backlog(chain.view).has_value());
}

TEST_CASE("GAS-10.2: a round draws for as many as its gas allows, the longest waiting first") {
    Params params = quick_params();
    const std::uint64_t limit = kGasPerEntry + deadline_gas(params);  // PAR-9
    params.end_block_gas_max = 2 * static_cast<std::uint32_t>(limit);
    const std::uint64_t fit = (limit - pool_gas(0)) / (kGasPerEntry + draw_gas(Queue::kSolver, 0, params));
    REQUIRE(fit >= 1);
    Chain chain(params);
    REQUIRE(chain.run(chain.solver, Bond{Role::kSolver, {chain.params.solver_bond.grains}}) == 0);
    REQUIRE(chain.run(chain.solver, Unbond{Role::kSolver, {1}}) == 0);  // listed no more: nobody can be drawn
    std::vector<Bytes> txs;
    std::vector<TaskId> ids;
    for (std::uint64_t i = 0; i < 2 * fit + 1; ++i) {
        ids.push_back(task_id(chain.submitter.id, i));
        txs.push_back(chain.make_tx(chain.submitter, SubmitTask{make_spec()}, i, Amount{kFee}));
    }
    chain.run_block(txs);
    for (std::size_t drawn = fit;; drawn = std::min<std::size_t>(drawn + fit, ids.size())) {
        chain.skip(1);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const Task task = chain.task(ids[i]);
            CHECK((task.state == TaskState::kDrawn || get_bookkeeping(chain.view, ids[i]).draws != 0) == (i < drawn));
        }
        if (drawn == ids.size()) {
            break;
        }
    }
}

TEST_CASE("GAS-10.3: entries of tasks that were cancelled are passed over within the limit") {
    Params params = quick_params();
    params.contribute_blocks = 8;
    params.contributor_bond = {kCoin};
    params.end_block_gas_max = 2 * static_cast<std::uint32_t>(kGasPerEntry + deadline_gas(params));  // PAR-9
    const std::uint64_t fit = params.end_block_gas_max / 2 / kGasPerEntry;
    Chain chain(params);
    REQUIRE(chain.run(chain.verifier, Bond{Role::kVerifier, {100 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.verifier, JoinBeacon{hash_of("a secret that is not told")}) == 0);
    const TaskId first = submit(chain);
    chain.skip(1);
    REQUIRE(get_beacon(chain.view).round.has_value());  // the others wait for the next
    std::uint64_t nonce = get_account(chain.view, chain.submitter.id).nonce;
    std::vector<Bytes> txs;
    for (std::uint64_t i = 0; i < fit + 10; ++i) {
        const TaskId id = task_id(chain.submitter.id, nonce);
        txs.push_back(chain.make_tx(chain.submitter, SubmitTask{make_spec()}, nonce++, Amount{kFee}));
        txs.push_back(chain.make_tx(chain.submitter, CancelTask{id}, nonce++, Amount{kFee}));
    }
    chain.run_block(txs);
    const auto waiting = [&] {
        const QueueEnds ends = get_queue(chain.view, Queue::kSolver);
        return ends.end - ends.first;
    };
    REQUIRE(waiting() == fit + 10);
    while (get_beacon(chain.view).round.has_value()) {
        chain.skip(1);
    }
    REQUIRE(chain.task(first).state == TaskState::kOpen);
    chain.skip(1);
    CHECK(waiting() == 10 + 1);  // and the first task again (TASK-18)
    CHECK(chain.last.end_gas <= params.end_block_gas_max);
    chain.skip(1);
    CHECK(waiting() == 0);
}

TEST_CASE("AVL-7: a segment that is drawn anew and accepted lets the task settle, and verdicts that stand are paid") {
    Params params = quick_params();
    params.segments_checked = 4;
    const ToyRun run;
    Chain chain(params);
    const TaskId id = complete_toy_task(chain, run);
    chain.skip(1);
    const std::uint32_t missed = chain.task(id).assignments[1].segment;
    commit_but(chain, id, missed);
    while (chain.task(id).lottery.is_zero()) {
        chain.skip(1);
    }
    for (const Assignment& assignment : chain.task(id).assignments) {
        if (assignment.status == VerdictStatus::kCommitted) {
            const Hash256 root = claimed_root(chain.view, chain.task(id), assignment.segment);
            REQUIRE(chain.publish(chain.verifier, id, assignment.segment, root) == 0);
        }
    }
    chain.end_windows(id);
    REQUIRE(chain.task(id).state == TaskState::kCompleted);
    CHECK(open_segments(chain.task(id)) == std::vector{missed});
    REQUIRE(chain.run(chain.stranger, Bond{Role::kVerifier, {100 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.verifier, Unbond{Role::kVerifier, chain.stake(Role::kVerifier, chain.verifier).free}) == 0);
    redraw(chain, id, run);  // whoever is silent has no seat
    REQUIRE(chain.task(id).assignments.size() == 5);
    const Hash256 root = claimed_root(chain.view, chain.task(id), missed);
    REQUIRE(chain.commit(chain.stranger, id, missed, root) == 0);
    REQUIRE(chain.publish(chain.stranger, id, missed, root) == 0);
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.paid(id, Reason::kReward) == std::vector{20 * kCoin});
    CHECK(chain.paid(id, Reason::kVerificationFee) == std::vector<std::uint64_t>(4, 3 * kCoin / 4));
}

TEST_CASE(
    "SET-3, AVL-8: a verdict that is missed while another of its segment is given costs verifier and solver a tenth"
) {
    Params params = quick_params();
    params.verifiers_per_segment = 2;
    Chain chain(params);
    REQUIRE(chain.run(chain.stranger, Bond{Role::kVerifier, {100 * kCoin}}) == 0);
    const TaskId id = chain.verifying_task();
    const auto assignments = chain.task(id).assignments;
    REQUIRE(assignments.size() == 4);
    for (std::size_t i = 0; i < 3; ++i) {  // the last is the second of its segment
        const Hash256 root = claimed_root(chain.view, chain.task(id), assignments[i].segment);
        REQUIRE(chain.commit(chain.actor_of(assignments[i].verifier), id, assignments[i].segment, root) == 0);
    }
    chain.skip(params.commit_blocks);
    CHECK(chain.slashed(id, Reason::kMissedVerdict) == std::vector<std::uint64_t>{kCoin / 10});
    CHECK(chain.slashed(id, Reason::kUnserved) == std::vector<std::uint64_t>{kCoin / 10});
    CHECK(chain.burned() == 2 * (kCoin / 10));
    CHECK(chain.task(id).solver_bond.grains == params.solver_bond.grains - kCoin / 10);
}

TEST_CASE("PAR-9: what waits has a price that is a number, and a block has gas for one deadline at least") {
    Params params;
    params.end_block_gas_max = 2 * static_cast<std::uint32_t>(kGasPerEntry + deadline_gas(params));
    CHECK(are_valid(params));
    params.end_block_gas_max -= 2;
    CHECK_FALSE(are_valid(params));
    params = {};
    params.draw_price = kDrawPriceMax;
    params.room_price = kRoomPriceMax;
    params.draw_blocks = kMaxSpanBlocks;
    params.draws_max = kMaxDraws;
    CHECK(are_valid(params));
    CHECK(waiting_deposit(params, make_spec()).grains > kDrawPriceMax.grains * kMaxDraws);
    params.room_price = {kRoomPriceMax.grains + 1};
    CHECK_FALSE(are_valid(params));
}

TEST_CASE("PRF-4: where too few can report nobody is fined, and the task is refused") {
    Chain chain(tolerance_params());
    const TaskId id = profiling_task(chain);
    chain.skip(chain.params.commit_blocks);
    CHECK(chain.task(id).state == TaskState::kRefused);
    CHECK(chain.slashed(id, Reason::kMissedVerdict).empty());
    CHECK(chain.stake(Role::kVerifier, chain.verifier).locked.grains == 0);
    CHECK(chain.paid(id, Reason::kRefund) == std::vector{23 * kCoin});
}
