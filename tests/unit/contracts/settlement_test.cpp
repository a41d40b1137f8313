// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/verification/lottery.hpp>
#include <contracts/verification/verification.hpp>
#include <tests/unit/contracts/toy.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

const Tamper kTamper{false, 5, 2, 2};

}  // namespace

TEST_CASE("SET-1: settlement pays reward and shares, and what does not divide goes to the treasury") {
    Params params = quick_params();
    params.segments_checked = 4;
    Chain chain(params);
    chain.bond_all();
    TaskSpec spec = make_spec();
    spec.verification_fee = {1'003};
    const TaskId id = chain.start_task(spec);
    chain.post_checkpoints(id, {hash_of("0"), hash_of("1"), hash_of("2"), hash_of("3")});
    CHECK(chain.run(chain.solver, CompleteTask{id}) == 0);
    chain.skip(1);
    chain.commit_all(id);
    chain.publish_all(id);
    const std::uint64_t treasury = get_supply(chain.view).treasury.grains - chain.floors;
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.paid(id, Reason::kReward) == std::vector<std::uint64_t>{20 * kCoin});
    CHECK(chain.paid(id, Reason::kVerificationFee) == std::vector<std::uint64_t>(4, 250));
    CHECK(get_supply(chain.view).treasury.grains == treasury + 3 + chain.floors);
    CHECK(chain.task(id).escrow.grains == 0);
}

TEST_CASE("SET-2: a conviction slashes solver and wrong verifiers, pays the right ones, refunds the submitter") {
    const ToyRun honest;
    const ToyRun fraud(kTamper);
    Params params = quick_params();
    params.segments_checked = 4;
    params.challenge_blocks = 50;
    Chain chain(params);
    const TaskId id = complete_toy_task(chain, fraud);
    chain.skip(1);
    chain.commit_all(id);
    chain.publish_all(id);
    const std::uint64_t verifier_before = chain.balance(chain.verifier);
    const std::uint64_t submitter_before = chain.balance(chain.submitter);
    CHECK(chain.run(chain.whistleblower, OpenDispute{id, 2, Role::kWhistleblower}) == 0);
    play_dispute(chain, dispute_id(id, 2, chain.whistleblower.id), fraud, honest, chain.whistleblower);
    CHECK(chain.task(id).state == TaskState::kConvicted);
    CHECK(chain.slashed(id, Reason::kLostDispute) == std::vector{chain.params.solver_bond.grains});
    CHECK(chain.slashed(id, Reason::kWrongVerdict) == std::vector{chain.params.verifier_bond.grains});
    CHECK(
        chain.paid(id, Reason::kWonDispute) ==
        std::vector{chain.params.solver_bond.grains / 2, chain.params.verifier_bond.grains / 2}
    );
    CHECK(chain.paid(id, Reason::kVerificationFee) == std::vector<std::uint64_t>(3, kCoin));
    CHECK(chain.balance(chain.verifier) == verifier_before + 3 * kCoin);
    CHECK(chain.balance(chain.submitter) == submitter_before + 20 * kCoin);
    CHECK(chain.stake(Role::kVerifier, chain.verifier).free.grains == 99 * kCoin);
    CHECK(chain.stake(Role::kVerifier, chain.verifier).locked.grains == 0);
}

TEST_CASE("SET-2: a verifier that rejects the fraud wins through its own verdict") {
    const ToyRun honest;
    const ToyRun fraud(kTamper);
    Params params = quick_params();
    params.segments_checked = 4;
    Chain chain(params);
    const TaskId id = complete_toy_task(chain, fraud);
    chain.skip(1);
    for (std::uint32_t segment = 0; segment < 4; ++segment) {
        const Hash256 root = segment == 2 ? honest.checkpoint_root(2) : fraud.checkpoint_root(segment);
        CHECK(chain.commit(chain.verifier, id, segment, root) == 0);
    }
    CHECK(chain.publish(chain.verifier, id, 2, honest.checkpoint_root(2)) == 0);
    CHECK(chain.run(chain.whistleblower, Transfer{chain.pauper.id, {kCoin}}) == 0);
    play_dispute(chain, dispute_id(id, 2, chain.verifier.id), fraud, honest, chain.verifier);
    CHECK(chain.task(id).state == TaskState::kConvicted);
    CHECK(chain.task(id).assignments[2].status == VerdictStatus::kRejected);
    CHECK(chain.paid(id, Reason::kWonDispute) == std::vector{chain.params.solver_bond.grains / 2});
    CHECK(chain.paid(id, Reason::kVerificationFee).size() == 1);
    CHECK(chain.stake(Role::kVerifier, chain.verifier).locked.grains == 0);
}

