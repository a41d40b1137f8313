// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/model.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::economics {
namespace {

double asy(Grains grains) { return to_asy(grains); }

/// Watchers that do their work when the coalition's own verdict is at stake.
std::uint32_t independent_watchers(const Adversary& a) {
    const std::uint32_t others = a.coalition_watchers + a.idle_watchers;
    return a.watchers > others ? a.watchers - others : 0;
}

std::uint32_t honest_verifiers(const Adversary& a) {
    const std::uint32_t others = a.coalition_verifiers + a.careless_verifiers;
    return a.verifiers > others ? a.verifiers - others : 0;
}

}  // namespace

double Model::looked_at() const {
    const Adversary& a = costs_.adversary;
    return 1.0 - probability_of_none({a.verifiers, honest_verifiers(a), setting_.per_segment});
}

double Model::watched() const {
    const Adversary& a = costs_.adversary;
    return 1.0 - probability_of_none({a.watchers, independent_watchers(a), setting_.watchers});
}

double Model::dispute_failure(const SolverPlan& plan) const {
    return plan.withheld || costs_.mode == Mode::kTolerance ? 0.0 : setting_.dispute_failure;
}

double Model::noticed(const SolverPlan& plan, double found) const {
    const Urn urn{setting_.segments + 1, plan.wrong, setting_.checked};
    // Right segments are refuted too when replays reject falsely: every draw then tells with at least that rate.
    const double falsely = costs_.false_rejection * looked_at();
    const double more = falsely < 1.0 ? std::max(0.0, 1.0 - (1.0 - found) / (1.0 - falsely)) : 1.0;
    return 1.0 - std::pow(1.0 - falsely, setting_.checked) * (1.0 - probability_of_notice(urn, more));
}

SeedChoice Model::chosen_draw(const SolverPlan& plan) const {
    return choose_seed(noticed(plan, plan.detection * looked_at()), plan.contributors);
}

double Model::conviction(const SolverPlan& plan) const {
    const double told = plan.detection * looked_at();
    return noticed(plan, told * (1.0 - dispute_failure(plan))) * still_told(plan);
}

double Model::still_told(const SolverPlan& plan) const {
    const double tells = noticed(plan, plan.detection * looked_at());
    return tells > 0.0 ? chosen_draw(plan).bad / tells : 1.0;
}

double Model::honest_solver() const {
    const double lost = 1.0 - std::pow(1.0 - costs_.false_rejection * looked_at(), setting_.checked);
    return (1.0 - lost) * asy(setting_.net_reward()) - lost * asy(setting_.solver_bond) -
           asy(setting_.training_cost()) - asy(setting_.transaction_fee) * setting_.solver_transactions;
}

Expectation Model::solver(const SolverPlan& plan) const {
    const double convicted = conviction(plan);
    const double recovered = plan.self_challenge ? winner() : 0.0;
    const Adversary& a = costs_.adversary;
    const double drawn = still_told(plan) * static_cast<double>(setting_.checked) * plan.wrong /
                         (static_cast<double>(setting_.segments) + 1.0);
    const double failure = dispute_failure(plan);
    // Disputes that honest verifiers lose pay the solver; who accepted a refuted segment pays its self-challenger.
    const double won = drawn * plan.detection * looked_at() * failure * winner() * asy(setting_.challenger_bond);
    const double blind =
        setting_.per_segment * (1.0 - static_cast<double>(honest_verifiers(a)) / a.verifiers - (1.0 - looked_at()));
    const double acceptors =
        plan.withheld ? 0.0
                      : drawn * plan.detection * (1.0 - failure) * blind * recovered * asy(setting_.verifier_bond);
    Expectation out;
    out.detection = convicted;
    out.payoff =
        (1.0 - convicted) * asy(setting_.net_reward()) - plan.cost -
        asy(setting_.transaction_fee) * (setting_.solver_transactions + (plan.self_challenge ? convicted : 0.0)) -
        convicted * (1.0 - recovered) * asy(setting_.solver_bond) + won + acceptors -
        chosen_draw(plan).withheld * asy(setting_.withholding);
    out.gain = out.payoff - honest_solver();
    return out;
}

