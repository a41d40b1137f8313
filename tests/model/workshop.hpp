// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include <tests/model/records.hpp>
#include <tests/unit/contracts/distances.hpp>
#include <tests/unit/contracts/evaluations.hpp>

/// What the actors of a crowd compute: the toy program's states, each made once and known by its root.
namespace assay::model {

using contracts::test::State;
using contracts::test::ToyRun;

/// A hash of all three, for what actors invent and decide.
Hash256 mix(const Hash256& name, const AccountId& actor, std::uint64_t number);

/// A way of running the program. kLie... depart from the truth by a bit somewhere, kStale begins a segment with the
/// state after the initialisation, the native ones depart as hardware does; kOtherSeed differs in each step where the
/// program has noise. The last two are runs of the program that diverges.
enum class Way : std::uint8_t {
    kTruth,
    kLieInInit,
    kLieInStep,
    kLieInCommit,
    kLieLate,
    kStale,
    kNative,
    kOtherNative,
    kOtherSeed,
    kDiverges,
    kDivergesLie
};
inline constexpr int kWays = 11;
constexpr bool is_diverging(Way way) { return way >= Way::kDiverges; }

class Workshop {
  public:
    /// `noise`: what each step of the program that does not diverge adds (ToyNoise::bound).
    explicit Workshop(float noise = 0);

    /// The spec of the program that diverges, or of the one that does not.
    const contracts::TaskSpec& spec(bool diverges) const { return diverges ? diverging_spec_ : spec_; }
    const contracts::DistanceCommitment& distance() const { return distance_; }

    const contracts::EvaluationCommitment& scoring() const { return scoring_; }

    Hash256 start(Way way);
    /// The root after step `step` from the state `before`; zero when that state is unknown.
    Hash256 next(Way way, const Hash256& before, std::uint64_t step);
    Hash256 after(Way way, Hash256 root, std::uint64_t first, std::uint64_t steps);
    bool knows(const Hash256& root) const { return states_.contains(root); }
    const State& state(const Hash256& root) const { return states_.at(root); }
    dispute::Measurement measure(
        const Hash256& start, const Hash256& replayed, const Hash256& claimed, std::uint64_t seed
    );
    /// What an honest solver says of the final state with this root, which is known.
    const contracts::Evaluation& evaluation(const Hash256& root);
    /// A tile of the state with this root, which is known and has the tensor; `number` counts modulo its tiles.
    dispute::StateOpening opening(const Hash256& root, std::uint32_t tensor, std::uint64_t number) const;
    const ToyRun& run(Way way) const { return *runs_.at(static_cast<std::size_t>(way)); }
    /// The program run under another seed.
    ToyRun run_under(std::uint64_t seed) const { return ToyRun(std::nullopt, ToyRun::kScale, {noise_, seed}); }

    /// Makes a state known.
    Hash256 keep(State state);

  private:
    float noise_;
    std::vector<std::unique_ptr<ToyRun>> runs_;
    contracts::TaskSpec spec_;
    contracts::TaskSpec diverging_spec_;
    contracts::DistanceCommitment distance_;
    contracts::EvaluationCommitment scoring_;
    std::map<Hash256, State> states_;
    std::map<Hash256, contracts::Evaluation> evaluations_;
    std::map<std::tuple<Way, Hash256, std::uint64_t>, Hash256> steps_;
    std::map<Way, Hash256> starts_;
};

/// A party's replay of a disputed claim, with what it refers to.
struct Player {
    std::unique_ptr<dispute::testing::World> world;
    std::unique_ptr<dispute::Replay> replay;
};
/// Over a segment; without a replay when the state before it is unknown.
Player play_segment(Workshop& shop, const dispute::Claim& claim, Way way);
/// Over a measurement of three known states, as it is or with a bit wrong.
Player play_measurement(
    Workshop& shop, const Hash256& start, const Hash256& replayed, const Hash256& claimed, std::uint64_t seed, bool lies
);

/// Over the score of a state, as it is or with the lie of a lower loss; without a replay when the state is unknown.
Player play_evaluation(Workshop& shop, const Hash256& state, std::uint64_t seed, bool lies);

}  // namespace assay::model
