// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>

#include <contracts/params/gas.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/beacon/draw.hpp>
#include <contracts/tasks/tasks.hpp>
#include <contracts/params/spec.hpp>
#include <tests/unit/contracts/toy.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

TEST_CASE("TASK-1: an honest task passes every state in order and everybody is paid") {
    Chain chain;
    const TaskId id = chain.challenge_task();
    const std::uint64_t solver_before = chain.balance(chain.solver);
    const std::uint64_t verifier_before = chain.balance(chain.verifier);
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.balance(chain.solver) == solver_before + 20 * kCoin);
    CHECK(chain.balance(chain.verifier) == verifier_before + 3 * kCoin - 2 * kFee);
    CHECK(chain.stake(Role::kSolver, chain.solver).locked.grains == 0);
    CHECK(chain.stake(Role::kVerifier, chain.verifier).locked.grains == 0);
    std::vector<TaskState> states;
    for (const HistoryRecord& entry : chain.history) {
        if (const auto* changed = std::get_if<history::StateChanged>(&entry.event)) {
            states.push_back(changed->state);
        }
    }
    CHECK(
        states ==
        std::vector{
            TaskState::kDrawn, TaskState::kTraining, TaskState::kCompleted, TaskState::kVerifying,
            TaskState::kChallenge, TaskState::kDisclosure, TaskState::kSettled}
    );
}

TEST_CASE("TASK-2: a submission escrows reward and verification fee under the id of sender and nonce") {
    Params params = quick_params();
    params.task_value_max = {2 * kRich};
    Chain chain(params);
    const TaskId id = task_id(chain.submitter.id, 0);
    CHECK(chain.run(chain.submitter, SubmitTask{make_spec()}) == 0);
    CHECK(chain.last.receipts[0].task == id);
    CHECK(chain.task(id).state == TaskState::kOpen);
    CHECK(chain.task(id).escrow.grains == 23 * kCoin);
    CHECK(chain.balance(chain.submitter) == kRich - 23 * kCoin - kFee);
    TaskSpec dear = make_spec();
    dear.reward = {kRich};
    CHECK(chain.fail(chain.submitter, SubmitTask{dear}) == TxError::kInsufficientBalance);
}

TEST_CASE("TASK-14: a task worth more than task_value_max is refused, one worth exactly so much is not") {
    Params params = quick_params();
    params.task_value_max = {23 * kCoin};
    Chain chain(params);
    TaskSpec spec = make_spec();  // of 20 and 3 coins
    CHECK(chain.run(chain.submitter, SubmitTask{spec}) == 0);
    spec.verification_fee.grains += 1;
    CHECK(chain.fail(chain.submitter, SubmitTask{spec}) == TxError::kValueTooHigh);
    spec.reward.grains -= 1;
    CHECK(chain.run(chain.submitter, SubmitTask{spec}) == 0);
    spec.reward = {~std::uint64_t{0}};
    CHECK(chain.fail(chain.submitter, SubmitTask{spec}) == TxError::kOverflow);
    spec.reward = {};
    spec.verification_fee = {23 * kCoin + 1};
    CHECK(chain.fail(chain.submitter, SubmitTask{spec}) == TxError::kValueTooHigh);
}

TEST_CASE("TASK-3: a task that nobody submitted is unknown to every action") {
    Chain chain;
    const std::vector<Action> actions{
        AcceptTask{},     DeclineTask{}, PostCheckpoint{},
        CompleteTask{},   CancelTask{},  CommitVerdict{},
        PublishVerdict{}, OpenDispute{}, AttestAvailability{{}, open_toy_tile(ToyRun(), 0, 0, 0)}};
    for (const Action& action : actions) {
        CHECK(chain.fail(chain.solver, action) == TxError::kTaskUnknown);
    }
}