SolverPlan Model::worst_skip(SolverPlan plan) const {
    SolverPlan worst = plan;
    double most = -std::numeric_limits<double>::infinity();
    for (std::uint32_t skipped = 1; skipped <= setting_.segments; ++skipped) {
        plan.wrong = skipped;
        plan.cost = asy(setting_.segment_cost) * (setting_.segments - skipped);
        if (const double gain = solver(plan).gain; gain > most) {
            most = gain;
            worst = plan;
        }
    }
    return worst;
}

SolverPlan Model::worst_choice(SolverPlan plan) const {
    SolverPlan worst = plan;
    double most = -std::numeric_limits<double>::infinity();
    const std::uint32_t all = costs_.adversary.contributors;
    for (plan.contributors = std::min(1U, all); plan.contributors <= all; ++plan.contributors) {
        const SolverPlan tried = worst_skip(plan);
        if (const double gain = solver(tried).gain; gain > most) {
            most = gain;
            worst = tried;
        }
    }
    return worst;
}

double Model::honest_verifier() const {
    return asy(setting_.fee_share) - asy(setting_.verify_cost) - 3.0 * asy(setting_.transaction_fee);
}

Expectation Model::lazy(bool self_challenge) const {
    const double caught = watched();
    const double bond = asy(setting_.verifier_bond) * (1.0 - (self_challenge ? winner() : 0.0));
    Expectation out;
    out.detection = caught;
    out.gain = asy(setting_.verify_cost) - caught * (asy(setting_.fee_share) + bond) -
               (self_challenge ? caught * asy(setting_.transaction_fee) : 0.0);
    out.payoff = honest_verifier() + out.gain;
    return out;
}

Expectation Model::copied(bool self_challenge) const {
    const double caught = watched();
    const double bond = asy(setting_.verifier_bond);
    Expectation out;
    out.detection = 1.0;  // a commitment that cannot be opened always costs
    out.gain = asy(setting_.verify_cost) - asy(setting_.fee_share) - (1.0 - caught) * bond / 10.0 -
               caught * bond * (1.0 - (self_challenge ? winner() : 0.0)) -
               (self_challenge ? caught * asy(setting_.transaction_fee) : 0.0);
    out.payoff = honest_verifier() + out.gain;
    return out;
}

Expectation Model::false_rejection() const {
    const double success = setting_.dispute_failure;
    const double disputed = 1.0 - costs_.false_rejection;  // otherwise an honest verifier rejects too
    Expectation out;
    out.detection = disputed * (1.0 - success);
    out.gain = disputed * (success * winner() * asy(setting_.solver_bond) - (1.0 - success) * asy(setting_.fee_share) -
                           (1.0 - success) * asy(setting_.challenger_bond) - asy(setting_.dispute_cost));
    out.payoff = honest_verifier() + out.gain;
    return out;
}

double Model::honest_watcher() const {
    const double won = asy(setting_.jackpot) * shared_with_others(costs_, setting_.watchers);
    return setting_.forced_rate * (won - asy(setting_.transaction_fee)) - setting_.mean_watch_cost();
}

Expectation Model::blind_challenge() const {
    // Without a replay there is nothing to seal, and so nothing to win.
    const double wrong = 1.0 - setting_.forced_rate;
    Expectation out;
    out.detection = wrong;
    out.payoff = -wrong * asy(setting_.challenger_bond) - asy(setting_.transaction_fee);
    out.gain = (1.0 - costs_.false_rejection) * (out.payoff - honest_watcher());  // a rejection is not watched
    return out;
}

Expectation Model::follower() const {
    const double followed = setting_.forced_rate * (1.0 - nobody_else(costs_, setting_.watchers));
    Expectation out;
    out.detection = 1.0;  // what it copies wins nothing
    out.payoff = -followed * asy(setting_.transaction_fee);
    out.gain = (1.0 - costs_.false_rejection) * (out.payoff - honest_watcher());  // a rejection is not watched
    return out;
}

Expectation Model::self_dealing(std::uint32_t sybils) const {
    const Adversary& a = costs_.adversary;
    const std::uint32_t coalition = std::min(a.coalition_watchers, a.watchers);
    const WatchDraw draw{a.watchers, coalition, independent_watchers(a), setting_.watchers};
    const double tips = setting_.watchers * static_cast<double>(coalition) / a.watchers;
    Expectation out;
    out.detection = 1.0;  // none of the Sybils wins anything
    out.gain = -setting_.forced_rate * sybils * asy(setting_.transaction_fee);
    out.payoff = honest_verifier() + out.gain +
                 setting_.forced_rate *
                     (asy(setting_.jackpot) * expected_jackpot_share(draw) - tips * asy(setting_.transaction_fee));
    return out;
}

