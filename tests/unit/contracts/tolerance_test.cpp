// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/tasks/tasks.hpp>
#include <contracts/verification/lottery.hpp>
#include <contracts/verification/verification.hpp>
#include <contracts/params/spec.hpp>
#include <contracts/params/work.hpp>
#include <tests/unit/contracts/verdicts.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

/// A native run: one weight a little off after step 7, and with it what follows.
const Tamper kNative{false, 7, 4, 1};

/// A threshold that an honest native run of the toy keeps, and a wrong one does not.
constexpr float kDrift = 1e-4F;

}  // namespace

TEST_CASE("TASK-2.6: a task in tolerance mode, and only that, commits to a distance program of a state it can measure"
) {
    TaskSpec spec = tolerance_spec();
    CHECK(check_spec(spec).has_value());
    spec.distance->nodes = canonical::kMaxNodes + 1;
    CHECK_FALSE(check_spec(spec).has_value());
    spec.distance.reset();
    CHECK_FALSE(check_spec(spec).has_value());
    spec = tolerance_spec();
    spec.mode = Mode::kExact;
    CHECK_FALSE(check_spec(spec).has_value());
    spec = tolerance_spec();
    spec.program.state_tensors = canonical::kMaxStateTensors + 1;
    CHECK_FALSE(check_spec(spec).has_value());
}

TEST_CASE("TASK-2.7: a task in tolerance mode has at least as many segments as are profiled") {
    Chain chain(tolerance_params());
    TaskSpec spec = tolerance_spec();
    spec.checkpoint_interval = 5;  // two segments, of which three are to be profiled
    CHECK(chain.fail(chain.submitter, SubmitTask{spec}) == TxError::kSpecInvalid);
}

TEST_CASE("VER-17: an honest native solver is paid, though no segment ends where the replay does") {
    const ToyRun native(kNative);
    Chain chain(tolerance_params());
    const TaskId id = measured_task(chain, kDrift, checkpoints_of(native));
    const Verdicts verdicts = true_verdicts(chain, id, native);
    publish_verdicts(chain, id, verdicts);
    bool differs = false;
    for (const Assignment& assignment : chain.task(id).assignments) {
        CHECK(assignment.status == VerdictStatus::kAccepted);
        const Hash256 claimed = find_checkpoint(chain.view, id, assignment.segment)->state_root;
        differs = differs || assignment.end_root != claimed;
    }
    CHECK(differs);
    CHECK(chain.task(id).open_disputes == 0);
    end_task(chain, id, verdicts);
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.paid(id, Reason::kReward) == std::vector<std::uint64_t>{20 * kCoin});
    CHECK(chain.paid(id, Reason::kVerificationFee) == std::vector<std::uint64_t>(4, 600'000'000));
    CHECK(chain.paid(id, Reason::kProfilingFee) == std::vector<std::uint64_t>(4, 150'000'000));
}

TEST_CASE("VER-17: a verdict has a measurement exactly where one belongs, and a seed drawn with the verifiers") {
    const ToyRun native(kNative);
    Chain chain(tolerance_params());
    const TaskId id = measured_task(chain, kDrift, checkpoints_of(native));
    CHECK(chain.task(id).tolerance->sketch_seed != 0);
    CHECK(chain.task(id).tolerance->sketch_seed != chain.task(id).tolerance->profile_seed);
    const Verdicts verdicts = true_verdicts(chain, id, native);
    commit_verdicts(chain, id, verdicts);
    const auto refused = [&](std::uint32_t segment, const Verdict& verdict) {
        const Assignment assignment = chain.task(id).assignments[place_of(chain, id, segment)];
        return chain.fail(chain.actor_of(assignment.verifier), PublishVerdict{id, segment, verdict});
    };
    Verdict start = verdicts[place_of(chain, id, 0)];
    start.measurement = measurement_of(0.0F);
    CHECK(refused(0, start) == TxError::kMeasurementMismatch);
    const std::size_t second = place_of(chain, id, 2);
    const Verdict right =
        published_verdict(chain.task(id), chain.task(id).assignments[second], opening_of(verdicts[second]), false);
    Verdict wrong = right;
    wrong.measurement.reset();
    CHECK(refused(2, wrong) == TxError::kMeasurementMismatch);
    wrong = right;
    wrong.diverged_after = 1;
    CHECK(refused(2, wrong) == TxError::kMeasurementMismatch);
    wrong.measurement.reset();
    CHECK(refused(2, wrong) == TxError::kProbeMismatch);
    wrong.probe_root.reset();
    CHECK(refused(2, wrong) == TxError::kNoDivergence);
    wrong.diverged_after = 5;
    CHECK(refused(2, wrong) == TxError::kMeasurementMismatch);
    wrong = right;
    wrong.probe_root.reset();
    CHECK(refused(2, wrong) == TxError::kProbeMismatch);
    wrong = right;
    wrong.measurement->other.update2 = std::bit_cast<std::uint32_t>(-1.0F);
    CHECK(refused(2, wrong) == TxError::kFieldOutOfRange);
    CHECK(refused(2, right) == TxError{});
}

