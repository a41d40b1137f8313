// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/chain/duty.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/verification/lottery.hpp>
#include <contracts/verification/verification.hpp>
#include <tests/unit/contracts/challenges.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

/// A wrong result of step 4, the first of segment 2, which every later state inherits.
const Tamper kTamper{false, 4, 2, 2};

}  // namespace

TEST_CASE("VER-16: watchers who challenge a forced error share a jackpot, others get their bond back") {
    const ToyRun honest;
    Params params = all_checked(10'000);
    params.watchers_per_verdict = 2;
    Chain chain(params);
    CHECK(chain.run(chain.stranger, Bond{Role::kWhistleblower, {100 * kCoin}}) == 0);
    const TaskId id = published_task(chain, honest, honest);
    // Who was not drawn may be ahead of them: it wins nothing, and takes nothing away.
    const DisputeId first = challenge(chain, chain.solver, id, 1, Role::kSolver, seal_of(chain, chain.solver, id, 1));
    challenge_as_watcher(chain, chain.whistleblower, id, 1);
    challenge_as_watcher(chain, chain.stranger, id, 1);
    CHECK(dispute_of(chain, first).state() == DisputeState::kAwaiting);
    CHECK(chain.task(id).open_disputes == 3);
    keep_secret(chain);
    const std::uint64_t treasury = get_supply(chain.view).treasury.grains - chain.floors;
    CHECK(disclose(chain, id, 1) == 0);
    CHECK(dispute_of(chain, first).state() == DisputeState::kForced);
    CHECK(dispute_of(chain, first).end()->reason == Reason::kForcedError);
    CHECK(chain.task(id).open_disputes == 0);
    // The fee of this transaction is in the treasury before the third is taken.
    const std::uint64_t each = (treasury + chain.floors) / 3 / 2;
    CHECK(chain.paid(id, Reason::kJackpot) == std::vector{each, each});
    CHECK(get_supply(chain.view).treasury.grains == treasury + chain.floors - 2 * each);
    CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == 95 * kCoin);
    CHECK(chain.stake(Role::kVerifier, chain.verifier).locked.grains == 8 * kCoin);  // with the reserves
    CHECK(chain.task(id).assignments[1].probe_root == chain.probe_root(1, chain.task(id).assignments[1].probe));
    // Who meant the forced result and comes too late does not dispute the true one unawares (VER-15).
    const ChallengeVerdict late{id, 1, chain.verifier.id, Role::kWhistleblower};
    CHECK(chain.fail(chain.whistleblower, late) == TxError::kPhase);
    while (!chain.task(id).second_window) {
        chain.skip(1);
        if (chain.task(id).state == TaskState::kDisclosure) {
            chain.disclose_all(id);
        }
    }
    ChallengeVerdict sealed = late;
    sealed.seal = seal_of(chain, chain.whistleblower, id, 1);
    CHECK(chain.fail(chain.whistleblower, sealed) == TxError::kPhase);
    CHECK(chain.run(chain.whistleblower, late) == 0);  // who names no result is taken at its word
}