Expectation Model::empty_task() const {
    const Adversary& a = costs_.adversary;
    const double fee_kept = static_cast<double>(a.coalition_verifiers) / a.verifiers;
    const WatchDraw draw{a.watchers, a.coalition_watchers, independent_watchers(a), setting_.watchers};
    const double forced = probed_assignments() * setting_.forced_rate;
    const double tips = setting_.watchers * static_cast<double>(a.coalition_watchers) / a.watchers;
    const double transactions =
        1.0 + setting_.solver_transactions + fee_kept * 3.0 * setting_.assignments + forced * tips;
    Expectation out;
    const double looked =
        1.0 - probability_of_none({a.verifiers, a.verifiers - a.coalition_verifiers, setting_.per_segment});
    const double lost = 1.0 - std::pow(1.0 - costs_.false_rejection * looked, setting_.checked);
    out.payoff =
        -asy(setting_.value()) + asy(setting_.net_reward()) + lost * asy(setting_.reward_tax - setting_.solver_bond) +
        fee_kept * asy(setting_.fee_share) * setting_.assignments +
        forced * asy(setting_.jackpot) * expected_jackpot_share(draw) - transactions * asy(setting_.transaction_fee);
    out.gain = out.payoff;
    return out;
}

Expectation Model::flooding(std::uint32_t disputes) const {
    const double failure = setting_.dispute_failure;
    Expectation out;
    out.detection = 1.0 - failure;
    out.gain =
        -std::expm1(disputes * std::log1p(-std::min(failure, 1.0 - 1e-15))) * winner() * asy(setting_.solver_bond) -
        disputes * ((1.0 - failure) * asy(setting_.challenger_bond) + asy(setting_.transaction_fee));
    out.payoff = out.gain;
    return out;
}

Expectation Model::self_slashing() const {
    Expectation out;
    out.detection = 1.0;
    out.payoff = -(1.0 - winner()) * asy(setting_.solver_bond) -
                 asy(setting_.transaction_fee) * (setting_.solver_transactions + 1.0);
    out.gain = out.payoff - honest_solver();
    return out;
}

double Model::own_jackpot() const {
    const Adversary& a = costs_.adversary;
    const double drawn = 1.0 - probability_of_none({a.watchers, a.coalition_watchers, setting_.watchers});
    const WatchDraw draw{a.watchers, a.coalition_watchers, independent_watchers(a), setting_.watchers};
    const double tips = setting_.watchers * static_cast<double>(a.coalition_watchers) / a.watchers;
    return drawn > 0.0
               ? (asy(setting_.jackpot) * expected_jackpot_share(draw) - tips * asy(setting_.transaction_fee)) / drawn
               : 0.0;
}

Expectation Model::biased_jackpots(std::uint32_t contributors) const {
    const Adversary& a = costs_.adversary;
    const double drawn = 1.0 - probability_of_none({a.watchers, a.coalition_watchers, setting_.watchers});
    const double success = setting_.forced_rate * drawn;
    const SeedChoice choice = choose_seed(1.0 - success, contributors);
    Expectation out;
    out.gain = (1.0 - success - choice.bad) * own_jackpot() - choice.withheld * asy(setting_.withholding);
    out.payoff = honest_verifier() + out.gain + success * own_jackpot();
    return out;
}

double Model::probed_assignments() const {
    return static_cast<double>(setting_.assignments) * setting_.segments / (setting_.segments + 1.0);
}

double Model::treasury_income() const {
    const double transactions = 1.0 + setting_.solver_transactions + 3.0 * setting_.assignments;
    return asy(setting_.reward_tax + setting_.fee_tax) + transactions * asy(setting_.transaction_fee);
}

double Model::jackpots_per_task() const {
    const Adversary& a = costs_.adversary;
    const std::uint32_t idle = std::min(a.idle_watchers, a.watchers);
    return probed_assignments() * setting_.forced_rate *
           expected_jackpot_share({a.watchers, a.watchers - idle, 0, setting_.watchers});
}

double Model::treasury_at_rest() const {
    const double paid = jackpots_per_task();
    return paid > 0.0 ? 3.0 * treasury_income() / paid : 0.0;
}

}  // namespace assay::economics
