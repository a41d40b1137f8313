// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tools/economics/odds.hpp>
#include <tools/economics/setting.hpp>

/// What each deviation brings on average, in closed form. All amounts are in ASY; a gain is over honest play of the
/// same seat. docs/operations/economics.md has the argument behind each formula.
namespace assay::economics {

/// What a solver does instead of training everything.
struct SolverPlan {
    std::uint32_t wrong = 0;      ///< segments whose checkpoint a replay does not give; at most segments + 1
    double cost = 0.0;            ///< of what it computes, where honest training costs training_cost()
    double detection = 1.0;       ///< a replay of a wrong segment tells
    bool self_challenge = false;  ///< when a wrong segment is refuted, an account of its own is the first to say so
    bool withheld = false;        ///< the wrong checkpoints cannot be fetched: there is nothing to play a dispute about
    std::uint32_t contributors = 0;  ///< of the beacon, which choose among seeds until no draw tells
};

/// A deviation's outcome. `gain` is payoff less the honest payoff of the same seat.
struct Expectation {
    double gain = 0.0;
    double payoff = 0.0;
    double detection = 0.0;
};

class Model {
  public:
    Model(const Setting& setting, const Costs& costs) : setting_(setting), costs_(costs) {}

    /// A drawn segment has a verifier that looks.
    double looked_at() const;
    /// A verdict with a wrong probe is challenged by a drawn watcher.
    double watched() const;
    /// Of `wrong` segments at least one is refuted.
    double conviction(const SolverPlan& plan) const;
    /// The choice of a solver whose accomplices contribute to the beacon: among seeds whose draw does not tell.
    SeedChoice chosen_draw(const SolverPlan& plan) const;

    double honest_solver() const;
    Expectation solver(const SolverPlan& plan) const;
    /// `plan` with the number of skipped segments, 1 .. N, that brings most; skipped segments cost nothing.
    SolverPlan worst_skip(SolverPlan plan) const;
    /// The same with the number of contributors, none only if the coalition has none, that brings most.
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
    /// A task without any work, submitted and solved by the coalition, whose verifiers and watchers are drawn by
    /// chance.
    Expectation empty_task() const;
    Expectation flooding(std::uint32_t disputes) const;
    Expectation self_slashing() const;
    /// What the coalition's watchers win on average when one of them is drawn for its own forced verdict.
    double own_jackpot() const;
    /// Accomplices that contribute to the beacon choose among seeds until one of the coalition's watchers is drawn for
    /// its own forced verdict.
    Expectation biased_jackpots(std::uint32_t contributors) const;

    // The treasury.
    /// Assignments with a probe, on average: the initialisation has none.
    double probed_assignments() const;
    /// Tax and transaction fees of an honest task.
    double treasury_income() const;
    /// Jackpots of an honest task in jackpots: expected number of forced verdicts times the share that is paid.
    double jackpots_per_task() const;
    /// Where the treasury comes to rest when a third of it is below the fee's jackpot; else where it need not.
    double treasury_at_rest() const;

  private:
    double winner() const { return static_cast<double>(setting_.winner_bps) / 10'000.0; }
    double dispute_failure(const SolverPlan& plan) const;
    /// How much less often the draw tells when it is chosen.
    double still_told(const SolverPlan& plan) const;
    /// What one draw of verifiers and segments shows: `found` of a wrong segment that is drawn is noticed.
    double noticed(const SolverPlan& plan, double found) const;

    const Setting& setting_;
    const Costs& costs_;
};

}  // namespace assay::economics
