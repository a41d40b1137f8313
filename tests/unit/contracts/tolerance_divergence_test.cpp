// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstring>
#include <limits>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/state/history.hpp>
#include <contracts/state/task.hpp>
#include <contracts/verification/lottery.hpp>
#include <tests/unit/contracts/verdicts.hpp>
#include <core/dispute/player.hpp>

/// Verdicts by distance that say that the replay diverged.
using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

constexpr float kDrift = 1e-4F;

/// The state with its first number replaced.
State with_first(State state, float value) {
    std::memcpy(state[0].data.data(), &value, sizeof(value));
    return state;
}

/// A task in tolerance mode, its verdicts committed and the lottery drawn.
struct Committed {
    Chain chain{tolerance_params()};
    TaskId id;
    std::size_t place = 0;  ///< of the assignment on segment 2
    Verdicts verdicts;

    /// What the verifier at that place publishes, unforced.
    Verdict published(std::size_t at) const {
        const Task task = chain.task(id);
        return published_verdict(task, task.assignments[at], opening_of(verdicts[at]), false);
    }
    const Actor& verifier() const { return chain.actor_of(chain.task(id).assignments[place].verifier); }
};

/// An honest task but for what the verifier of segment 2 commits to: a divergence after `steps` that left `state`.
Committed with_divergence(
    const std::function<State(std::uint32_t)>& checkpoints, const ToyRun& solver, std::uint32_t steps,
    const State& state
) {
    Committed made;
    made.id = measured_task(made.chain, kDrift, checkpoints);
    made.place = place_of(made.chain, made.id, 2);
    made.verdicts = true_verdicts(made.chain, made.id, solver);
    made.verdicts[made.place] = FoundVerdict{{root_of(state), std::nullopt, std::nullopt, steps}};
    commit_verdicts(made.chain, made.id, made.verdicts);
    return made;
}

void publish_others(Committed& made) {
    const auto assignments = made.chain.task(made.id).assignments;
    for (std::size_t i = 0; i < assignments.size(); ++i) {
        if (i != made.place) {
            const PublishVerdict publish{made.id, assignments[i].segment, made.published(i)};
            REQUIRE(made.chain.run(made.chain.actor_of(assignments[i].verifier), publish) == 0);
        }
    }
}

}  // namespace

TEST_CASE("VER-17: nobody convicts an honest solver by a divergence of a state that is finite") {
    const ToyRun honest;
    // The true state after two steps of segment 2: a dispute over this end root would confirm it.
    Committed made = with_divergence(checkpoints_of(honest), honest, 2, honest.state(6));
    const Verdict lie = made.verdicts[made.place];
    const auto fails = [&](std::optional<dispute::StateOpening> opening) {
        return made.chain.fail(made.verifier(), PublishVerdict{made.id, 2, lie, std::move(opening)});
    };
    CHECK(fails(std::nullopt) == TxError::kNoDivergence);
    const State infinite = with_first(honest.state(6), std::numeric_limits<float>::infinity());
    const dispute::StateOpening another = dispute::open_divergence(infinite).value();
    CHECK(fails(another) == TxError::kNoDivergence);
    // The tile as it is, honestly opened.
    dispute::StateOpening finite = another;
    finite.opening.tile = canonical::tile_of(honest.state(6)[0], 0);
    REQUIRE(dispute::state_root_of(finite, 2) == lie.end_root);
    CHECK(fails(finite) == TxError::kNoDivergence);
    finite.type.shape.rows = 0;
    CHECK(fails(finite) == TxError::kFieldOutOfRange);
    publish_others(made);
    end_task(made.chain, made.id, made.verdicts);
    end_task(made.chain, made.id, judge_anew(made.chain, made.id, made.verdicts, honest));
    CHECK(made.chain.task(made.id).state == TaskState::kSettled);
    CHECK(made.chain.paid(made.id, Reason::kReward).size() == 1);
}