TEST_CASE("TASK-4: actions out of their state are refused") {
    Chain chain;
    chain.bond_all();
    const TaskId id = chain.start_task(make_spec());
    CHECK(chain.fail(chain.solver, AcceptTask{id}) == TxError::kTaskState);
    CHECK(chain.fail(chain.submitter, CancelTask{id}) == TxError::kTaskState);
    CHECK(chain.fail(chain.verifier, CommitVerdict{id, 0, {}}) == TxError::kTaskState);
    CHECK(chain.fail(chain.verifier, PublishVerdict{id, 0, {}}) == TxError::kTaskState);
    CHECK(chain.fail(chain.whistleblower, OpenDispute{id, 0, Role::kWhistleblower}) == TxError::kTaskState);
}

TEST_CASE("TASK-5: only the submitter cancels and only the solver accepts, posts and completes") {
    Chain chain;
    chain.bond_all();
    const TaskId id = task_id(chain.submitter.id, 0);
    CHECK(chain.run(chain.submitter, SubmitTask{make_spec()}) == 0);
    chain.await_solver(id);
    CHECK(chain.fail(chain.stranger, CancelTask{id}) == TxError::kNotSubmitter);
    CHECK(chain.fail(chain.stranger, AcceptTask{id}) == TxError::kNotSolver);
    CHECK(chain.run(chain.solver, AcceptTask{id}) == 0);
    CHECK(chain.fail(chain.stranger, PostCheckpoint{id, 0, {}, {}}) == TxError::kNotSolver);
    CHECK(chain.fail(chain.stranger, CompleteTask{id}) == TxError::kNotSolver);
}

TEST_CASE("TASK-6: a drawn solver that does not accept is replaced by another") {
    Chain chain;
    chain.bond_all();
    CHECK(chain.run(chain.stranger, Bond{Role::kSolver, {100 * kCoin}}) == 0);
    const TaskId id = task_id(chain.submitter.id, 0);
    CHECK(chain.run(chain.submitter, SubmitTask{make_spec()}) == 0);
    chain.await_solver(id);
    const AccountId first = chain.task(id).solver.value();
    chain.skip(chain.params.accept_blocks - 1);
    CHECK(chain.task(id).solver == first);
    chain.skip(1);
    CHECK(chain.task(id).state == TaskState::kOpen);
    chain.await_solver(id);
    CHECK(chain.task(id).solver != first);
    // Both have lapsed, and are drawn again when they have registered and the pause is over.
    chain.skip(chain.params.accept_blocks);
    CHECK(chain.task(id).state == TaskState::kOpen);
    CHECK(get_stakers(chain.view, Role::kSolver).empty());
    chain.skip(chain.params.decline_blocks);
    CHECK(chain.task(id).state == TaskState::kOpen);
    CHECK(chain.run(chain.stranger, RegisterTerms{Role::kSolver, {}, 0}) == 0);
    chain.await_solver(id);
    CHECK(chain.task(id).solver == chain.stranger.id);
}

