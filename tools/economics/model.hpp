// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tools/economics/odds.hpp>
#include <tools/economics/setting.hpp>

/// The average result of each deviation, in closed form. All amounts are in ASY; a gain is relative to honest play of
/// the same seat. docs/operations/economics.md derives each formula.
namespace assay::economics {

/// A solver's deviation from training everything.
struct SolverPlan {
    std::uint32_t wrong = 0;  ///< number of segments whose checkpoint a replay does not reproduce; at most segments + 1
    double cost = 0.0;        ///< of what it computes; honest training costs training_cost()
    double detection = 1.0;   ///< probability that a replay of a wrong segment detects it
    bool self_challenge =
        false;              ///< if a wrong segment is refuted, another account of its owner is the first challenger
    bool withheld = false;  ///< the wrong checkpoints cannot be fetched, so there is nothing to dispute
    std::uint32_t contributors =
        0;  ///< accomplices in the beacon, who choose among seeds to avoid a draw that detects it
};

/// The result of a deviation. `gain` is the payoff minus the honest payoff of the same seat.
struct Expectation {
    double gain = 0.0;
    double payoff = 0.0;
    double detection = 0.0;
};

class Model {
  public:
    Model(const Setting& setting, const Costs& costs) : setting_(setting), costs_(costs) {}

    /// Probability that a drawn segment has a verifier that replays it.
    double looked_at() const;
    /// Probability that a drawn watcher challenges a verdict with a wrong probe.
    double watched() const;
    /// Probability that at least one of the wrong segments is refuted.
    double conviction(const SolverPlan& plan) const;
    /// The seed choice of a solver with accomplices in the beacon: they look for a seed whose draw does not detect it.
    SeedChoice chosen_draw(const SolverPlan& plan) const;

    double honest_solver() const;
    Expectation solver(const SolverPlan& plan) const;
    /// Returns `plan` with the most profitable number of skipped segments, 1 .. N; skipped segments cost nothing.
    SolverPlan worst_skip(SolverPlan plan) const;
    /// Returns `plan` with the most profitable number of contributors; none only if the coalition has none.
    SolverPlan worst_choice(SolverPlan plan) const;

    // A verifier, for one assignment with a probe.
    double honest_verifier() const;
    Expectation lazy(bool self_challenge) const;
    Expectation copied(bool self_challenge) const;
    Expectation false_rejection() const;

    // A watcher, for one watch of an honest verifier.
    double honest_watcher() const;
    Expectation blind_challenge() const;
    Expectation follower() const;

    // Coalitions.
    Expectation self_dealing(std::uint32_t sybils) const;
    /// A task without any work. The coalition submits and solves it; its verifiers and watchers are drawn by chance.
    Expectation empty_task() const;
    Expectation flooding(std::uint32_t disputes) const;
    Expectation self_slashing() const;
    /// The average that the coalition's watchers win if one of them is drawn for its own forced verdict.
    double own_jackpot() const;
    /// The coalition's accomplices in the beacon choose among seeds until one of its watchers is drawn for its own
    /// forced verdict.
    Expectation biased_jackpots(std::uint32_t contributors) const;

    // The treasury.
    /// Average number of assignments with a probe; the initialisation has none.
    double probed_assignments() const;
    /// Tax and transaction fees of an honest task.
    double treasury_income() const;
    /// Jackpots paid for an honest task, in units of a jackpot: expected number of forced verdicts times the share that
    /// is paid.
    double jackpots_per_task() const;
    /// The equilibrium of the treasury if a third of it is less than the fee's jackpot; otherwise it need not settle
    /// there.
    double treasury_at_rest() const;

  private:
    double winner() const { return static_cast<double>(setting_.winner_bps) / 10'000.0; }
    double dispute_failure(const SolverPlan& plan) const;
    /// How much less often a draw detects the plan if the seed is chosen, as a factor.
    double still_told(const SolverPlan& plan) const;
    /// Probability that one draw of verifiers and segments detects the plan, if a drawn wrong segment is noticed with
    /// probability `found`.
    double noticed(const SolverPlan& plan, double found) const;

    const Setting& setting_;
    const Costs& costs_;
};

}  // namespace assay::economics