TEST_CASE("SET-10: whoever accused first has the larger share, also where another's dispute ends first") {
    const ToyRun honest;
    const ToyRun fraud(kTamper);
    Params params = quick_params();
    params.segments_checked = 4;
    params.challenge_blocks = 50;
    Chain chain(params);
    const TaskId id = complete_toy_task(chain, fraud);
    CHECK(chain.run(chain.whistleblower, OpenDispute{id, 2, Role::kWhistleblower}) == 0);
    chain.skip(1);
    for (std::uint32_t segment = 0; segment < 4; ++segment) {
        const Hash256 root = segment == 2 ? honest.checkpoint_root(2) : fraud.checkpoint_root(segment);
        CHECK(chain.commit(chain.verifier, id, segment, root) == 0);
    }
    CHECK(chain.publish(chain.verifier, id, 2, honest.checkpoint_root(2)) == 0);
    const std::uint64_t earliest = chain.balance(chain.whistleblower);
    play_dispute(chain, dispute_id(id, 2, chain.verifier.id), fraud, honest, chain.verifier);
    CHECK(chain.task(id).state == TaskState::kConvicted);
    CHECK(find_dispute(chain.view, dispute_id(id, 2, chain.whistleblower.id))->state() == DisputeState::kMoot);
    const std::uint64_t won = params.solver_bond.grains / 2;
    CHECK(chain.paid(id, Reason::kWonDispute) == std::vector{won - won / 4, won / 4});
    CHECK(chain.balance(chain.whistleblower) == earliest + won - won / 4);
}

TEST_CASE("SET-10: of one block a verifier of the segment precedes, and who disputes another segment follows") {
    const ToyRun honest;
    const ToyRun fraud(kTamper);
    Params params = quick_params();
    params.segments_checked = 4;
    params.challenge_blocks = 50;
    Chain chain(params);
    const TaskId id = complete_toy_task(chain, fraud);
    CHECK(chain.run(chain.submitter, Bond{Role::kWhistleblower, {50 * kCoin}}) == 0);
    CHECK(chain.run(chain.submitter, OpenDispute{id, 1, Role::kWhistleblower}) == 0);
    chain.skip(1);
    for (std::uint32_t segment = 0; segment < 4; ++segment) {
        const Hash256 root = segment == 2 ? honest.checkpoint_root(2) : fraud.checkpoint_root(segment);
        CHECK(chain.commit(chain.verifier, id, segment, root) == 0);
    }
    const VerdictOpening opening = chain.opening(chain.verifier, id, 2, honest.checkpoint_root(2));
    const Verdict verdict = published_verdict(chain.task(id), chain.assignment(chain.verifier, id, 2), opening, false);
    chain.run_block(
        {chain.make_tx(chain.whistleblower, OpenDispute{id, 2, Role::kWhistleblower}),
         chain.make_tx(chain.verifier, PublishVerdict{id, 2, verdict})}
    );
    const std::uint64_t before = chain.balance(chain.submitter);
    play_dispute(chain, dispute_id(id, 2, chain.whistleblower.id), fraud, honest, chain.whistleblower);
    CHECK(chain.task(id).state == TaskState::kConvicted);
    const std::uint64_t won = params.solver_bond.grains / 2;
    CHECK(chain.paid(id, Reason::kWonDispute) == std::vector{won - 2 * (won / 6), won / 6, won / 6});
    std::vector<AccountId> winners;
    for (const HistoryRecord& record : chain.history) {
        const auto* paid = std::get_if<history::Paid>(&record.event);
        if (paid != nullptr && paid->reason == Reason::kWonDispute) {
            winners.push_back(paid->to);
        }
    }
    CHECK(winners == std::vector{chain.verifier.id, chain.whistleblower.id, chain.submitter.id});
    CHECK(chain.balance(chain.submitter) > before);
}

