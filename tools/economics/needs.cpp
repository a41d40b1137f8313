// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/needs.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <contracts/state/params.hpp>
#include <contracts/stake/terms.hpp>
#include <contracts/stake/staking.hpp>
#include <tools/economics/committee.hpp>
#include <tools/economics/constraints.hpp>
#include <tools/economics/lane.hpp>
#include <tools/economics/limits.hpp>
#include <tools/economics/model.hpp>
#include <tools/economics/odds.hpp>
#include <tools/economics/waiting.hpp>
#include <tools/economics/windows.hpp>

namespace assay::economics {
namespace {

constexpr double kBondsPerWithholding = 10.0;  // BCN-8: a tenth is lost
constexpr int kScalingRounds = 5;              // values are nearly in proportion to the training
constexpr double kBeforeStep = 0.999999;       // of the value from which on more is checked

/// Values at which tasks have most to gain: the limit, and before it where a little more would be checked more (PAR-3).
std::vector<double> dearest_values(const Parameters& p) {
    std::vector<double> out{to_asy(p.task_value_max)};
    const auto add_before_last_step = [&](Grains per, std::uint32_t least, std::uint32_t most) {
        const Grains steps = per == 0 ? 0 : std::min<Grains>(p.task_value_max / per, most - std::min(least, most));
        if (steps > 0) {
            out.push_back(kBeforeStep * to_asy(steps * per));
        }
    };
    add_before_last_step(p.value_per_check, p.segments_checked, p.segments_checked_max);
    add_before_last_step(p.value_per_verifier, p.verifiers_per_segment, p.verifiers_per_segment_max);
    return out;
}

/// A task of the same kind that is worth `value`: training and what is offered for it grow alike.
Setting make_setting_worth(double value, const Parameters& parameters, const Costs& costs, TaskCosts task) {
    for (int round = 0; round < kScalingRounds; ++round) {
        const double by = value / to_asy(make_setting(parameters, costs, task).value());
        task.segment_seconds *= by;
        task.reward = std::llround(static_cast<double>(task.reward) * by);
        task.fee = std::llround(static_cast<double>(task.fee) * by);
    }
    return make_setting(parameters, costs, task);
}

/// So that accomplices of a solver that skips do not withhold secrets until no draw tells.
double bond_for_draws(const Setting& setting, const Costs& costs) {
    const Model model(setting, costs);
    const double burned = 1.0 - static_cast<double>(setting.winner_bps) / 10'000.0;
    const double at_stake = to_asy(setting.net_reward()) + burned * to_asy(setting.solver_bond);
    const double falsely = model.conviction({.wrong = 0});
    double withholding = 0.0;
    for (const std::uint32_t skipped : skipped_counts(setting.segments)) {
        SolverPlan plan{.wrong = skipped, .detection = detection_of(costs, "skipped_segments")};
        const double saved = costs.safety * to_asy(setting.segment_cost) * skipped;
        for (plan.contributors = 1; plan.contributors <= costs.adversary.contributors; ++plan.contributors) {
            const double left = saved - (model.conviction(plan) - falsely) * at_stake;
            withholding = std::max(withholding, over(std::max(0.0, left), model.chosen_draw(plan).withheld));
        }
    }
    return kBondsPerWithholding * withholding;
}

/// So that its bound leaves of each jackpot what keeps watchers active.
double bond_for_watching(const Setting& setting, const Costs& costs) {
    return kBondsPerWithholding * setting.assignments * over(needed_win(setting, costs), setting.forced_rate);
}

}  // namespace

std::set<std::uint32_t> skipped_counts(std::uint32_t segments) {
    std::set<std::uint32_t> out{1, segments};
    for (std::uint32_t i = 1; i <= 40; ++i) {
        out.insert(std::max(1U, static_cast<std::uint32_t>(std::uint64_t{segments} * i / 40)));
    }
    return out;
}

double over(double amount, double by) { return by > 0.0 ? amount / by : amount > 0.0 ? kNever : 0.0; }

bool is_admitted(const Parameters& parameters, const Costs& costs, const TaskCosts& task) {
    return make_setting(parameters, costs, task).value() <= parameters.task_value_max;
}

ContributorBond contributor_bond_for(const Setting& setting, const Costs& costs) {
    return {bond_for_draws(setting, costs), bond_for_watching(setting, costs)};
}

ContributorBond contributor_bond_for(const Parameters& parameters, const Costs& costs, const TaskCosts& task) {
    ContributorBond out;
    for (const double value : dearest_values(parameters)) {
        const Setting setting = make_setting_worth(value, parameters, costs, task);
        const ContributorBond bond = contributor_bond_for(setting, costs);
        out = {std::max(out.draws, bond.draws), std::max(out.watching, bond.watching)};
    }
    return out;
}

double replay_blocks_needed(const Costs& costs, const TaskCosts& task) {
    return std::ceil(costs.replay_ratio * task.segment_seconds / costs.block_seconds);
}

double work_price_needed(const Costs& costs) {
    constexpr double kPricedWork = 1e9;
    constexpr double kHour = 3'600.0;
    return costs.compute_price / kHour / (costs.compute_speed / kPricedWork);
}

Grains draw_price_needed(const Costs& costs) { return costs.contribution_fee * contracts::Params{}.contributors_max; }

double contributor_bond_needed(const Parameters& parameters, const Costs& costs) {
    double needed = 0.0;
    for (const TaskCosts& task : costs.tasks) {
        if (is_admitted(parameters, costs, task)) {
            needed = std::max(needed, contributor_bond_for(parameters, costs, task).both());
        }
    }
    return needed;
}

}  // namespace assay::economics