TEST_CASE("VER-17: only a verdict that says that its replay diverged has a tile that shows it") {
    const ToyRun honest;
    const State infinite = with_first(honest.state(6), std::numeric_limits<float>::infinity());
    Committed made = with_divergence(checkpoints_of(honest), honest, 2, infinite);
    const std::size_t other = place_of(made.chain, made.id, 1);
    const Actor& verifier = made.chain.actor_of(made.chain.task(made.id).assignments[other].verifier);
    const PublishVerdict superfluous{made.id, 1, made.published(other), dispute::open_divergence(infinite)};
    CHECK(made.chain.fail(verifier, superfluous) == TxError::kMeasurementMismatch);
}

TEST_CASE("DSP-45: a divergence that is shown of an invented state is refuted, and the solver is paid") {
    const ToyRun honest;
    const State invented = with_first(honest.state(6), std::numeric_limits<float>::infinity());
    Committed made = with_divergence(checkpoints_of(honest), honest, 2, invented);
    Chain& chain = made.chain;
    const PublishVerdict lie{made.id, 2, made.verdicts[made.place], dispute::open_divergence(invented)};
    REQUIRE(chain.run(made.verifier(), lie) == 0);
    publish_others(made);
    const Actor& liar = made.verifier();
    const Actor& challenger = liar.id == chain.whistleblower.id ? chain.stranger : chain.whistleblower;
    const Role role = &challenger == &chain.stranger ? Role::kVerifier : Role::kWhistleblower;
    REQUIRE(chain.run(challenger, ChallengeVerdict{made.id, 2, liar.id, role, VerdictPart::kEnd}) == 0);
    const DisputeId id = dispute_id(made.id, 2, challenger.id, DisputedVerdict{liar.id, false, VerdictPart::kEnd});
    const dispute::Claim claim = find_dispute(chain.view, id)->claim;
    CHECK(claim.diverges);
    // A bit of the exponent more makes the infinity that it claims.
    const ToyRun lying(Tamper{false, 5, 4, 3});
    ToyReplay theirs(lying, claim, honest.state(4));
    ToyReplay ours(honest, claim, honest.state(4));
    play(chain, id, theirs, ours, liar, challenger);
    CHECK(find_dispute(chain.view, id)->state() == DisputeState::kRefuted);
    CHECK(chain.task(made.id).assignments[made.place].status == VerdictStatus::kRefuted);
    end_task(chain, made.id, made.verdicts);
    end_task(chain, made.id, judge_anew(chain, made.id, made.verdicts, honest));
    CHECK(chain.task(made.id).state == TaskState::kSettled);
}

TEST_CASE("VER-19: a replay that diverges from the solver's checkpoint convicts the solver") {
    const ToyRun canonical;
    State huge = canonical.state(4);
    for (std::size_t i = 0; i < huge[0].data.size(); i += 4) {
        // A step takes each row's greatest from all of it.
        const float most = i % 8 == 0 ? std::numeric_limits<float>::max() : std::numeric_limits<float>::lowest();
        std::memcpy(huge[0].data.data() + i, &most, sizeof(most));
    }
    std::uint32_t steps = 1;
    while (steps < 4 && !dispute::open_divergence(replay_from(canonical, huge, 4, steps))) {
        ++steps;
    }
    const State diverged = replay_from(canonical, huge, 4, steps);
    REQUIRE(dispute::open_divergence(diverged).has_value());
    const auto checkpoints = [&](std::uint32_t index) { return index == 1 ? huge : checkpoints_of(canonical)(index); };
    Committed made = with_divergence(checkpoints, canonical, steps, diverged);
    publish_others(made);
    const PublishVerdict publish{made.id, 2, made.verdicts[made.place], dispute::open_divergence(diverged)};
    REQUIRE(made.chain.run(made.verifier(), publish) == 0);
    CHECK(made.chain.task(made.id).assignments[made.place].status == VerdictStatus::kRejected);
    end_task(made.chain, made.id, made.verdicts);
    CHECK(made.chain.task(made.id).state == TaskState::kConvicted);
    CHECK(made.chain.slashed(made.id, Reason::kBeyondTolerance).size() == 1);
}