TEST_CASE("SET-4: a task that ends without fraud returns everything") {
    Chain chain;
    chain.bond_all();
    const std::uint64_t before = chain.balance(chain.submitter);
    const TaskId id = task_id(chain.submitter.id, 0);
    CHECK(chain.run(chain.submitter, SubmitTask{make_spec()}) == 0);
    CHECK(chain.run(chain.submitter, CancelTask{id}) == 0);
    CHECK(chain.paid(id, Reason::kRefund) == std::vector<std::uint64_t>{23 * kCoin});
    CHECK(chain.balance(chain.submitter) == before - 2 * kFee);
}

TEST_CASE("SET-5: of what is slashed the winner gets its share and the rest is burned") {
    Params params = quick_params();
    params.slash_to_winner_bps = 3'333;
    Chain chain(params);
    const TaskId id = chain.challenge_task();
    CHECK(chain.run(chain.whistleblower, OpenDispute{id, 1, Role::kWhistleblower}) == 0);
    chain.skip(params.dispute_clock_blocks);
    CHECK(chain.task(id).state == TaskState::kConvicted);
    const std::uint64_t bond = params.solver_bond.grains;
    const auto shares = chain.paid(id, Reason::kWonDispute);
    REQUIRE_FALSE(shares.empty());
    CHECK(shares.front() == bond * 3'333 / 10'000);
    std::uint64_t slashed = 0;
    std::uint64_t paid = 0;
    for (const Reason reason : {Reason::kDisputeTimeout, Reason::kWrongVerdict}) {
        for (const std::uint64_t amount : chain.slashed(id, reason)) {
            slashed += amount;
        }
    }
    for (const std::uint64_t amount : shares) {
        paid += amount;
    }
    CHECK(chain.burned() == slashed - paid);
}

TEST_CASE("SET-6: a verifier whose rejection was refuted earns no fee") {
    Params params = quick_params();
    params.segments_checked = 4;
    params.redraws_max = 0;  // AVL-7: there is no other verifier
    Chain chain(params);
    const TaskId id = chain.verifying_task();
    for (std::uint32_t segment = 0; segment < 4; ++segment) {
        const Hash256 root = segment == 1 ? hash_of("wrong") : hash_of(std::to_string(segment));
        CHECK(chain.commit(chain.verifier, id, segment, root) == 0);
    }
    for (std::uint32_t segment = 0; segment < 4; ++segment) {
        const Hash256 root = segment == 1 ? hash_of("wrong") : hash_of(std::to_string(segment));
        CHECK(chain.publish(chain.verifier, id, segment, root) == 0);
    }
    const DisputeId dispute = dispute_id(id, 1, chain.verifier.id);
    // The solver reveals something, and the challenger falls silent.
    const Dispute open = find_dispute(chain.view, dispute).value();
    REQUIRE(open.position.level() == dispute::Level::kSteps);
    std::vector<Hash256> children(dispute::split(open.claim, open.position).count, hash_of("c"));
    children.back() = open.claim.after;
    CHECK(chain.run(chain.solver, RevealMove{dispute, 0, children}) == 0);
    chain.skip(params.dispute_clock_blocks + 1);
    CHECK(find_dispute(chain.view, dispute)->state() == DisputeState::kUpheld);
    chain.disclose_all(id);
    CHECK(open_segments(chain.task(id)) == std::vector<std::uint32_t>{1});  // AVL-1
    CHECK(chain.task(id).state == TaskState::kExpired);
    CHECK(chain.paid(id, Reason::kVerificationFee).empty());
    CHECK(chain.slashed(id, Reason::kDisputeTimeout) == std::vector{params.challenger_bond.grains});
}