TEST_CASE("VER-18: a drift beyond the threshold, a number that is not finite or a replay that diverges rejects") {
    Task task;
    task.tolerance = Tolerance{};
    task.tolerance->threshold = Distances{2'000'000, 0};
    Verdict verdict;
    verdict.measurement = measurement_of(1e-3F);
    CHECK(is_within_threshold(task, verdict));
    verdict.measurement = measurement_of(3e-3F);
    CHECK_FALSE(is_within_threshold(task, verdict));
    verdict.measurement = measurement_of(1e-3F);
    verdict.measurement->other.drift2 = 1;
    CHECK_FALSE(is_within_threshold(task, verdict));
    verdict.measurement = measurement_of(1e-3F);
    verdict.measurement->parameters.not_finite = std::bit_cast<std::uint32_t>(1.0F);
    CHECK_FALSE(is_within_threshold(task, verdict));
    verdict.measurement = measurement_of(1e-3F);
    verdict.measurement->other.integers = std::bit_cast<std::uint32_t>(1.0F);
    CHECK_FALSE(is_within_threshold(task, verdict));
    verdict.measurement.reset();
    verdict.diverged_after = 2;
    CHECK_FALSE(is_within_threshold(task, verdict));
}

TEST_CASE("VER-19: a verdict that rejects opens no dispute, and convicts the solver when it stands at the end") {
    const ToyRun cheat(Tamper{false, 5, 2, 3});
    Chain chain(tolerance_params());
    const TaskId id = measured_task(chain, kDrift, checkpoints_of(cheat));
    const Verdicts verdicts = true_verdicts(chain, id, cheat);
    publish_verdicts(chain, id, verdicts);
    const Assignment rejecting = chain.task(id).assignments[place_of(chain, id, 2)];
    CHECK(rejecting.status == VerdictStatus::kRejected);
    CHECK(chain.task(id).open_disputes == 0);
    end_task(chain, id, verdicts);
    CHECK(chain.task(id).state == TaskState::kConvicted);
    CHECK(chain.slashed(id, Reason::kBeyondTolerance) == std::vector<std::uint64_t>{5 * kCoin});
    CHECK(chain.paid(id, Reason::kWonDispute) == std::vector<std::uint64_t>{5 * kCoin / 2});
    CHECK(chain.paid(id, Reason::kVerificationFee).size() == 4);
    CHECK(chain.paid(id, Reason::kProfilingFee).size() == 4);
}

TEST_CASE("LIN-6: in tolerance mode a task starts from its parent's last state, and is measured from it") {
    const ToyRun canonical;
    for (const bool cheats : {false, true}) {
        CAPTURE(cheats);
        Params params = tolerance_params();
        params.commit_blocks = 400;
        Chain chain(params);
        const TaskId parent = complete_toy_task(chain, canonical);
        const ToyRun trainer(Tamper{false, 2, cheats ? 2U : 4U, cheats ? 3U : 1U});
        std::vector<State> states{canonical.state(ToyRun::kSteps)};
        for (std::uint64_t first = 0; first < ToyRun::kSteps; first += ToyRun::kInterval) {
            const auto steps = std::min<std::uint64_t>(ToyRun::kInterval, ToyRun::kSteps - first);
            states.push_back(replay_from(trainer, states.back(), first, static_cast<std::uint32_t>(steps)));
        }
        const TaskId id = measured_task(
            chain, kDrift, [&](std::uint32_t index) { return states.at(index); }, parent
        );
        CHECK(chain.fail(chain.whistleblower, OpenDispute{id, 0, Role::kWhistleblower}) == TxError::kSegmentUnknown);
        CHECK(chain.fail(chain.whistleblower, OpenDispute{id, 1, Role::kWhistleblower}) == TxError::kNotExact);
        Verdicts verdicts;
        for (const Assignment& assignment : chain.task(id).assignments) {
            REQUIRE(assignment.segment >= 1);
            const State& start = states[assignment.segment - 1];
            verdicts.push_back(measured_verdict(chain.task(id), assignment, start, states[assignment.segment]));
        }
        CHECK(verdicts.size() == 3);
        publish_verdicts(chain, id, verdicts);
        const VerdictStatus first = chain.task(id).assignments[place_of(chain, id, 1)].status;
        CHECK(first == (cheats ? VerdictStatus::kRejected : VerdictStatus::kAccepted));
        chain.commit_all(parent);
        end_task(chain, id, verdicts);
        CHECK(chain.task(id).state == (cheats ? TaskState::kConvicted : TaskState::kSettled));
    }
}

