// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/solve.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <tools/economics/model.hpp>
#include <tools/economics/waiting.hpp>

namespace assay::economics {
namespace {

constexpr std::array<std::uint32_t, 12> kChecked = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32};
constexpr std::array<std::uint32_t, 3> kVerifiers = {1, 2, 3};
constexpr std::array<std::uint32_t, 3> kWatchers = {1, 2, 3};
constexpr std::array<std::uint32_t, 5> kForced = {100, 200, 500, 1'000, 2'000};
constexpr std::array<std::uint32_t, 4> kWinner = {2'500, 3'333, 5'000, 6'667};
constexpr std::uint32_t kTaxStep = 25;
constexpr std::uint32_t kMostTax = 5'000;
constexpr std::uint32_t kBondStep = 25;
constexpr std::uint32_t kMostBondBps = 1'000'000;
constexpr double kMostContributorBond = 1e9;     // ASY
constexpr std::uint32_t kMostAssignments = 256;  // PAR-1: with the evaluation

struct Need {
    Grains value = 0;
    double bond = 0.0;  ///< ASY
};

/// Rounded up to two digits: 0.0137 ASY becomes 0.014 ASY.
Grains rounded_up(double asy) {
    if (!(asy > 0.0)) {
        return 1;
    }
    const double unit = std::pow(10.0, std::floor(std::log10(asy)) - 1.0);
    return std::max<Grains>(1, std::llround(std::ceil(asy / unit - 1e-9) * unit * 1e9));
}

struct Bond {
    Grains least = 1;
    std::uint32_t bps = 0;
};

/// The least amount and share of the value that give every task the bond it needs, cheapest on average.
Bond fit(const std::vector<Need>& needs) {
    Bond best;
    double lowest = std::numeric_limits<double>::infinity();
    std::vector<Grains> leasts{1};
    for (const Need& need : needs) {
        if (std::isfinite(need.bond) && need.bond < 1e9) {
            leasts.push_back(rounded_up(need.bond));
        }
    }
    for (const Grains least : leasts) {
        double bps = 0.0;
        for (const Need& need : needs) {
            if (need.bond > to_asy(least)) {
                bps = std::max(bps, need.bond / to_asy(need.value) * 10'000.0);
            }
        }
        const double steps = std::ceil(std::min(bps, static_cast<double>(kMostBondBps)) / kBondStep);
        const Bond bond{least, static_cast<std::uint32_t>(steps) * kBondStep};
        double cost = 0.0;
        for (const Need& need : needs) {
            cost += std::max(to_asy(least) / to_asy(need.value), static_cast<double>(bond.bps) / 10'000.0);
        }
        if (cost < lowest) {
            lowest = cost;
            best = bond;
        }
    }
    return best;
}

std::vector<Need> needs_of(
    const std::vector<Constraint>& constraints, const std::string& parameter, const Parameters& p, const Costs& costs
) {
    std::vector<Need> out;
    for (const TaskCosts& task : costs.tasks) {
        Need need{.value = make_setting(p, costs, task).value()};
        for (const Constraint& constraint : constraints) {
            if (constraint.task == task.name && constraint.parameter == parameter) {
                need.bond = std::max(need.bond, constraint.need);
            }
        }
        out.push_back(need);
    }
    return out;
}

bool tax_suffices(const Parameters& p, const Costs& costs) {
    for (const TaskCosts& task : costs.tasks) {
        const Setting setting = make_setting(p, costs, task);
        if (!treasury_constraint(setting, costs).holds()) {
            return false;
        }
    }
    return true;
}

/// The least tax that sustains the treasury; it only helps, since open rewards and fees are kept after tax.
std::uint32_t least_tax(Parameters p, const Costs& costs) {
    std::uint32_t low = 0;
    std::uint32_t high = kMostTax / kTaxStep;
    while (low < high) {
        const std::uint32_t middle = (low + high) / 2;
        p.tax_bps = middle * kTaxStep;
        if (tax_suffices(p, costs)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low * kTaxStep;
}

std::uint32_t whole(double blocks) { return static_cast<std::uint32_t>(std::ceil(blocks)); }

/// The least that admits and protects each of `tasks`.
void protect(Parameters& p, const Costs& costs, const std::vector<TaskCosts>& tasks) {
    p.task_value_max = p.contributor_bond = 1;
    p.replay_blocks_max = 1;
    p.draw_price = draw_price_needed(costs);
    p.work_price = static_cast<Grains>(std::ceil(work_price_needed(costs)));
    for (const TaskCosts& task : tasks) {
        const double value = to_asy(make_setting(p, costs, task).value());
        p.task_value_max = std::max(p.task_value_max, rounded_up(value));
    }
    for (const TaskCosts& task : costs.tasks) {
        if (is_admitted(p, costs, task)) {
            const auto blocks = static_cast<std::uint32_t>(replay_blocks_needed(costs, task));
            p.replay_blocks_max = std::max(p.replay_blocks_max, blocks);
            p.draw_blocks = std::max(p.draw_blocks, whole(draw_blocks_needed(p, costs, task)));
        }
    }
    p.redraw_blocks = std::max(p.redraw_blocks, whole(redraw_blocks_needed(p)));
    p.decline_blocks = std::max(p.decline_blocks, whole(decline_blocks_needed(p)));
    const double bond = contributor_bond_needed(p, costs);
    if (bond < kMostContributorBond) {
        p.contributor_bond = rounded_up(bond);
    }
}

std::vector<Constraint> complete(Parameters& p, const Costs& costs) {
    p.tax_bps = least_tax(p, costs);
    p.solver_bond = p.verifier_bond = p.challenger_bond = 1;
    p.solver_bond_bps = p.verifier_bond_bps = p.challenger_bond_bps = 0;
    p.task_value_max = 0;  // the beacon comes last
    std::vector<Constraint> constraints = check(p, costs);
    const Bond solver = fit(needs_of(constraints, "solver_bond", p, costs));
    const Bond verifier = fit(needs_of(constraints, "verifier_bond", p, costs));
    p.solver_bond = solver.least;
    p.solver_bond_bps = solver.bps;
    p.verifier_bond = std::max(verifier.least, 10 * p.attest_fee * p.committee_seats);  // PAR-10
    p.verifier_bond_bps = verifier.bps;
    constraints = check(p, costs);
    const Bond challenger = fit(needs_of(constraints, "challenger_bond", p, costs));
    p.challenger_bond = challenger.least;
    p.challenger_bond_bps = challenger.bps;
    constraints = check(p, costs);
    for (const Constraint& constraint : constraints) {
        if (constraint.parameter == "dispute_extension_blocks") {
            p.dispute_extension_blocks =
                std::max(p.dispute_extension_blocks, static_cast<std::uint32_t>(std::ceil(constraint.need)));
        }
    }
    protect(p, costs, costs.tasks);
    return check(p, costs);
}

/// How many kinds of constraints fail: the same one for four tasks is one problem.
std::size_t failures(const std::vector<Constraint>& constraints) {
    std::set<std::string> names;
    for (const Constraint& constraint : constraints) {
        if (!constraint.holds()) {
            names.insert(constraint.name);
        }
    }
    return names.size();
}

/// All points to look at: counts that grow with the value as in `start`, and counts that do not grow.
std::vector<Parameters> grid(const Parameters& start, const Costs& costs) {
    std::vector<Parameters> out;
    const auto add = [&](Parameters p, std::uint32_t checked, std::uint32_t verifiers) {
        p.segments_checked = checked;
        p.verifiers_per_segment = verifiers;
        p.segments_checked_max = std::max(p.segments_checked_max, checked);
        p.verifiers_per_segment_max = std::max(p.verifiers_per_segment_max, verifiers);
        if ((p.segments_checked_max + 1) * p.verifiers_per_segment_max <= kMostAssignments) {
            out.push_back(p);
        }
        p.segments_checked_max = checked;
        p.verifiers_per_segment_max = verifiers;
        out.push_back(p);
    };
    for (const std::uint32_t watchers : kWatchers) {
        for (const std::uint32_t forced : kForced) {
            for (const std::uint32_t winner : kWinner) {
                Parameters p = start;
                p.watchers_per_verdict = watchers;
                p.forced_error_bps = forced;
                p.slash_to_winner_bps = winner;
                if (forced > costs.most_forced * 10'000.0) {
                    continue;
                }
                for (const std::uint32_t checked : kChecked) {
                    for (const std::uint32_t verifiers : kVerifiers) {
                        add(p, checked, verifiers);
                    }
                }
            }
        }
    }
    return out;
}

}  // namespace

double overhead(const Parameters& p, const Costs& costs) {
    double out = 0.0;
    for (const TaskCosts& task : costs.tasks) {
        const Setting s = make_setting(p, costs, task);
        const Model model(s, costs);
        const double bonds = to_asy(s.solver_bond) + s.assignments * to_asy(s.verifier_bond) +
                             model.probed_assignments() * s.watchers * to_asy(s.challenger_bond);
        // Of one contributor, which is enough: the bond that this task needs.
        const double contributor = contributor_bond_for(s, costs).both();
        const double forced = 1.0 - std::pow(1.0 - s.forced_rate, model.probed_assignments());
        const double delay = forced * costs.capital_price * (to_asy(s.value()) + bonds);
        out += (to_asy(s.fee + s.reward_tax) + costs.capital_price * (bonds + contributor) + delay) /
               to_asy(s.training_cost());
    }
    return costs.tasks.empty() ? 0.0 : out / static_cast<double>(costs.tasks.size());
}

std::vector<Refusal> refusals(const Parameters& parameters, const Costs& costs) {
    std::vector<Refusal> out;
    for (const TaskCosts& task : costs.tasks) {
        if (!is_admitted(parameters, costs, task)) {
            Parameters admitting = parameters;
            protect(admitting, costs, {task});
            out.push_back({task.name, make_setting(parameters, costs, task).value(), admitting});
        }
    }
    return out;
}

std::uint32_t least_segments(const Parameters& parameters, const Costs& costs, TaskCosts task) {
    const double seconds = task.segment_seconds * task.segments;
    std::uint32_t least = 0;
    for (std::uint32_t segments = task.segments; segments > 0; --segments) {
        task.segments = segments;
        task.segment_seconds = seconds / segments;
        const std::vector<Constraint> found = check(parameters, costs, task);
        if (!std::all_of(found.begin(), found.end(), [](const Constraint& c) { return c.holds(); })) {
            break;
        }
        least = segments;
    }
    return least;
}

std::vector<Binding> binding_of(const std::vector<Constraint>& constraints) {
    std::map<std::string, Constraint> nearest;
    for (const Constraint& constraint : constraints) {
        const auto [at, fresh] = nearest.try_emplace(constraint.parameter, constraint);
        if (!fresh && constraint.slack() < at->second.slack()) {
            at->second = constraint;
        }
    }
    std::vector<Binding> out;
    out.reserve(nearest.size());
    for (auto& [parameter, constraint] : nearest) {
        out.push_back({parameter, constraint});
    }
    return out;
}

Solution solve(const Parameters& start, const Costs& costs, const std::function<void(std::uint32_t)>& progress) {
    Solution best;
    std::size_t fewest = std::numeric_limits<std::size_t>::max();
    const std::vector<Parameters> points = grid(start, costs);
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (progress && i % 64 == 0) {
            progress(static_cast<std::uint32_t>(i * 100 / points.size()));
        }
        Parameters p = points[i];
        const std::vector<Constraint> constraints = complete(p, costs);
        const std::size_t failed = failures(constraints);
        best.feasible += failed == 0 ? 1U : 0U;
        const double cost = overhead(p, costs);
        if (failed < fewest || (failed == fewest && cost < best.overhead)) {
            fewest = failed;
            best.parameters = p;
            best.overhead = cost;
            best.constraints = constraints;
        }
    }
    best.candidates = static_cast<std::uint32_t>(points.size());
    best.found = fewest == 0;
    best.binding = binding_of(best.constraints);
    return best;
}

}  // namespace assay::economics
