// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/chain/invariants.hpp>
#include <contracts/chain/router.hpp>
#include <contracts/ledger/ledger.hpp>
#include <tests/unit/contracts/fixture.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

/// What the invariants say of what `change` does to the chain's state.
template <class F>
std::optional<InvariantError> verdict_on(const Chain& chain, F change, std::vector<HistoryRecord> history = {}) {
    Overlay state = Overlay::over(chain.view);
    change(state);
    const auto verdict = check_invariants(chain.view, state.net_changes(), history);
    return verdict ? std::nullopt : std::optional{verdict.error()};
}

HistoryRecord payment(const TaskId& task, const AccountId& to, std::uint64_t grains, Reason reason) {
    HistoryRecord entry;
    entry.task = task;
    entry.event = history::Paid{to, {grains}, reason};
    return entry;
}

}  // namespace

TEST_CASE("INV-1: money that appears or vanishes is seen") {
    Chain chain;
    const AccountId who = chain.submitter.id;
    CHECK(verdict_on(chain, [&](Overlay& s) { credit(s, who, {1}); }) == InvariantError::kSupply);
    CHECK(verdict_on(chain, [&](Overlay& s) { debit(s, who, {1}); }) == InvariantError::kSupply);
    CHECK(verdict_on(chain, [&](Overlay& s) { s.erase(keys::account(who)); }) == InvariantError::kSupply);
    CHECK(verdict_on(chain, [&](Overlay& s) {
              debit(s, who, {1});
              burn(s, {1});
          }) == std::nullopt);
}

TEST_CASE("INV-2: what no vote changes and genesis supply are fixed and what is burned stays burned") {
    Chain chain;
    const TaskId task = chain.challenge_task();
    const auto after = [&](const std::function<void(Params&)>& change) {
        return verdict_on(chain, [&](Overlay& s) {
            Params params = get_params(s);
            change(params);
            set_params(s, params);
        });
    };
    CHECK(after([](Params& p) { p.jail_blocks += 1; }) == std::nullopt);
    CHECK(after([](Params& p) { p.jail_blocks = 0; }) == InvariantError::kFixed);
    CHECK(after([](Params& p) { p.tax_bps += 1; }) == InvariantError::kFixed);
    CHECK(after([](Params& p) { p.unbonding_blocks += 1; }) == InvariantError::kFixed);
    CHECK(after([](Params& p) { p.vote_delay_blocks = 1; }) == InvariantError::kFixed);
    CHECK(after([](Params& p) { p.protocol_version += 1; }) == InvariantError::kFixed);
    CHECK(verdict_on(chain, [&](Overlay& s) { s.erase(keys::params()); }) == InvariantError::kFixed);
    CHECK(verdict_on(chain, [&](Overlay& s) {
              Supply supply = get_supply(s);
              supply.genesis = {1};
              set_supply(s, supply);
          }) == InvariantError::kFixed);
    CHECK(verdict_on(chain, [&](Overlay& s) { s.erase(keys::task(task)); }) == InvariantError::kFixed);
}

TEST_CASE("INV-3: an escrow leaves only whole and only when its task ends") {
    Chain chain;
    const TaskId id = chain.challenge_task();
    CHECK(verdict_on(chain, [&](Overlay& s) {
              Task task = find_task(s, id).value();
              task.escrow = subtract(task.escrow, {1});
              set_task(s, task);
              credit(s, task.submitter, {1});
          }) == InvariantError::kEscrow);
    CHECK(verdict_on(chain, [&](Overlay& s) {
              Task task = find_task(s, id).value();
              task.escrow = add(task.escrow, {1});
              set_task(s, task);
              debit(s, task.submitter, {1});
          }) == InvariantError::kEscrow);
}

