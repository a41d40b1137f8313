// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/chain/router.hpp>
#include <contracts/stake/staking.hpp>
#include <tests/unit/contracts/fixture.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

TEST_CASE("LED-1: money sent to oneself or to a new account is neither more nor less") {
    Chain chain;
    CHECK(chain.run(chain.submitter, Transfer{chain.submitter.id, {kCoin}}) == 0);
    CHECK(chain.balance(chain.submitter) == kRich - kFee);
    CHECK(chain.run(chain.submitter, Transfer{chain.pauper.id, {kCoin}}) == 0);
    CHECK(chain.balance(chain.pauper) == kCoin);
}

TEST_CASE("LED-2: nobody pays more than is left after the fee") {
    Chain chain;
    CHECK(chain.fail(chain.submitter, Transfer{chain.pauper.id, {kRich - 1}}) == TxError::kInsufficientBalance);
    CHECK(chain.run(chain.submitter, Transfer{chain.pauper.id, {kRich - 2 * kFee}}) == 0);
    CHECK(chain.balance(chain.submitter) == 0);
}

TEST_CASE("LED-3: amounts whose sum overflows are refused") {
    Chain chain;
    TaskSpec spec = make_spec();
    spec.reward = {~std::uint64_t{0}};
    spec.verification_fee = {1};
    CHECK(chain.fail(chain.submitter, SubmitTask{spec}) == TxError::kOverflow);
    CHECK(chain.fail(chain.submitter, Transfer{chain.pauper.id, {~std::uint64_t{0}}}) == TxError::kInsufficientBalance);
    CHECK(chain.fail(chain.submitter, Bond{Role::kSolver, {~std::uint64_t{0}}}) == TxError::kInsufficientBalance);
}

TEST_CASE("STK-1: a bond moves balance into free stake of one role") {
    Chain chain;
    CHECK(chain.run(chain.solver, Bond{Role::kVerifier, {7 * kCoin}}) == 0);
    CHECK(chain.stake(Role::kVerifier, chain.solver).free.grains == 7 * kCoin);
    CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == 0);
    CHECK(chain.balance(chain.solver) == kRich - 7 * kCoin - kFee);
}

TEST_CASE("STK-2: only free stake can be unbonded") {
    Chain chain;
    CHECK(chain.fail(chain.solver, Unbond{Role::kSolver, {1}}) == TxError::kInsufficientStake);
    chain.bond_all();
    chain.start_task(make_spec());
    CHECK(chain.fail(chain.solver, Unbond{Role::kSolver, {96 * kCoin}}) == TxError::kInsufficientStake);
    CHECK(chain.run(chain.solver, Unbond{Role::kSolver, {95 * kCoin}}) == 0);
}

TEST_CASE("STK-3: accepting a task locks the solver's bond") {
    Chain chain;
    chain.bond_all();
    const TaskId id = chain.start_task(make_spec());
    CHECK(chain.stake(Role::kSolver, chain.solver).locked == chain.params.solver_bond);
    CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == 95 * kCoin);
    CHECK(chain.task(id).solver_bond == chain.params.solver_bond);
}

TEST_CASE("STK-4: unbonding stake is paid back at its height, at most sixteen parts at a time") {
    Chain chain;
    chain.bond_all();
    CHECK(chain.run(chain.solver, Unbond{Role::kSolver, {10 * kCoin}}) == 0);
    const std::uint64_t before = chain.balance(chain.solver);
    chain.skip(chain.params.unbonding_blocks - 1);
    CHECK(chain.balance(chain.solver) == before);
    CHECK(chain.stake(Role::kSolver, chain.solver).unbonding.size() == 1);
    chain.skip(1);
    CHECK(chain.balance(chain.solver) == before + 10 * kCoin);
    CHECK(chain.stake(Role::kSolver, chain.solver).unbonding.empty());

    Params slow = quick_params();
    slow.unbonding_blocks = 100;
    Chain crowded(slow);
    crowded.bond_all();
    for (std::size_t i = 0; i < kMaxUnbondings; ++i) {
        CHECK(crowded.run(crowded.solver, Unbond{Role::kSolver, {1}}) == 0);
    }
    CHECK(crowded.fail(crowded.solver, Unbond{Role::kSolver, {1}}) == TxError::kTooManyUnbondings);
}

TEST_CASE("STK-4: two unbondings of one block are one part") {
    Chain chain;
    chain.bond_all();
    const std::uint64_t nonce = get_account(chain.view, chain.solver.id).nonce;
    chain.run_block(
        {chain.make_tx(chain.solver, Unbond{Role::kSolver, {kCoin}}, nonce, {kCoin}),
         chain.make_tx(chain.solver, Unbond{Role::kSolver, {kCoin}}, nonce + 1, {kCoin})}
    );
    REQUIRE(chain.stake(Role::kSolver, chain.solver).unbonding.size() == 1);
    CHECK(chain.stake(Role::kSolver, chain.solver).unbonding[0].amount.grains == 2 * kCoin);
}

TEST_CASE("STK-5: the registry lists, in order, whose stake covers one duty") {
    Chain chain;
    CHECK(chain.run(chain.solver, Bond{Role::kSolver, {chain.params.solver_bond.grains - 1}}) == 0);
    CHECK(get_stakers(chain.view, Role::kSolver).empty());
    CHECK(chain.run(chain.solver, Bond{Role::kSolver, {1}}) == 0);
    CHECK(chain.run(chain.stranger, Bond{Role::kSolver, {chain.params.solver_bond}}) == 0);
    const auto listed = get_stakers(chain.view, Role::kSolver);
    CHECK(listed.size() == 2);
    CHECK(listed[0] < listed[1]);
    CHECK(chain.run(chain.stranger, Unbond{Role::kSolver, {1}}) == 0);
    CHECK(get_stakers(chain.view, Role::kSolver) == std::vector{chain.solver.id});
}