TEST_CASE("VER-15: a challenge of a forced result whose seal is of the true one is refused in the second window too") {
    const ToyRun honest;
    const ToyRun wrong(kTamper);
    Chain chain(all_checked(10'000));
    const TaskId id = published_task(chain, honest, wrong);
    const Hash256 decoy_found = seal_of(chain, chain.whistleblower, id, 1);
    chain.skip(chain.params.challenge_blocks);
    chain.disclose_all(id);
    REQUIRE(chain.task(id).second_window);
    ChallengeVerdict late{id, 1, chain.verifier.id, Role::kWhistleblower};
    late.seal = decoy_found;
    CHECK(chain.fail(chain.whistleblower, late) == TxError::kPhase);
    // Another's seal says nothing of what this challenger found, and of a result that is wrong there is no such seal.
    CHECK(
        chain.run(
            chain.solver,
            ChallengeVerdict{id, 1, chain.verifier.id, Role::kSolver, VerdictPart::kProbe, std::nullopt, decoy_found}
        ) == 0
    );
}

TEST_CASE("VER-16: a watcher whose seal is not of the true probe root has not replayed, and wins nothing") {
    const ToyRun honest;
    Params params = all_checked(10'000);
    params.watchers_per_verdict = 2;
    Chain chain(params);
    CHECK(chain.run(chain.stranger, Bond{Role::kWhistleblower, {100 * kCoin}}) == 0);
    const TaskId id = published_task(chain, honest, honest);
    const Hash256 seal = seal_of(chain, chain.whistleblower, id, 1);
    challenge_as_watcher(chain, chain.whistleblower, id, 1);
    challenge(chain, chain.stranger, id, 1, Role::kWhistleblower, seal);  // another's
    challenge(chain, chain.stranger, id, 2, Role::kWhistleblower);        // none
    const DisputeId guess = dispute_id(id, 3, chain.stranger.id, DisputedVerdict{chain.verifier.id, false});
    challenge(chain, chain.stranger, id, 3, Role::kWhistleblower, challenge_seal(guess, hash_of("decoy")));
    keep_secret(chain);
    const std::uint64_t treasury = get_supply(chain.view).treasury.grains - chain.floors;
    CHECK(disclose(chain, id, 1) == 0);
    CHECK(chain.paid(id, Reason::kJackpot) == std::vector{(treasury + chain.floors) / 3});  // undivided
    CHECK(disclose(chain, id, 2) == 0);
    CHECK(disclose(chain, id, 3) == 0);
    CHECK(chain.paid(id, Reason::kJackpot).size() == 1);
    CHECK(chain.task(id).open_disputes == 0);
    CHECK(chain.stake(Role::kWhistleblower, chain.stranger).free.grains == 100 * kCoin);
}

TEST_CASE("DSP-42: a challenged verdict stays secret for half a window, and others may challenge it until then") {
    const ToyRun honest;
    Params params = all_checked(10'000);
    params.watchers_per_verdict = 2;
    Chain chain(params);
    CHECK(chain.run(chain.stranger, Bond{Role::kWhistleblower, {100 * kCoin}}) == 0);
    const TaskId id = published_task(chain, honest, honest);
    challenge(chain, chain.solver, id, 1, Role::kSolver);
    const std::uint64_t end = chain.height.value + params.challenge_blocks / 2;
    chain.skip(end - chain.height.value - 3);
    REQUIRE(as_error(disclose(chain, id, 1)) == TxError::kPhase);
    challenge_as_watcher(chain, chain.whistleblower, id, 1);
    REQUIRE(chain.height.value + 1 == end);
    // VER-16: from now on who has not replayed may have seen the disclosure on its way.
    challenge_as_watcher(chain, chain.stranger, id, 1);
    const std::uint64_t treasury = get_supply(chain.view).treasury.grains - chain.floors;
    CHECK(disclose(chain, id, 1) == 0);
    CHECK(chain.task(id).assignments[1].forced == true);
    CHECK(chain.paid(id, Reason::kJackpot) == std::vector{(treasury + chain.floors) / 3});
}

TEST_CASE("DTY-2: who would disclose a challenged verdict too early has no answer for a block to take") {
    const ToyRun honest;
    Chain chain(all_checked(10'000));
    const TaskId id = published_task(chain, honest, honest);
    challenge(chain, chain.solver, id, 1, Role::kSolver);
    const Assignment challenged = chain.task(id).assignments[1];
    const Dispute dispute = find_dispute(chain.view, get_bookkeeping(chain.view, id).disputes.front().id).value();
    const DiscloseVerdict disclosure{id, challenged.segment, {}};
    const TxBody body{kChainId, challenged.verifier, dispute.deadline().value, {}, disclosure};
    const std::uint64_t from = dispute.opened_at.value + chain.params.challenge_blocks / 2;
    CHECK(check_answer(chain.view, chain.params, body, 500, Height{from - 1}).error() == TxError::kPhase);
    CHECK(check_answer(chain.view, chain.params, body, 500, Height{from}).has_value());
}

TEST_CASE("DSP-42: a verdict that is challenged before the window or at its end is secret for as long") {
    const ToyRun honest;
    for (const bool is_early : {true, false}) {
        CAPTURE(is_early);
        Chain chain(all_checked());
        chain.probe_root = [&honest](std::uint32_t segment, std::uint32_t probe) {
            return root_of(honest.state((segment - 1) * ToyRun::kInterval + probe));
        };
        const TaskId id = complete_toy_task(chain, honest);
        chain.skip(1);
        chain.commit_all(id);
        if (is_early) {
            REQUIRE(chain.publish(chain.verifier, id, 1, honest.checkpoint_root(1)) == 0);
        } else {
            chain.publish_all(id);
            chain.skip(chain.params.challenge_blocks - 2);
        }
        const DisputeId dispute = challenge(chain, chain.whistleblower, id, 1, Role::kWhistleblower);
        CHECK(
            dispute_of(chain, dispute).deadline().value ==
            chain.height.value + chain.params.challenge_blocks / 2 + chain.params.disclose_blocks
        );
        keep_secret(chain);
        CHECK(disclose(chain, id, 1) == 0);
        CHECK(dispute_of(chain, dispute).state() == DisputeState::kActive);
    }
}

TEST_CASE("DSP-41: who may challenge which verdict, once") {
    const ToyRun honest;
    Chain chain(all_checked());
    CHECK(chain.run(chain.verifier, Bond{Role::kWhistleblower, {9 * kCoin}}) == 0);
    const TaskId id = published_task(chain, honest, honest);
    const auto refused = [&](const Actor& who, std::uint32_t segment, const AccountId& verifier) {
        return chain.fail(who, ChallengeVerdict{id, segment, verifier, Role::kWhistleblower});
    };
    CHECK(refused(chain.verifier, 1, chain.verifier.id) == TxError::kNotParty);
    CHECK(refused(chain.stranger, 1, chain.verifier.id) == TxError::kInsufficientStake);
    CHECK(refused(chain.whistleblower, 1, chain.stranger.id) == TxError::kNotAssigned);
    CHECK(refused(chain.whistleblower, 0, chain.verifier.id) == TxError::kNotPublished);
    const DisputeId dispute = challenge(chain, chain.whistleblower, id, 1, Role::kWhistleblower);
    CHECK(refused(chain.whistleblower, 1, chain.verifier.id) == TxError::kAlreadyDisputed);
    CHECK(dispute != dispute_id(id, 1, chain.whistleblower.id));
    CHECK(dispute != dispute_id(id, 1, chain.whistleblower.id, DisputedVerdict{chain.verifier.id, true}));
    const Dispute opened = dispute_of(chain, dispute);
    CHECK(opened.responder == chain.verifier.id);
    CHECK(opened.claim.before == honest.checkpoint_root(0));
    CHECK(opened.claim.first_step == 0);
    CHECK(opened.claim.step_count == chain.task(id).assignments[1].probe);
    CHECK(opened.claim.after == chain.task(id).assignments[1].probe_root);
    CHECK_FALSE(opened.claim.diverges);
    CHECK(chain.fail(chain.verifier, RevealMove{dispute, 0, {hash_of("x")}}) == TxError::kPhase);
    CHECK(chain.stake(Role::kWhistleblower, chain.whistleblower).locked == chain.params.challenger_bond);
}

TEST_CASE("DSP-42: a challenged verdict that is not disclosed in time is lost to the first who challenged it") {
    const ToyRun honest;
    Chain chain(all_checked());
    const TaskId id = published_task(chain, honest, honest);
    const DisputeId first = challenge(chain, chain.whistleblower, id, 2, Role::kWhistleblower);
    const DisputeId second = challenge(chain, chain.solver, id, 2, Role::kSolver);
    chain.skip(chain.params.challenge_blocks / 2 + chain.params.disclose_blocks);
    CHECK(dispute_of(chain, first).state() == DisputeState::kRefuted);
    CHECK(dispute_of(chain, first).end()->reason == Reason::kUndisclosed);
    CHECK(dispute_of(chain, second).state() == DisputeState::kMoot);
    CHECK(chain.slashed(id, Reason::kUndisclosed) == std::vector<std::uint64_t>{kCoin});
    CHECK(chain.paid(id, Reason::kWonDispute) == std::vector<std::uint64_t>{kCoin / 2});
    CHECK(chain.task(id).assignments[2].status == VerdictStatus::kRefuted);
    CHECK(as_error(disclose(chain, id, 2)) == TxError::kNotPublished);
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kCompleted);  // AVL-7
}

TEST_CASE("DSP-42: a challenge of a verdict that is neither forced nor wrong costs the challenger its bond") {
    const ToyRun honest;
    const ToyRun liar(kTamper);
    Chain chain(all_checked());
    const TaskId id = published_task(chain, honest, honest);
    const DisputeId dispute = challenge(chain, chain.whistleblower, id, 2, Role::kWhistleblower);
    keep_secret(chain);
    CHECK(disclose(chain, id, 2) == 0);
    CHECK(dispute_of(chain, dispute).state() == DisputeState::kActive);
    CHECK(dispute_of(chain, dispute).deadline().value == chain.height.value + chain.params.dispute_clock_blocks);
    play_dispute(chain, dispute, honest, liar, chain.whistleblower);
    CHECK(dispute_of(chain, dispute).state() == DisputeState::kUpheld);
    CHECK(chain.slashed(id, Reason::kFalseAccusation) == std::vector<std::uint64_t>{kCoin});
    CHECK(chain.task(id).assignments[2].status == VerdictStatus::kAccepted);
    chain.end_windows(id);
    CHECK(chain.paid(id, Reason::kVerificationFee).size() == 4);
}

TEST_CASE("DSP-43: a verifier that did not replay is refuted at the step that it did not execute") {
    const ToyRun honest;
    const ToyRun lazy(kTamper);
    Chain chain(all_checked());
    const TaskId id = published_task(chain, honest, lazy);
    const DisputeId dispute = challenge(chain, chain.whistleblower, id, 2, Role::kWhistleblower);
    const DisputeId other = challenge(chain, chain.solver, id, 2, Role::kSolver);
    keep_secret(chain);
    CHECK(disclose(chain, id, 2) == 0);
    play_dispute(chain, dispute, lazy, honest, chain.whistleblower);
    const Dispute ended = dispute_of(chain, dispute);
    CHECK(ended.state() == DisputeState::kRefuted);
    CHECK(dispute::pinpoint(ended.position).step == 4);
    CHECK(ended.end()->slashed == chain.params.verifier_bond);
    CHECK(dispute_of(chain, other).state() == DisputeState::kMoot);
    CHECK(chain.stake(Role::kSolver, chain.solver).locked == chain.params.solver_bond);
    CHECK(chain.task(id).state == TaskState::kChallenge);
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kCompleted);  // AVL-7: nobody else has accepted that segment
    CHECK(chain.paid(id, Reason::kReward).empty());
}

TEST_CASE("DSP-40: a conviction ends what waits for a disclosure as moot") {
    const ToyRun honest;
    const ToyRun fraud(Tamper{false, 9, 2, 2});
    Params params = all_checked();
    params.disclose_blocks = 60;
    Chain chain(params);
    const TaskId id = published_task(chain, fraud, honest);
    const DisputeId waiting = challenge(chain, chain.solver, id, 1, Role::kSolver);
    CHECK(chain.run(chain.whistleblower, OpenDispute{id, 3, Role::kWhistleblower}) == 0);
    CHECK(dispute_of(chain, waiting).state() == DisputeState::kAwaiting);
    play_dispute(chain, dispute_id(id, 3, chain.whistleblower.id), fraud, honest, chain.whistleblower);
    CHECK(chain.task(id).state == TaskState::kConvicted);
    CHECK(dispute_of(chain, waiting).state() == DisputeState::kMoot);
    CHECK(chain.stake(Role::kVerifier, chain.verifier).free.grains == 99 * kCoin);
}
