// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/availability/availability.hpp>
#include <tests/unit/contracts/toy.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

/// Segment 2 covers steps 4 to 7; node 2 adds the bias; the byte lies in tile 1.
const Tamper kTamper{false, 5, 2, 4 * (3 * 40 + 33)};

DisputeId open(Chain& chain, const TaskId& task, std::uint32_t segment) {
    REQUIRE(chain.run(chain.whistleblower, OpenDispute{task, segment, Role::kWhistleblower}) == 0);
    return dispute_id(task, segment, chain.whistleblower.id);
}

std::uint64_t whistle_stake(const Chain& chain) {
    return chain.stake(Role::kWhistleblower, chain.whistleblower).free.grains;
}

}  // namespace

TEST_CASE("DSP-30: a dispute is unknown before it is opened and over after it has ended") {
    const ToyRun honest;
    const ToyRun fraud(kTamper);
    Chain chain;
    CHECK(chain.fail(chain.solver, RevealMove{{}, 0, {hash_of("x")}}) == TxError::kDisputeUnknown);
    CHECK(chain.fail(chain.solver, SelectMove{}) == TxError::kDisputeUnknown);
    CHECK(chain.fail(chain.solver, ProveMove{}) == TxError::kDisputeUnknown);
    const TaskId task = complete_toy_task(chain, fraud);
    const DisputeId id = open(chain, task, 2);
    play_dispute(chain, id, fraud, honest, chain.whistleblower);
    CHECK(chain.fail(chain.solver, RevealMove{id, 0, {hash_of("x")}}) == TxError::kDisputeOver);
    CHECK(chain.fail(chain.whistleblower, ProveMove{id, {}}) == TxError::kDisputeOver);
}

TEST_CASE("DSP-31: only the parties move, each its own moves, and nobody disputes itself") {
    const ToyRun honest;
    Chain chain;
    const TaskId task = complete_toy_task(chain, honest);
    const DisputeId id = open(chain, task, 2);
    CHECK(chain.fail(chain.whistleblower, RevealMove{id, 0, {hash_of("x")}}) == TxError::kNotParty);
    CHECK(chain.fail(chain.solver, SelectMove{id, 0, {}}) == TxError::kNotParty);
    CHECK(chain.fail(chain.stranger, ProveMove{id, {}}) == TxError::kNotParty);
    CHECK(chain.run(chain.solver, Bond{Role::kWhistleblower, {9 * kCoin}}) == 0);
    CHECK(chain.fail(chain.solver, OpenDispute{task, 2, Role::kWhistleblower}) == TxError::kNotParty);
    CHECK(chain.fail(chain.stranger, OpenDispute{task, 2, Role::kWhistleblower}) == TxError::kInsufficientStake);
}

TEST_CASE("DSP-36: a tampered tile is pinpointed, refuted by one partial, and the solver convicted") {
    const ToyRun honest;
    const ToyRun fraud(kTamper);
    Chain chain;
    const TaskId task = complete_toy_task(chain, fraud);
    const std::uint64_t submitter_before = chain.balance(chain.submitter);
    const std::uint64_t whistle_before = chain.balance(chain.whistleblower);
    const DisputeId id = open(chain, task, 2);
    const std::uint32_t moves = play_dispute(chain, id, fraud, honest, chain.whistleblower);
    const Dispute dispute = find_dispute(chain.view, id).value();
    CHECK(dispute.state() == DisputeState::kRefuted);
    CHECK(dispute.end()->reason == Reason::kLostDispute);
    CHECK(dispute.position.rounds <= dispute::kMaxRounds);
    CHECK(moves == 2 * dispute.position.rounds + 1);
    const dispute::Pinpoint where = dispute::pinpoint(dispute.position);
    CHECK(where.step == 5);
    CHECK(where.node == 2U);
    CHECK(where.op == canonical::Op::kAdd);
    CHECK(where.tile == 1U);
    CHECK(chain.last.judged_proofs == 1);
    CHECK(chain.last.disputes == std::vector{id});

    const std::uint64_t bond = chain.params.solver_bond.grains;
    CHECK(dispute.end()->slashed.grains == bond);
    CHECK(dispute.end()->paid.grains == bond / 2);
    CHECK(dispute.end()->burned.grains == bond - bond / 2);
    CHECK(chain.task(task).state == TaskState::kConvicted);
    CHECK(chain.balance(chain.submitter) == submitter_before + 23 * kCoin);
    CHECK(chain.balance(chain.whistleblower) > whistle_before + bond / 2 - (moves + 1) * kFee - 1);
    CHECK(whistle_stake(chain) == 100 * kCoin);
    CHECK(chain.stake(Role::kSolver, chain.solver).locked.grains == 0);
    CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == 95 * kCoin);
}