TEST_CASE("INV-4: paying the reward and refunding it too is seen") {
    Chain chain;
    const TaskId id = chain.challenge_task();
    const auto end = [&](Overlay& s) {
        Task task = find_task(s, id).value();
        task.state = TaskState::kSettled;
        task.deadline = {};
        Stake solver = get_stake(s, Role::kSolver, chain.solver.id);
        solver.free = add(solver.free, solver.locked);
        solver.locked = {};
        set_stake(s, Role::kSolver, chain.solver.id, solver);
        Stake verifier = get_stake(s, Role::kVerifier, chain.verifier.id);
        verifier.free = add(verifier.free, verifier.locked);
        verifier.locked = {};
        set_stake(s, Role::kVerifier, chain.verifier.id, verifier);
        task.solver_bond = {};
        for (Assignment& assignment : task.assignments) {
            assignment.bond = {};
            assignment.reserve = {};
        }
        credit(s, chain.solver.id, task.escrow);
        task.escrow = {};
        task.lane = 0;
        set_lane(s, {});
        set_task(s, task);
    };
    const auto reward = payment(id, chain.solver.id, 20 * kCoin, Reason::kReward);
    const auto fee = payment(id, chain.verifier.id, 3 * kCoin, Reason::kVerificationFee);
    const auto refund = payment(id, chain.submitter.id, 20 * kCoin, Reason::kRefund);
    CHECK(verdict_on(chain, end, {reward, fee}) == std::nullopt);
    CHECK(verdict_on(chain, end, {reward, refund}) == InvariantError::kPayout);
    CHECK(verdict_on(chain, end, {reward, reward}) == InvariantError::kPayout);
    CHECK(
        verdict_on(chain, end, {reward, fee, payment(id, chain.stranger.id, 1, Reason::kRefund)}) ==
        InvariantError::kPayout
    );
}

TEST_CASE("INV-5: locked stake that no duty holds is seen, and so is a duty without its stake") {
    Chain chain;
    const TaskId id = chain.challenge_task();
    CHECK(verdict_on(chain, [&](Overlay& s) {
              Stake stake = get_stake(s, Role::kSolver, chain.solver.id);
              stake.free = add(stake.free, {1});
              stake.locked = subtract(stake.locked, {1});
              set_stake(s, Role::kSolver, chain.solver.id, stake);
          }) == InvariantError::kLocked);
    CHECK(verdict_on(chain, [&](Overlay& s) {
              Task task = find_task(s, id).value();
              task.assignments[0].bond = {};
              set_task(s, task);
          }) == InvariantError::kLocked);
}

TEST_CASE("INV-6: a task that is over does not change, and none ends with something still open") {
    Chain chain;
    const TaskId id = chain.challenge_task();
    CHECK(verdict_on(chain, [&](Overlay& s) {
              Task task = find_task(s, id).value();
              task.state = TaskState::kSettled;
              set_task(s, task);
          }) == InvariantError::kTerminal);
    chain.end_windows(id);
    REQUIRE(chain.task(id).state == TaskState::kSettled);
    CHECK(verdict_on(chain, [&](Overlay& s) {
              Task task = find_task(s, id).value();
              task.state = TaskState::kOpen;
              set_task(s, task);
          }) == InvariantError::kTerminal);
}

TEST_CASE("INV-7: effects that break an invariant are vetoed and leave no trace") {
    Chain chain;
    Overlay state = Overlay::over(chain.view);
    const BlockContext block;
    const auto run = [&](Amount paid_out) {
        return run_guarded(state, chain.params, block, Cause{}, [&](Context& context) -> Result<void, TxError> {
            debit(context.state, chain.submitter.id, {10});
            credit(context.state, chain.stranger.id, paid_out);
            return {};
        });
    };
    CHECK(run({11}).error() == TxError::kInvariantBroken);
    CHECK(state.net_changes().empty());
    CHECK(run({10}).has_value());
    CHECK(state.net_changes().size() == 2);
}

TEST_CASE("INV-8: money leaves the treasury as recorded jackpots, at most a third at once, or not at all") {
    Chain chain;
    const TaskId id = chain.challenge_task();
    const std::uint64_t third = get_supply(chain.view).treasury.grains / 3;
    const auto pay_out = [&](std::uint64_t grains, std::vector<HistoryRecord> history) {
        const auto change = [&](Overlay& s) {
            draw_on_treasury(s, {grains});
            credit(s, chain.stranger.id, {grains});
        };
        return verdict_on(chain, change, std::move(history));
    };
    CHECK(pay_out(1, {}) == InvariantError::kTreasury);
    CHECK(pay_out(1, {payment(id, chain.stranger.id, 1, Reason::kReward)}) != std::nullopt);
    CHECK(pay_out(third, {payment(id, chain.stranger.id, third, Reason::kJackpot)}) == std::nullopt);
    CHECK(pay_out(third, {payment(id, chain.stranger.id, third - 1, Reason::kJackpot)}) == InvariantError::kTreasury);
    CHECK(
        pay_out(third + 1, {payment(id, chain.stranger.id, third + 1, Reason::kJackpot)}) == InvariantError::kTreasury
    );
}