TEST_CASE("TASK-6: who let a task lapse is unlisted until it registers its machine or bonds stake again") {
    for (const Action& again : {Action{RegisterTerms{Role::kSolver, {1}, 10'000}}, Action{Bond{Role::kSolver, {1}}}}) {
        Chain chain;
        chain.bond_all();
        CHECK(chain.run(chain.submitter, SubmitTask{make_spec()}) == 0);
        chain.skip(1 + chain.params.accept_blocks);
        CHECK(chain.stake(Role::kSolver, chain.solver).is_unlisted);
        CHECK(get_stakers(chain.view, Role::kSolver).empty());
        CHECK(chain.run(chain.solver, RegisterTerms{Role::kVerifier, {1}, 10'000}) == 0);
        CHECK(chain.stake(Role::kSolver, chain.solver).is_unlisted);
        CHECK(chain.run(chain.solver, again) == 0);
        CHECK_FALSE(chain.stake(Role::kSolver, chain.solver).is_unlisted);
        CHECK(get_stakers(chain.view, Role::kSolver) == std::vector{chain.solver.id});
    }
}

TEST_CASE("TASK-15: who declines stays listed, and is not drawn for a while for what is worth no more") {
    Chain chain;
    chain.bond_all();
    const TaskId id = task_id(chain.submitter.id, 0);
    TaskSpec cheap = make_spec();
    cheap.reward = {5 * kCoin};
    CHECK(chain.run(chain.submitter, SubmitTask{cheap}) == 0);
    chain.await_solver(id);
    CHECK(chain.fail(chain.stranger, DeclineTask{id}) == TxError::kNotSolver);
    CHECK(chain.fail(chain.stranger, DeclineTask{}) == TxError::kTaskUnknown);
    const Stake before = chain.stake(Role::kSolver, chain.solver);
    CHECK(chain.run(chain.solver, DeclineTask{id}) == 0);
    const std::uint64_t declined_at = chain.height.value;
    CHECK(chain.task(id).state == TaskState::kOpen);
    CHECK_FALSE(chain.task(id).solver.has_value());
    CHECK(chain.stake(Role::kSolver, chain.solver).free == before.free);
    CHECK(chain.fail(chain.solver, DeclineTask{id}) == TxError::kTaskState);
    // A dearer task is another matter.
    const TaskId dearer = task_id(chain.submitter.id, 1);
    CHECK(chain.run(chain.submitter, SubmitTask{make_spec()}) == 0);
    chain.skip(1);
    CHECK(chain.task(dearer).solver == chain.solver.id);
    CHECK(chain.run(chain.solver, AcceptTask{dearer}) == 0);
    chain.skip(declined_at + chain.params.decline_blocks - chain.height.value - 1);
    CHECK(chain.task(id).state == TaskState::kOpen);
    chain.await_solver(id);
    CHECK(chain.task(id).solver == chain.solver.id);
}

TEST_CASE("TASK-15: of two tasks that were declined the dearer counts until the later pause is over") {
    Chain chain;
    chain.bond_all();
    TaskSpec cheap = make_spec();
    cheap.reward = {5 * kCoin};
    CHECK(chain.run(chain.submitter, SubmitTask{make_spec()}) == 0);
    chain.skip(1);
    CHECK(chain.run(chain.solver, DeclineTask{task_id(chain.submitter.id, 0)}) == 0);
    CHECK(chain.stake(Role::kSolver, chain.solver).declined_value == Amount{23 * kCoin});
    CHECK(chain.run(chain.submitter, SubmitTask{cheap}) == 0);
    chain.skip(1);
    CHECK(chain.task(task_id(chain.submitter.id, 1)).state == TaskState::kOpen);
}

TEST_CASE("TASK-6: without a solver whose free stake covers the bond a task stays open") {
    Chain chain;
    REQUIRE(chain.run(chain.verifier, Bond{Role::kVerifier, {100 * kCoin}}) == 0);  // TRM-3
    CHECK(chain.run(chain.solver, Bond{Role::kSolver, {chain.params.solver_bond.grains - 1}}) == 0);
    const TaskId id = task_id(chain.submitter.id, 0);
    CHECK(chain.run(chain.submitter, SubmitTask{make_spec()}) == 0);
    chain.skip(3);
    CHECK(chain.task(id).state == TaskState::kOpen);
    CHECK(chain.run(chain.solver, Bond{Role::kSolver, {1}}) == 0);
    chain.await_solver(id);
    CHECK(chain.run(chain.solver, Unbond{Role::kSolver, {1}}) == 0);
    CHECK(chain.fail(chain.solver, AcceptTask{id}) == TxError::kInsufficientStake);
}

TEST_CASE("TASK-6: a draw falls on each candidate in proportion to its stake") {
    const std::vector<Candidate> candidates{{make_actor(1).id, 100}, {make_actor(2).id, 0}, {make_actor(3).id, 300}};
    std::array<int, 3> drawn{};
    for (std::uint32_t i = 0; i < 4'000; ++i) {
        const auto randomness = draw_randomness(hash_of("block"), {{}, DrawKind::kSolver, 0, i});
        ++drawn[draw_weighted(candidates, randomness).value()];
    }
    CHECK(drawn[0] > 850);
    CHECK(drawn[0] < 1'150);
    CHECK(drawn[1] == 0);
    CHECK_FALSE(draw_weighted({}, hash_of("x")).has_value());
}

TEST_CASE("TASK-7: checkpoints are posted in order and kept with their location") {
    Chain chain;
    chain.bond_all();
    const TaskId id = chain.start_task(make_spec());
    CHECK(chain.fail(chain.solver, PostCheckpoint{id, 1, {}, {}}) == TxError::kCheckpointOrder);
    const std::string location = "http://127.0.0.1:1";
    CHECK(chain.run(chain.solver, PostCheckpoint{id, 0, hash_of("0"), location}) == 0);
    CHECK(chain.fail(chain.solver, PostCheckpoint{id, 0, {}, {}}) == TxError::kCheckpointOrder);
    CHECK(find_checkpoint(chain.view, id, 0)->location == location);
    CHECK(find_checkpoint(chain.view, id, 0)->state_root == hash_of("0"));
    for (std::uint32_t i = 1; i <= segment_count(make_spec()); ++i) {
        CHECK(chain.run(chain.solver, PostCheckpoint{id, i, hash_of("x"), {}}) == 0);
    }
    CHECK(chain.fail(chain.solver, PostCheckpoint{id, 4, {}, {}}) == TxError::kCheckpointOrder);
}

TEST_CASE("TASK-8: a missed training deadline burns a part of the bond, and the submitter gets its escrow alone") {
    Chain chain;
    chain.bond_all();
    const TaskId id = chain.start_task(make_spec());
    const std::uint64_t before = chain.balance(chain.submitter);
    const Amount free = chain.stake(Role::kSolver, chain.solver).free;
    chain.skip(make_spec().training_blocks - 1);
    CHECK(chain.task(id).state == TaskState::kTraining);
    chain.skip(1);
    const std::uint64_t burned = chain.params.solver_bond.grains / 4;
    CHECK(chain.task(id).state == TaskState::kExpired);
    CHECK(chain.slashed(id, Reason::kMissedDeadline) == std::vector{burned});
    CHECK(chain.balance(chain.submitter) == before + 23 * kCoin);
    CHECK(chain.burned() == burned);
    CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == free.grains + 3 * burned);
    CHECK(chain.stake(Role::kSolver, chain.solver).locked == Amount{});
}

TEST_CASE("TASK-8: what a missed deadline burns is deadline_slash_bps of the bond") {
    for (const std::uint32_t bps : {0U, 1U, 10'000U}) {
        Params params = quick_params();
        params.deadline_slash_bps = bps;
        Chain chain(params);
        chain.bond_all();
        const TaskId id = chain.start_task(make_spec());
        chain.skip(make_spec().training_blocks);
        CHECK(chain.task(id).state == TaskState::kExpired);
        CHECK(chain.burned() == params.solver_bond.grains / 10'000 * bps);
    }
}

TEST_CASE("TASK-9: completion needs every checkpoint") {
    Chain chain;
    chain.bond_all();
    const TaskId id = chain.start_task(make_spec());
    chain.post_checkpoints(id, {hash_of("0"), hash_of("1"), hash_of("2")});
    CHECK(chain.fail(chain.solver, CompleteTask{id}) == TxError::kCheckpointsMissing);
    CHECK(chain.run(chain.solver, PostCheckpoint{id, 3, hash_of("3"), {}}) == 0);
    CHECK(chain.run(chain.solver, CompleteTask{id}) == 0);
    CHECK(chain.task(id).state == TaskState::kCompleted);
}

TEST_CASE("TASK-10: payment waits for the challenge window") {
    Chain chain;
    const TaskId id = chain.challenge_task();
    chain.skip(chain.params.challenge_blocks - 1);
    CHECK(chain.task(id).state == TaskState::kChallenge);
    CHECK(chain.paid(id, Reason::kReward).empty());
    chain.skip(1);
    CHECK(chain.task(id).state == TaskState::kDisclosure);
    CHECK(chain.paid(id, Reason::kReward).empty());
    chain.disclose_all(id);
    CHECK(chain.task(id).state == TaskState::kSettled);
}

TEST_CASE("TASK-11: a deadline waits for what is open") {
    Chain chain;
    const TaskId id = chain.challenge_task();
    CHECK(chain.run(chain.whistleblower, OpenDispute{id, 1, Role::kWhistleblower}) == 0);
    chain.skip(chain.params.challenge_blocks + 2);
    CHECK(chain.task(id).state == TaskState::kChallenge);
    CHECK(chain.task(id).deadline.value == 0);
}

TEST_CASE("TASK-12: a task is cancelled before acceptance only, and refunded whole") {
    Chain chain;
    chain.bond_all();
    for (const bool drawn : {false, true}) {
        if (!drawn) {
            CHECK(chain.run(chain.solver, Unbond{Role::kSolver, {99 * kCoin}}) == 0);
        } else {
            CHECK(chain.run(chain.solver, Bond{Role::kSolver, {99 * kCoin}}) == 0);
        }
        const TaskId id = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
        const std::uint64_t before = chain.balance(chain.submitter);
        CHECK(chain.run(chain.submitter, SubmitTask{make_spec()}) == 0);
        chain.skip(1);
        CHECK(chain.task(id).state == (drawn ? TaskState::kDrawn : TaskState::kOpen));
        CHECK(chain.run(chain.submitter, CancelTask{id}) == 0);
        CHECK(chain.task(id).state == TaskState::kCancelled);
        CHECK(chain.balance(chain.submitter) == before - 2 * kFee);
        CHECK(chain.fail(chain.submitter, CancelTask{id}) == TxError::kTaskState);
    }
    chain.skip(2);
    CHECK_FALSE(front_waiting(chain.view, Queue::kSolver).has_value());
}

TEST_CASE(
    "DTY-3: a submission that no state could make right imposes nothing, and one with a parent no verdict on its first "
    "state"
) {
    const Params params = quick_params();
    TaskSpec spec = make_spec();
    const std::uint64_t whole = imposed_gas(SubmitTask{spec}, params);
    CHECK(whole > 0);
    spec.steps = ~std::uint64_t{0};
    spec.checkpoint_interval = 1;
    CHECK(imposed_gas(SubmitTask{spec}, params) == 0);
    Params dear = params;
    dear.gas_price_min = kGasPriceMax;
    CHECK(least_fee(SubmitTask{spec}, 1'000, kGasPriceMax, dear) == Amount{1'000 * kGasPriceMax.grains});

    spec = make_spec();
    Params all = params;
    all.segments_checked = 4;  // of the four with segment 0
    const std::uint64_t alone = imposed_gas(SubmitTask{spec}, all);
    spec.parent = TaskId{};
    CHECK(imposed_gas(SubmitTask{spec}, all) < alone);
    CHECK(imposed_gas(SubmitTask{spec}, params) == whole);  // two are checked with a parent and without
}

TEST_CASE("DTY-5.3: a committee holds its attestations, and a task that waits for a draw nothing") {
    Params params = quick_params();
    params.committee_seats = 64;
    Task task;
    task.spec = make_spec();
    task.state = TaskState::kVerifying;
    const std::uint64_t judging = task_weight(params, task);
    CHECK(judging > dispute_weight(params));
    task.state = TaskState::kCompleted;
    task.assignments.resize(2);
    CHECK(task_weight(params, task) == 0);
    task.committee.emplace();
    task.committee->state = CommitteeState::kSitting;
    const std::uint64_t attestation =
        div_ceil<std::uint64_t>(std::uint64_t{6'144} * params.block_gas_max, params.block_size_max);  // at least
    CHECK(task_weight(params, task) >= 64 * attestation);
    task.committee->state = CommitteeState::kAvailable;
    CHECK(task_weight(params, task) == 0);
    task.state = TaskState::kJudged;
    CHECK(task_weight(params, task) == 0);
}