TEST_CASE("DSP-36: a wrong initial state is refuted, and so is a state that no node made") {
    const ToyRun honest;
    const ToyRun wrong_init(Tamper{true, 0, 0, 0});
    Chain chain;
    const TaskId first = complete_toy_task(chain, wrong_init);
    play_dispute(chain, open(chain, first, 0), wrong_init, honest, chain.whistleblower);
    CHECK(chain.task(first).state == TaskState::kConvicted);

    const ToyRun wrong_state(Tamper{false, 7, 5, 0});
    Chain other;
    const TaskId second = complete_toy_task(other, wrong_state);
    const DisputeId id = open(other, second, 2);
    play_dispute(other, id, wrong_state, honest, other.whistleblower);
    CHECK(other.task(second).state == TaskState::kConvicted);
    const Dispute dispute = find_dispute(other.view, id).value();
    CHECK(dispute.end()->reason == Reason::kLostDispute);
    CHECK(dispute::pinpoint(dispute.position).step == 7);
    CHECK(dispute::pinpoint(dispute.position).op == canonical::Op::kCommit);
    CHECK(dispute::pinpoint(dispute.position).tensor == 0U);
}

TEST_CASE("DSP-32: who claims a root that it knows no state of has no move at its tensors, and loses by its clock") {
    const ToyRun honest;
    Chain chain;
    chain.bond_all();
    const TaskId task = chain.start_task(honest.spec());
    auto roots = honest.checkpoint_roots();
    roots[2] = hash_of("made up");
    chain.post_checkpoints(task, roots);
    CHECK(chain.run(chain.solver, CompleteTask{task}) == 0);
    const DisputeId id = open(chain, task, 2);
    play_until(chain, id, honest, honest, chain.whistleblower, dispute::Level::kTiles);
    const Dispute dispute = find_dispute(chain.view, id).value();
    REQUIRE(dispute::op_of(dispute.position.node()->node) == canonical::Op::kCommit);
    ToyReplay replay(honest, dispute.claim, honest.state(4));
    const auto children = dispute::make_reveal(dispute.claim, dispute.position, replay);
    CHECK(chain.fail(chain.solver, RevealMove{id, dispute.position.rounds, children}) == TxError::kIllegalMove);
    chain.skip(chain.params.dispute_clock_blocks);
    CHECK(find_dispute(chain.view, id)->end()->reason == Reason::kDisputeTimeout);
    CHECK(chain.task(task).state == TaskState::kConvicted);
}

TEST_CASE("DSP-36: a false accuser loses its bond to the solver and the task settles") {
    const ToyRun honest;
    const ToyRun liar(kTamper);
    Chain chain;
    const TaskId task = complete_toy_task(chain, honest);
    const std::uint64_t before = chain.balance(chain.solver);
    const DisputeId id = open(chain, task, 2);
    play_dispute(chain, id, honest, liar, chain.whistleblower);
    const Dispute dispute = find_dispute(chain.view, id).value();
    CHECK(dispute.state() == DisputeState::kUpheld);
    CHECK(dispute.end()->reason == Reason::kFalseAccusation);
    CHECK(whistle_stake(chain) == 99 * kCoin);
    CHECK(dispute.end()->slashed == chain.params.challenger_bond);
    CHECK(dispute.end()->paid.grains == kCoin / 2);
    CHECK(dispute.end()->burned.grains == kCoin / 2);
    CHECK(chain.paid(task, Reason::kWonDispute) == std::vector<std::uint64_t>{kCoin / 2});
    CHECK(chain.balance(chain.solver) < before + kCoin / 2);
    CHECK(chain.task(task).state != TaskState::kConvicted);
}

