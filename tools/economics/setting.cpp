// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/setting.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <tools/economics/odds.hpp>

namespace assay::economics {
namespace {

constexpr int kRounds = 8;  // for amounts and counts that follow from each other
constexpr double kMissedGame = 1e-6;
constexpr double kMostWin = 1e6;  // ASY: where no fee would do, constraints say so

Grains share_of(Grains amount, std::uint32_t bps) {
    __extension__ using Wide = __int128;
    return static_cast<Grains>(static_cast<Wide>(amount) * bps / 10'000);
}

/// VER-16: what a rare forced error has to pay to be worth the checks before it. Where no parameters will do, fees and
/// with them the jackpot grow beyond all money; it is bounded there.
Grains fair_jackpot(Grains share, std::uint32_t forced_error_bps) {
    __extension__ using Wide = __int128;
    constexpr Wide kMost = 1'000'000'000'000'000'000;
    return forced_error_bps == 0
               ? 0
               : static_cast<Grains>(std::min(static_cast<Wide>(share) * 10'000 / forced_error_bps, kMost));
}

Grains times(Grains amount, double factor) { return std::llround(static_cast<double>(amount) * factor); }

std::uint32_t grown(std::uint32_t least, Grains value, Grains per, std::uint32_t most) {
    const Grains more = per == 0 ? 0 : value / per;
    return static_cast<std::uint32_t>(std::min<Grains>(least + more, std::max(most, least)));
}

/// Before tax, such that `net` is left after it.
Grains gross(Grains net, std::uint32_t tax_bps) {
    const double kept = 1.0 - static_cast<double>(std::min(tax_bps, 9'999U)) / 10'000.0;
    return static_cast<Grains>(std::ceil(static_cast<double>(net) / kept));
}

void count(Setting& out, const Parameters& p) {
    out.checked =
        std::min(grown(p.segments_checked, out.value(), p.value_per_check, p.segments_checked_max), out.segments + 1);
    out.per_segment = grown(p.verifiers_per_segment, out.value(), p.value_per_verifier, p.verifiers_per_segment_max);
    out.assignments = out.checked * out.per_segment;
}

/// Where nothing converges bonds and rewards drive each other up: far above any that is paid, and so that their sums
/// are numbers.
constexpr Grains kMostBond = 10'000'000 * kGrainsPerAsy;

void bond(Setting& out, const Parameters& p) {
    const auto bond_of = [&](Grains least, std::uint32_t bps) {
        return std::min(kMostBond, std::max(least, share_of(out.value(), bps)));
    };
    out.solver_bond = bond_of(p.solver_bond, p.solver_bond_bps);
    out.verifier_bond = bond_of(p.verifier_bond, p.verifier_bond_bps);
    out.challenger_bond = bond_of(p.challenger_bond, p.challenger_bond_bps);
}

/// What a task pays where it leaves that open: costs and the margin, and for the fee also what a watch must win.
void pay(Setting& out, const Parameters& p, const Costs& costs, const TaskCosts& task) {
    const double with_margin = 1.0 + costs.margin;
    const Grains solver = out.training_cost() + out.transaction_fee * out.solver_transactions +
                          times(out.solver_bond, costs.capital_price);
    out.reward = task.reward != 0 ? task.reward : gross(times(solver, with_margin), p.tax_bps);
    const Grains verifier = out.verify_cost + 3 * out.transaction_fee +
                            times(out.verifier_bond + out.per_segment * out.challenger_bond, costs.capital_price);
    const Grains verifiers = gross((times(verifier, with_margin) + 1) * out.assignments, p.tax_bps);
    // Jackpots follow the fee before tax.
    const double watch = std::min(needed_win(out, costs), kMostWin);
    const Grains watchers = (std::llround(std::ceil(watch * 1e9)) + 1) * out.assignments;
    out.fee = task.fee != 0 ? task.fee : std::max(verifiers, watchers);
}

}  // namespace

double missed_clock(const Costs& costs, std::uint32_t extension_blocks) {
    if (extension_blocks <= costs.response_blocks) {
        return 1.0;
    }
    const double move = std::pow(costs.inclusion_failure, extension_blocks - costs.response_blocks);
    return -std::expm1(costs.dispute_moves * std::log1p(-std::min(move, 1.0 - 1e-15)));
}

double blocks_to_answer(const Costs& costs, std::uint32_t answers) {
    const double missed = kMissedGame / answers;
    const double blocks =
        costs.inclusion_failure > 0.0 ? std::ceil(std::log(missed) / std::log(costs.inclusion_failure)) : 1.0;
    return costs.response_blocks + std::max(1.0, blocks);
}

double nobody_else(const Costs& costs, std::uint32_t watchers) {
    const Adversary& a = costs.adversary;
    if (watchers <= 1 || a.watchers <= 1) {
        return 1.0;
    }
    return probability_of_none(
        {a.watchers - 1, a.watchers - 1 - std::min(a.idle_watchers, a.watchers - 1), watchers - 1}
    );
}

double shared_with_others(const Costs& costs, std::uint32_t watchers) {
    const Adversary& a = costs.adversary;
    double out = 0.0;
    const std::uint32_t active = a.watchers - 1 - std::min(a.idle_watchers, a.watchers - 1);
    for (std::uint32_t others = 0; others < std::max(watchers, 1U); ++others) {
        out += probability_of({a.watchers - 1, active, watchers - 1}, others) * std::pow(0.5, others);
    }
    return out;
}

double needed_win(const Setting& setting, const Costs& costs) {
    if (setting.watchers == 0) {
        return 0.0;
    }
    return costs.safety * setting.mean_watch_cost() / shared_with_others(costs, setting.watchers);
}

Setting make_setting(const Parameters& p, const Costs& costs, const TaskCosts& task) {
    Setting out;
    out.segments = task.segments;
    out.watchers = p.watchers_per_verdict;
    out.transaction_fee = costs.transaction_fee;
    out.submission_fee = costs.submission_fees;
    out.challenge_fee = costs.dispute_fees;
    out.solver_transactions = task.segments + 3;  // accept, checkpoints 0 .. N, complete
    out.segment_cost = std::llround(costs.compute_price * task.segment_seconds / 3'600.0);
    out.fetch_cost = times(out.segment_cost, costs.fetch_share);
    out.verify_cost = out.fetch_cost + times(out.segment_cost, costs.replay_ratio);
    out.dispute_cost = costs.dispute_fees + times(out.segment_cost, costs.replay_ratio * costs.dispute_replays);
    out.forced_rate = static_cast<double>(p.forced_error_bps) / 10'000.0;
    out.winner_bps = p.slash_to_winner_bps;
    out.extension_blocks = p.dispute_extension_blocks;
    out.withholding = p.contributor_bond / 10;
    const double missed = missed_clock(costs, p.dispute_extension_blocks);
    out.dispute_failure = 1.0 - (1.0 - costs.responder_failure) * (1.0 - missed);
    out.checked = std::min(p.segments_checked, task.segments + 1);
    out.per_segment = p.verifiers_per_segment;
    out.assignments = out.checked * out.per_segment;
    for (int i = 0; i < kRounds; ++i) {
        pay(out, p, costs, task);
        count(out, p);
        bond(out, p);
    }
    out.reward_tax = share_of(out.reward, p.tax_bps);
    out.fee_tax = share_of(out.fee, p.tax_bps);
    out.fee_share = (out.fee - out.fee_tax) / out.assignments;
    out.jackpot = fair_jackpot(out.fee / out.assignments, p.forced_error_bps);
    if (out.value() <= p.task_value_max) {
        // Where the task is refused, another genesis would have to have another bond.
        out.jackpot = std::min(out.jackpot, out.withholding / out.assignments);
    }
    return out;
}

}  // namespace assay::economics