TEST_CASE("VER-20: verdicts on one segment that contradict each other burn both bonds, and others judge the segment") {
    const ToyRun native(kNative);
    Params params = tolerance_params();
    params.verifiers_per_segment = 2;
    Chain chain(params);
    const TaskId id = measured_task(chain, kDrift, checkpoints_of(native));
    REQUIRE(chain.task(id).assignments.size() == 8);
    Verdicts verdicts = true_verdicts(chain, id, native);
    const std::size_t place = place_of(chain, id, 2);
    verdicts[place].measurement->parameters.dot ^= 1U;
    publish_verdicts(chain, id, verdicts);
    end_task(chain, id, verdicts);
    CHECK(chain.task(id).state == TaskState::kCompleted);
    CHECK(open_segments(chain.task(id)) == std::vector<std::uint32_t>{2});  // AVL-7
    CHECK(chain.slashed(id, Reason::kContradiction) == std::vector<std::uint64_t>(2, kCoin));
    CHECK(chain.task(id).assignments[place].status == VerdictStatus::kContradicted);
    CHECK(chain.task(id).assignments[place + 1].status == VerdictStatus::kContradicted);
    CHECK(chain.paid(id, Reason::kReward).empty());
}

TEST_CASE("VER-20: a rejection that nothing contradicts convicts in spite of a contradiction elsewhere") {
    const ToyRun cheat(Tamper{false, 5, 2, 3});
    Params params = tolerance_params();
    params.verifiers_per_segment = 2;
    Chain chain(params);
    const TaskId id = measured_task(chain, kDrift, checkpoints_of(cheat));
    Verdicts verdicts = true_verdicts(chain, id, cheat);
    verdicts[place_of(chain, id, 3)].measurement->parameters.dot ^= 1U;
    publish_verdicts(chain, id, verdicts);
    end_task(chain, id, verdicts);
    CHECK(chain.task(id).state == TaskState::kConvicted);
    CHECK(chain.slashed(id, Reason::kContradiction).size() == 2);
    CHECK(chain.slashed(id, Reason::kBeyondTolerance).size() == 1);
}

TEST_CASE("VER-21: drifts within the threshold that add up over the run convict the solver") {
    const ToyRun native(kNative);
    for (const std::uint32_t most : {2'500U, 3'500U}) {
        CAPTURE(most);
        Params params = tolerance_params();
        params.growth_max_thousandths = most;
        Chain chain(params);
        const TaskId id = measured_task(chain, kDrift, checkpoints_of(native));
        Verdicts verdicts = true_verdicts(chain, id, native);
        for (Verdict& verdict : verdicts) {
            if (verdict.measurement) {
                // The same drift in each of three segments: its square grows threefold.
                verdict.measurement = measurement_of(kDrift);
                verdict.measurement->parameters.sketch.fill(std::bit_cast<std::uint32_t>(kDrift));
            }
        }
        publish_verdicts(chain, id, verdicts);
        end_task(chain, id, verdicts);
        const bool convicted = most < 3'000;
        CHECK(chain.task(id).state == (convicted ? TaskState::kConvicted : TaskState::kSettled));
        CHECK(chain.slashed(id, Reason::kBeyondBudget).size() == (convicted ? 1 : 0));
        CHECK(chain.paid(id, Reason::kWonDispute).empty());
    }
}