TEST_CASE("DSP-36: a proof that is not the partial's is refused and ends nothing") {
    const ToyRun honest;
    const ToyRun fraud(kTamper);
    Chain chain;
    const TaskId task = complete_toy_task(chain, fraud);
    const DisputeId id = open(chain, task, 2);
    play_until(chain, id, fraud, honest, chain.whistleblower, dispute::Level::kProof);
    CHECK(chain.fail(chain.solver, ProveMove{id, {}}) == TxError::kProofInvalid);
    CHECK(chain.last.judged_proofs == 0);
    CHECK(find_dispute(chain.view, id)->state() == DisputeState::kActive);
    CHECK(is_responders_turn(find_dispute(chain.view, id).value()));
    const Tx tx = sign_tx(
        {kChainId, chain.solver.id, get_account(chain.view, chain.solver.id).nonce, {kCoin}, ProveMove{id, {}}},
        chain.solver.key
    );
    const Bytes bytes = codec::encode(tx);
    const DecodedTx decoded = decode_tx(bytes, tx_hash(bytes), chain.params).value();
    const auto checked = check_tx(chain.view, chain.params, decoded, tx.body.nonce, Height{chain.height.value + 1});
    CHECK(checked.error() == TxError::kProofInvalid);
}

TEST_CASE("DSP-32: silence loses for whoever is to move") {
    const ToyRun honest;
    Chain chain;
    const TaskId task = complete_toy_task(chain, honest);
    const DisputeId id = open(chain, task, 2);
    SUBCASE("the responder") {
        chain.skip(chain.params.dispute_clock_blocks - 1);
        CHECK(find_dispute(chain.view, id)->state() == DisputeState::kActive);
        chain.skip(1);
        CHECK(find_dispute(chain.view, id)->state() == DisputeState::kRefuted);
        CHECK(chain.task(task).state == TaskState::kConvicted);
    }
    SUBCASE("the challenger") {
        const Dispute dispute = find_dispute(chain.view, id).value();
        ToyReplay replay(honest, dispute.claim, honest.state(4));
        const auto children = dispute::make_reveal(dispute.claim, dispute.position, replay);
        CHECK(chain.run(chain.solver, RevealMove{id, 0, children}) == 0);
        chain.skip(chain.params.dispute_clock_blocks);
        CHECK(find_dispute(chain.view, id)->state() == DisputeState::kUpheld);
        CHECK(whistle_stake(chain) == 99 * kCoin);
        CHECK(chain.task(task).state != TaskState::kConvicted);
    }
    CHECK(find_dispute(chain.view, id)->end()->reason == Reason::kDisputeTimeout);
    CHECK(find_dispute(chain.view, id)->deadline().value == 0);
}

TEST_CASE("DSP-33: a clock runs while its party is to move and is never less than the extension after") {
    const ToyRun honest;
    Chain chain;
    const TaskId task = complete_toy_task(chain, honest);
    const DisputeId id = open(chain, task, 2);
    const Dispute opened = find_dispute(chain.view, id).value();
    ToyReplay replay(honest, opened.claim, honest.state(4));
    chain.skip(chain.params.dispute_clock_blocks - 1);
    const auto children = dispute::make_reveal(opened.claim, opened.position, replay);
    CHECK(chain.run(chain.solver, RevealMove{id, 0, children}) == 0);
    const Dispute moved = find_dispute(chain.view, id).value();
    CHECK(moved.game()->responder_clock == chain.params.dispute_extension_blocks);
    CHECK(moved.game()->challenger_clock == chain.params.dispute_clock_blocks);
    CHECK(moved.deadline().value == chain.height.value + moved.game()->challenger_clock);
    CHECK(moved.onchain_bytes > opened.onchain_bytes + 32 * children.size());
    chain.skip(4);
    const auto selection = dispute::make_selection(moved.claim, moved.position, replay);
    CHECK(chain.run(chain.whistleblower, SelectMove{id, 0, selection}) == 0);
    const Dispute selected = find_dispute(chain.view, id).value();
    CHECK(selected.game()->challenger_clock == chain.params.dispute_clock_blocks - 5);
    CHECK(selected.deadline().value == chain.height.value + chain.params.dispute_extension_blocks);
}

TEST_CASE("DSP-34: a move for another round is refused") {
    const ToyRun honest;
    Chain chain;
    const TaskId task = complete_toy_task(chain, honest);
    const DisputeId id = open(chain, task, 2);
    CHECK(chain.fail(chain.solver, RevealMove{id, 1, {hash_of("x")}}) == TxError::kWrongRound);
    CHECK(chain.fail(chain.whistleblower, SelectMove{id, 1, {}}) == TxError::kWrongRound);
}

