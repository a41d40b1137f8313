// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/tasks/tasks.hpp>
#include <contracts/params/work.hpp>
#include <tests/unit/contracts/verdicts.hpp>

/// Who answers for a dispute with a bond that it has in the task (DSP-46).
using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

constexpr float kDrift = 1e-4F;
const Tamper kNative{false, 7, 4, 1};

std::uint64_t free_stake(const Chain& chain, Role role, const Actor& actor) {
    return chain.stake(role, actor).free.grains;
}

void unbond_all(Chain& chain, Role role, const Actor& actor, std::uint64_t but = 0) {
    REQUIRE(chain.run(actor, Unbond{role, {free_stake(chain, role, actor) - but}}) == 0);
}

/// The tasks by which a submitter that pays nothing but fees makes profilers of everybody.
void submit_worthless(Chain& chain) {
    TaskSpec spec = tolerance_spec();
    spec.reward = {};
    spec.verification_fee = fee_at(chain.params, spec, chain.params.work_price);
    REQUIRE(chain.run(chain.submitter, SubmitTask{spec}) == 0);
    chain.skip(1);
}

}  // namespace

TEST_CASE("DSP-46: tasks that lock a verifier's free stake do not keep it from rejecting") {
    Params params = tolerance_params();
    params.commit_blocks = 60;
    Chain chain(params);
    bond_for_tolerance(chain);
    const TaskId id = chain.verifying_task();
    const Actor& verifier = chain.actor_of(chain.task(id).assignments[0].verifier);
    const std::uint32_t segment = chain.task(id).assignments[0].segment;
    for (const Assignment& each : chain.task(id).assignments) {
        REQUIRE(chain.commit(chain.actor_of(each.verifier), id, each.segment, hash_of("another")) == 0);
    }
    unbond_all(chain, Role::kVerifier, verifier, params.verifier_bond.grains);
    for (int task = 0; task < 5 && free_stake(chain, Role::kVerifier, verifier) != 0; ++task) {
        submit_worthless(chain);
    }
    REQUIRE(free_stake(chain, Role::kVerifier, verifier) == 0);
    REQUIRE(chain.publish(verifier, id, segment, hash_of("another")) == 0);
    const Dispute dispute = find_dispute(chain.view, dispute_id(id, segment, verifier.id)).value();
    CHECK(dispute.state() == DisputeState::kActive);
    CHECK(dispute.challenger_bond == chain.params.challenger_bond);
    chain.skip(params.dispute_clock_blocks);  // the solver has nothing to say
    CHECK(chain.task(id).state == TaskState::kConvicted);
    CHECK(chain.paid(id, Reason::kWonDispute).front() == 5 * kCoin / 2);
}

TEST_CASE("DSP-46: a verifier without free stake disputes a verdict that contradicts its own, and no other") {
    const ToyRun native(kNative);
    Params params = tolerance_params();
    params.verifiers_per_segment = 2;
    Chain chain(params);
    const TaskId id = measured_task(chain, kDrift, checkpoints_of(native));
    Verdicts verdicts = true_verdicts(chain, id, native);
    const std::size_t honest = place_of(chain, id, 2);
    const std::size_t liar = honest + 1;
    verdicts[liar].end_root = hash_of("invented");
    publish_verdicts(chain, id, verdicts);
    const Actor& accuser = chain.actor_of(chain.task(id).assignments[honest].verifier);
    const AccountId accused = chain.task(id).assignments[liar].verifier;
    unbond_all(chain, Role::kVerifier, accuser);
    // A verdict that says the same is nobody's to answer for but with free stake.
    const std::size_t alike = place_of(chain, id, 1);
    const auto& pair = chain.task(id).assignments;
    const bool first = pair[alike].verifier == accuser.id;
    if (first || pair[alike + 1].verifier == accuser.id) {
        const ChallengeVerdict other{id, 1, pair[alike + (first ? 1 : 0)].verifier, Role::kVerifier, VerdictPart::kEnd};
        CHECK(chain.fail(accuser, other) == TxError::kInsufficientStake);
    }
    const ChallengeVerdict challenge{id, 2, accused, Role::kVerifier, VerdictPart::kEnd};
    REQUIRE(chain.run(accuser, challenge) == 0);
    CHECK(chain.task(id).assignments[honest].reserve == chain.params.challenger_bond);
    CHECK(
        chain.fail(accuser, ChallengeVerdict{id, 2, accused, Role::kSolver, VerdictPart::kProbe}) ==
        TxError::kInsufficientStake
    );
    const DisputeId dispute = dispute_id(id, 2, accuser.id, DisputedVerdict{accused, false, VerdictPart::kEnd});
    chain.skip(params.dispute_clock_blocks);
    CHECK(find_dispute(chain.view, dispute)->state() == DisputeState::kRefuted);
    CHECK(chain.task(id).assignments[liar].status == VerdictStatus::kRefuted);
    end_task(chain, id, verdicts);
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.slashed(id, Reason::kContradiction).empty());
}

TEST_CASE("DSP-46: a solver answers with its task's bond, which pays for a lost dispute while there is any of it") {
    const ToyRun native(kNative);
    const ToyRun canonical;
    const ToyRun wrong(Tamper{false, 6, 1, 2});
    Params params = tolerance_params();
    params.solver_bond = {kCoin + kCoin / 2};  // enough for one dispute, and half of another
    params.dispute_clock_blocks = 60;
    params.challenge_blocks = 100;
    Chain chain(params);
    const TaskId id = measured_task(chain, kDrift, checkpoints_of(native));
    const Verdicts verdicts = true_verdicts(chain, id, native);
    publish_verdicts(chain, id, verdicts);
    unbond_all(chain, Role::kSolver, chain.solver);
    const auto challenge = [&](std::uint32_t segment) {
        const AccountId verifier = chain.task(id).assignments[place_of(chain, id, segment)].verifier;
        return chain.fail(chain.solver, ChallengeVerdict{id, segment, verifier, Role::kSolver, VerdictPart::kEnd});
    };
    CHECK(challenge(2) == TxError{});
    CHECK(chain.task(id).solver_bond == params.solver_bond);
    CHECK(challenge(3) == TxError{});  // however many lies there are, it can answer all
    const auto lose = [&](std::uint32_t segment) {
        const Actor& verifier = chain.actor_of(chain.task(id).assignments[place_of(chain, id, segment)].verifier);
        const DisputedVerdict subject{verifier.id, false, VerdictPart::kEnd};
        const DisputeId dispute = dispute_id(id, segment, chain.solver.id, subject);
        CHECK(find_dispute(chain.view, dispute)->challenger_bond.grains == 0);
        const dispute::Claim claim = find_dispute(chain.view, dispute)->claim;
        const auto& before = native.state((segment - 1) * std::uint64_t{ToyRun::kInterval});
        ToyReplay theirs(canonical, claim, before);
        ToyReplay ours(wrong, claim, before);
        play(chain, dispute, theirs, ours, verifier, chain.solver);
        CHECK(find_dispute(chain.view, dispute)->state() == DisputeState::kUpheld);
        return find_dispute(chain.view, dispute)->end()->slashed;
    };
    CHECK(lose(2) == chain.params.challenger_bond);
    CHECK(chain.task(id).solver_bond.grains == kCoin / 2);
    CHECK(challenge(1) == TxError{});
    CHECK(lose(3).grains == kCoin / 2);
    CHECK(chain.task(id).solver_bond == Amount{});
    CHECK(chain.slashed(id, Reason::kFalseAccusation) == std::vector<std::uint64_t>{kCoin, kCoin / 2});
}