TEST_CASE("WRK-5: the window has the time of two replays for each segment by whose verdicts the solver is convicted") {
    const ToyRun native(kNative);
    for (const std::uint32_t wrong : {0U, 1U, 2U, 3U}) {
        for (const bool adds_up : {false, true}) {
            CAPTURE(wrong);
            CAPTURE(adds_up);
            Params params = tolerance_params();
            params.hardware_classes = {{"cpu", 1'000}};
            params.block_ms = 1;
            params.growth_max_thousandths = adds_up ? 2'500 : 6'000;
            Chain chain(params);
            const TaskId id = measured_task(chain, kDrift, checkpoints_of(native));
            Verdicts verdicts = true_verdicts(chain, id, native);
            for (std::uint32_t segment = 1; segment <= wrong; ++segment) {
                auto& measurement = verdicts[place_of(chain, id, segment)].measurement;
                measurement = measurement_of(adds_up ? kDrift : 10.0F);
                measurement->parameters.sketch.fill(std::bit_cast<std::uint32_t>(kDrift));
            }
            publish_verdicts(chain, id, verdicts);
            const Task task = chain.task(id);
            REQUIRE(task.state == TaskState::kChallenge);
            const std::uint64_t replay = replay_blocks(params, task.spec);
            REQUIRE(replay != 0);
            // VER-21: each drift is within the threshold, and only three of them are beyond the budget.
            const std::size_t convicting = adds_up && wrong < 3 ? 0 : wrong;
            CHECK(convicting_segments(params, task).size() == convicting);
            const std::uint64_t replays = std::max<std::size_t>(convicting, 1);
            CHECK(task.deadline.value - chain.height.value == params.challenge_blocks + 2 * replays * replay);
        }
    }
}

TEST_CASE("DSP-44: a segment that is judged by distance is not disputed itself, the initialisation is") {
    const ToyRun native(kNative);
    Chain chain(tolerance_params());
    const TaskId id = measured_task(chain, kDrift, checkpoints_of(native));
    CHECK(chain.fail(chain.whistleblower, OpenDispute{id, 2, Role::kWhistleblower}) == TxError::kNotExact);
    CHECK(chain.run(chain.whistleblower, OpenDispute{id, 0, Role::kWhistleblower}) == 0);
}

TEST_CASE("DSP-45: a verifier that inflates a measurement is refuted by the solver, and the solver is paid") {
    const ToyRun native(kNative);
    Chain chain(tolerance_params());
    const TaskId id = measured_task(chain, kDrift, checkpoints_of(native));
    Verdicts verdicts = true_verdicts(chain, id, native);
    const std::size_t place = place_of(chain, id, 2);
    const Verdict right = verdicts[place];
    verdicts[place].measurement->parameters.drift2 = std::bit_cast<std::uint32_t>(1.0F);
    publish_verdicts(chain, id, verdicts);
    const Assignment assignment = chain.task(id).assignments[place];
    CHECK(assignment.status == VerdictStatus::kRejected);
    const State& start = native.state(4);
    const State replayed = replay_from(ToyRun(), start, 4, 4);
    const MeasuredRoots roots = roots_of(start, replayed, native.state(8));
    const Actor& verifier = chain.actor_of(assignment.verifier);
    const Actor& challenger = chain.solver;  // all of whose stake is locked (DSP-46)
    REQUIRE(chain.run(chain.solver, Unbond{Role::kSolver, chain.stake(Role::kSolver, chain.solver).free}) == 0);
    ChallengeVerdict challenge{id, 2, verifier.id, Role::kSolver, VerdictPart::kMeasurement, roots};
    std::swap((*challenge.roots)[0], (*challenge.roots)[1]);
    CHECK(chain.fail(challenger, challenge) == TxError::kNotMeasured);
    challenge.roots.reset();
    CHECK(chain.fail(challenger, challenge) == TxError::kNotMeasured);
    challenge.roots = roots;
    REQUIRE(chain.run(challenger, challenge) == 0);
    const DisputeId dispute =
        dispute_id(id, 2, challenger.id, DisputedVerdict{verifier.id, false, VerdictPart::kMeasurement});
    // Nothing of it was left to a lottery, so it begins at once.
    REQUIRE(find_dispute(chain.view, dispute)->state() == DisputeState::kActive);
    const auto world = measuring_world(start, replayed, native.state(8));
    const std::uint64_t seed = chain.task(id).tolerance->sketch_seed;
    const auto commit = static_cast<std::uint32_t>(world.init.size() - 1);
    const auto inflate = [](canonical::Tensor& tensor) {
        const float one = 1.0F;
        std::memcpy(tensor.data.data(), &one, sizeof(one));
    };
    dispute::testing::ScalarReplay theirs(world, true, seed, {{0, commit, inflate, 0}});
    dispute::testing::ScalarReplay ours(world, true, seed);
    CHECK(ours.state_root_after(0) == dispute::measurement_root(*right.measurement));
    play(chain, dispute, theirs, ours, verifier, challenger);
    CHECK(find_dispute(chain.view, dispute)->state() == DisputeState::kRefuted);
    CHECK(chain.task(id).assignments[place].status == VerdictStatus::kRefuted);
    end_task(chain, id, verdicts);
    end_task(chain, id, judge_anew(chain, id, verdicts, native));
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.paid(id, Reason::kVerificationFee).size() == 4);
}

TEST_CASE("DSP-45: a wrong end root is refuted, and a challenge of a right one costs the bond") {
    const ToyRun native(kNative);
    const ToyRun canonical;
    const ToyRun liar(Tamper{false, 6, 1, 2});
    for (const bool lies : {true, false}) {
        CAPTURE(lies);
        Chain chain(tolerance_params());
        const TaskId id = measured_task(chain, kDrift, checkpoints_of(native));
        Verdicts verdicts = true_verdicts(chain, id, native);
        const std::size_t place = place_of(chain, id, 2);
        const State& start = native.state(4);
        if (lies) {
            verdicts[place].end_root = root_of(replay_from(liar, start, 4, 4));
        }
        publish_verdicts(chain, id, verdicts);
        const Actor& verifier = chain.actor_of(chain.task(id).assignments[place].verifier);
        const Actor& challenger = verifier.id == chain.whistleblower.id ? chain.stranger : chain.whistleblower;
        const Role role = &challenger == &chain.stranger ? Role::kVerifier : Role::kWhistleblower;
        CHECK(
            chain.fail(
                chain.solver,
                ChallengeVerdict{id, 0, chain.task(id).assignments[0].verifier, Role::kSolver, VerdictPart::kEnd}
            ) == TxError::kPartUnknown
        );
        REQUIRE(chain.run(challenger, ChallengeVerdict{id, 2, verifier.id, role, VerdictPart::kEnd}) == 0);
        const DisputeId dispute =
            dispute_id(id, 2, challenger.id, DisputedVerdict{verifier.id, false, VerdictPart::kEnd});
        const dispute::Claim claim = find_dispute(chain.view, dispute)->claim;
        ToyReplay theirs(lies ? liar : canonical, claim, start);
        ToyReplay ours(lies ? canonical : liar, claim, start);
        play(chain, dispute, theirs, ours, verifier, challenger);
        CHECK(find_dispute(chain.view, dispute)->state() == (lies ? DisputeState::kRefuted : DisputeState::kUpheld));
        CHECK(chain.task(id).assignments[place].status == (lies ? VerdictStatus::kRefuted : VerdictStatus::kAccepted));
    }
}

TEST_CASE("VER-11: in tolerance mode a forced verdict has another probe root and the true measurement") {
    const ToyRun native(kNative);
    Params params = tolerance_params();
    params.forced_error_bps = 10'000;
    params.dispute_clock_blocks = params.challenge_blocks;
    Chain chain(params);
    const TaskId id = measured_task(chain, kDrift, checkpoints_of(native));
    const Verdicts verdicts = true_verdicts(chain, id, native);
    publish_verdicts(chain, id, verdicts);
    const std::size_t place = place_of(chain, id, 2);
    const Assignment forced = chain.task(id).assignments[place];
    CHECK(forced.probe_root == hash_of("decoy"));
    CHECK(forced.measurement == verdicts[place].measurement);
    CHECK(forced.status == VerdictStatus::kAccepted);
    const Actor& verifier = chain.actor_of(forced.verifier);
    const Actor& challenger = verifier.id == chain.whistleblower.id ? chain.stranger : chain.whistleblower;
    const Role role = &challenger == &chain.stranger ? Role::kVerifier : Role::kWhistleblower;
    REQUIRE(chain.run(challenger, ChallengeVerdict{id, 2, verifier.id, role}) == 0);
    REQUIRE(chain.run(challenger, ChallengeVerdict{id, 2, verifier.id, role, VerdictPart::kEnd}) == 0);
    chain.skip(params.challenge_blocks / 2);
    REQUIRE(chain.run(verifier, DiscloseVerdict{id, 2, opening_of(verdicts[place])}) == 0);
    const auto state_of = [&](VerdictPart part) {
        return find_dispute(chain.view, dispute_id(id, 2, challenger.id, DisputedVerdict{verifier.id, false, part}))
            ->state();
    };
    CHECK(state_of(VerdictPart::kProbe) == DisputeState::kForced);
    CHECK(state_of(VerdictPart::kEnd) == DisputeState::kActive);
}