TEST_CASE("DSP-35: moves that the game does not allow are refused") {
    const ToyRun honest;
    Chain chain;
    const TaskId task = complete_toy_task(chain, honest);
    const DisputeId id = open(chain, task, 2);
    CHECK(chain.fail(chain.solver, RevealMove{id, 0, {hash_of("x")}}) == TxError::kIllegalMove);
    CHECK(chain.fail(chain.whistleblower, SelectMove{id, 0, {}}) == TxError::kIllegalMove);
    CHECK(chain.fail(chain.solver, ProveMove{id, {}}) == TxError::kIllegalMove);
}

TEST_CASE("DSP-37: a claim is built from the task, and covers the last short segment and the initialisation") {
    const ToyRun honest;
    Chain chain;
    const TaskId id = complete_toy_task(chain, honest);
    const Task task = chain.task(id);
    const dispute::Claim init = make_claim(chain.view, task, 0);
    CHECK(init.initialisation);
    CHECK(init.before.is_zero());
    CHECK(init.after == honest.checkpoint_root(0));
    CHECK(init.step_count == 1);
    Task given = task;
    given.spec.program.initial_root = hash_of("given");
    CHECK(make_claim(chain.view, given, 0).before == hash_of("given"));
    CHECK(make_claim(chain.view, given, 1).before == honest.checkpoint_root(0));
    const dispute::Claim last = make_claim(chain.view, task, 3);
    CHECK(last.first_step == 8);
    CHECK(last.step_count == 2);
    CHECK(last.before == honest.checkpoint_root(2));
    CHECK(last.after == honest.checkpoint_root(3));
    CHECK(last.seed == task.spec.seed);
    CHECK(last.dataset_root == task.spec.dataset_root);
    CHECK(chain.fail(chain.whistleblower, OpenDispute{id, 4, Role::kWhistleblower}) == TxError::kSegmentUnknown);
}

TEST_CASE("DSP-38: a challenger disputes a segment once") {
    const ToyRun honest;
    Chain chain;
    const TaskId task = complete_toy_task(chain, honest);
    open(chain, task, 2);
    CHECK(chain.fail(chain.whistleblower, OpenDispute{task, 2, Role::kWhistleblower}) == TxError::kAlreadyDisputed);
    open(chain, task, 1);
    CHECK(chain.task(task).open_disputes == 2);
}

TEST_CASE("DSP-39: once the challenge window has passed nothing new is opened") {
    Chain chain;
    const TaskId id = chain.challenge_task();
    open(chain, id, 1);
    chain.skip(chain.params.challenge_blocks);
    CHECK(chain.task(id).state == TaskState::kChallenge);
    CHECK(chain.fail(chain.whistleblower, OpenDispute{id, 2, Role::kWhistleblower}) == TxError::kTaskState);
}

TEST_CASE("DSP-40: a conviction makes the task's other disputes moot and returns their bonds") {
    const ToyRun honest;
    const ToyRun fraud(kTamper);
    Params params = quick_params();
    params.dispute_clock_blocks = 50;
    Chain chain(params);
    const TaskId task = complete_toy_task(chain, fraud);
    CHECK(chain.run(chain.stranger, Bond{Role::kWhistleblower, {2 * kCoin}}) == 0);
    CHECK(chain.run(chain.stranger, OpenDispute{task, 1, Role::kWhistleblower}) == 0);
    const DisputeId other = dispute_id(task, 1, chain.stranger.id);
    CHECK(chain.stake(Role::kWhistleblower, chain.stranger).free.grains == kCoin);
    play_dispute(chain, open(chain, task, 2), fraud, honest, chain.whistleblower);
    CHECK(chain.task(task).state == TaskState::kConvicted);
    CHECK(find_dispute(chain.view, other)->state() == DisputeState::kMoot);
    CHECK(find_dispute(chain.view, other)->end()->reason == Reason::kMoot);
    CHECK(chain.stake(Role::kWhistleblower, chain.stranger).free.grains == 2 * kCoin);
    chain.skip(60);
    CHECK(find_dispute(chain.view, other)->state() == DisputeState::kMoot);
}
