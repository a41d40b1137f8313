// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/economics/economics_command.hpp>

#include <cmath>

#include <core/base/amount.hpp>
#include <tools/cli/common/table.hpp>
#include <tools/economics/number.hpp>

namespace assay::cli {
namespace {

using economics::Constraint;
using economics::fixed;
using economics::Grains;
using economics::Parameters;
using economics::Report;
using economics::significant;

std::string asy(Grains amount) { return to_text(Amount{static_cast<std::uint64_t>(amount)}); }

std::string quantity(double value, const std::string& unit) {
    if (!std::isfinite(value)) {
        return "out of reach";
    }
    return significant(value, 4) + (unit.empty() ? "" : " " + unit);
}

std::string percent(double share) { return fixed(100.0 * share, 2) + " %"; }

std::string bond(Grains least, std::uint32_t bps) {
    return percent(bps / 10'000.0) + " of the value (" + std::to_string(bps) + " bps), at least " + asy(least);
}

std::string grown(std::uint32_t least, Grains per, std::uint32_t most) {
    if (per == 0 || most <= least) {
        return std::to_string(least) + ", whatever the value";
    }
    return std::to_string(least) + ", and one more per " + asy(per) + " of the value, up to " + std::to_string(most);
}

std::string parameters_text(const Parameters& p) {
    Facts facts;
    facts.add("solver_bond", bond(p.solver_bond, p.solver_bond_bps));
    facts.add("verifier_bond", bond(p.verifier_bond, p.verifier_bond_bps));
    facts.add("challenger_bond", bond(p.challenger_bond, p.challenger_bond_bps));
    facts.add("segments_checked", grown(p.segments_checked, p.value_per_check, p.segments_checked_max));
    facts.add(
        "verifiers_per_segment", grown(p.verifiers_per_segment, p.value_per_verifier, p.verifiers_per_segment_max)
    );
    facts.add("watchers_per_verdict", std::to_string(p.watchers_per_verdict));
    facts.add("forced_error_bps", std::to_string(p.forced_error_bps));
    facts.add("tax_bps", std::to_string(p.tax_bps));
    facts.add("slash_to_winner_bps", std::to_string(p.slash_to_winner_bps));
    facts.add("dispute_extension_blocks", std::to_string(p.dispute_extension_blocks));
    facts.add("contributor_bond", asy(p.contributor_bond));
    facts.add("task_value_max", asy(p.task_value_max));
    facts.add("draw_price", asy(p.draw_price));
    facts.add("committee_seats", std::to_string(p.committee_seats));
    facts.add("attest_fee", asy(p.attest_fee));
    facts.add("work_price", asy(p.work_price) + " for 10^9 multiply-adds");
    facts.add("replay_blocks_max", std::to_string(p.replay_blocks_max));
    facts.add("deadline_slash_bps", std::to_string(p.deadline_slash_bps));
    facts.add("draws_max", std::to_string(p.draws_max));
    facts.add("redraws_max", std::to_string(p.redraws_max));
    facts.add("room_price", std::to_string(p.room_price) + " grains for a byte and 1,000 blocks");
    facts.add("retention_price", std::to_string(p.retention_price) + " grains for 2^30 bytes and 1,000 blocks");
    facts.add("attest_blocks", std::to_string(p.attest_blocks));
    facts.add("block_ms", std::to_string(p.block_ms));
    facts.add("decline_blocks", std::to_string(p.decline_blocks));
    facts.add("draw_blocks", std::to_string(p.draw_blocks));
    facts.add("redraw_blocks", std::to_string(p.redraw_blocks));
    facts.add("accept_blocks", std::to_string(p.accept_blocks));
    facts.add("commit_blocks", std::to_string(p.commit_blocks));
    facts.add("publish_blocks", std::to_string(p.publish_blocks));
    facts.add("challenge_blocks", std::to_string(p.challenge_blocks));
    facts.add("disclose_blocks", std::to_string(p.disclose_blocks));
    facts.add("dispute_clock_blocks", std::to_string(p.dispute_clock_blocks));
    facts.add("contribute_blocks", std::to_string(p.contribute_blocks));
    facts.add("gas_price_min", std::to_string(p.gas_price_min) + " grains");
    facts.add("block_gas_max", std::to_string(p.block_gas_max));
    facts.add("end_block_gas_max", std::to_string(p.end_block_gas_max));
    facts.add("memory_default", std::to_string(p.memory_default) + " bytes");
    facts.add("duty_gas_max", std::to_string(p.duty_gas_max) + " gas");
    facts.add("duty_wait_blocks", std::to_string(p.duty_wait_blocks) + " blocks");
    facts.add("standstill_blocks", std::to_string(p.standstill_blocks) + " blocks");
    return facts.text();
}

std::string binding_text(const Report& report) {
    Table table({"parameter", "stands on", "for task", "has>", "needs>", "because"});
    for (const economics::Binding& bound : report.binding) {
        const Constraint& c = bound.constraint;
        table.add({bound.parameter, c.name, c.task, quantity(c.have, c.unit), quantity(c.need, c.unit), c.meaning});
    }
    return table.text();
}

std::string failures_text(const std::vector<Constraint>& constraints) {
    Table table({"fails", "for task", "has>", "needs>", "what would help"});
    for (const Constraint& c : constraints) {
        if (!c.holds()) {
            table.add({c.name, c.task, quantity(c.have, c.unit), quantity(c.need, c.unit), c.help});
        }
    }
    return table.empty() ? "" : table.text();
}

std::string refusals_text(const std::vector<economics::Refusal>& refusals) {
    Table table({"refuses", "of value>", "admitted with task_value_max>", "and contributor_bond>"});
    for (const economics::Refusal& refusal : refusals) {
        table.add(
            {refusal.task, quantity(economics::to_asy(refusal.value), "ASY"), asy(refusal.admitting.task_value_max),
             asy(refusal.admitting.contributor_bond)}
        );
    }
    return table.empty() ? "" : table.text();
}

std::string work_text(const Report& report) {
    Table table({"task", "segments>", "one verifier>", "all verifiers>", "watchers>"});
    for (const economics::Work& work : report.work) {
        table.add(
            {work.task, std::to_string(work.segments), percent(work.verifier), percent(work.verification),
             percent(work.watching)}
        );
    }
    return table.text();
}

std::string skipping_text(const Report& report) {
    Table table({"segments skipped>", "of the work>", "found out>", "gain, ASY>"});
    for (const economics::Skipping& skipping : report.skipping) {
        table.add(
            {std::to_string(skipping.skipped), percent(skipping.share), percent(skipping.detection),
             fixed(skipping.gain, 4)}
        );
    }
    const economics::Griefing& g = report.griefing;
    return table.text() + "A needless dispute costs its challenger " + quantity(g.attacker_loss, "ASY") +
           " and the solver " + quantity(g.defender_cost, "ASY") + " (a ratio of " +
           significant(g.attacker_loss / g.defender_cost, 3) + "), for which the solver gets " +
           quantity(g.defender_gain + g.defender_cost, "ASY") + ".\n";
}

std::string liability_text(const Report& report) {
    Table table({"way to lose", "costs, ASY>", "harms, ASY>", "ratio>", "of one account>"});
    const auto shown = [](double ratio) { return std::isfinite(ratio) ? significant(ratio, 3) : "open"; };
    for (const economics::Liability& row : report.liability) {
        table.add({row.row, fixed(row.cost, 4), fixed(row.harm, 4), shown(row.ratio()), shown(row.ratio_alone())});
    }
    return table.text();
}

std::string rate(const std::optional<double>& value) { return value ? percent(*value) : "-"; }

std::string attacks_text(const Report& report) {
    Table table({"attack", "by", "gain, ASY>", "error>", "formula>", "found out>", "formula>", ""});
    for (const economics::AttackResult& a : report.attacks) {
        table.add(
            {a.name, a.role, fixed(a.gain, 4), fixed(a.gain_error, 4), fixed(a.model_gain, 4), rate(a.detection),
             rate(a.model_detection), a.deterred() ? "does not pay" : "PAYS"}
        );
    }
    return table.text();
}

std::string population_text(const economics::PopulationResult& population) {
    std::string out = population.name + ": " + population.what + "\n";
    out += "  " + std::to_string(population.tasks) + " tasks, " + std::to_string(population.wrong) +
           " of them cheated, " + std::to_string(population.convicted) + " convicted (" +
           std::to_string(population.convicted_honest) + " by their own outage); " +
           std::to_string(population.jackpots) + " jackpots of " + fixed(population.paid_in_jackpots, 2) +
           " ASY; treasury " + fixed(population.treasury.back(), 2) + " ASY, burned " + fixed(population.burned, 2) +
           " ASY\n";
    Table table({"role", "strategy", "accounts>", "ruined>", "ASY each>"});
    for (const economics::Wealth& wealth : population.wealth) {
        table.add(
            {to_string(wealth.role), to_string(wealth.strategy), std::to_string(wealth.accounts),
             std::to_string(wealth.ruined), fixed(wealth.change.back(), 3)}
        );
    }
    return out + table.text() + "\n";
}

/// What the chain's own parameters do for the same tasks.
std::string chain_text(const Report& report) {
    const std::string failures = failures_text(report.chain_failures);
    const std::string refused = refusals_text(report.chain_refused);
    std::string out = failures.empty() ? "The chain's defaults satisfy all constraints too.\n\n"
                                       : "What the chain's defaults fail\n" + failures + "\n";
    if (!refused.empty()) {
        out += "Tasks that the chain's defaults refuse\n" + refused + "\n";
    }
    return out;
}

}  // namespace

std::string to_text(const Report& report) {
    std::string out = report.solved ? "Cheapest parameters under which honesty is every role's best reply\n"
                                    : "The parameters as given\n";
    out += parameters_text(report.parameters);
    if (report.solved) {
        out += std::to_string(report.feasible) + " of " + std::to_string(report.candidates) +
               " candidates satisfy all constraints. ";
    }
    out += "Tax, fees and capital come to " + percent(report.overhead) + " of the training.\n\nWhat they stand on\n" +
           binding_text(report) + "\n";
    if (const std::string failures = failures_text(report.constraints); !failures.empty()) {
        out += "What does not hold\n" + failures + "\n";
    }
    if (const std::string refused = refusals_text(report.refused); !refused.empty()) {
        out += "Tasks that the chain refuses, as they are worth more than task_value_max\n" + refused + "\n";
    }
    if (report.solved) {
        out += chain_text(report);
    }
    out += "Work over training\n" + work_text(report);
    for (const economics::Work& work : report.work) {
        if (work.segments == 100) {
            out += "One verifier's work for 100 checkpoints is " +
                   std::string(work.verifier < economics::kMostVerifierWork ? "below" : "NOT below") + " 1.1 %.\n";
            break;
        }
    }
    out += report.least_segments == 0
               ? "Task \"" + report.task + "\" does not satisfy the constraints.\n"
               : "Task \"" + report.task + "\" could be cut into " + std::to_string(report.least_segments) +
                     " segments; with fewer, verification costs more than these parameters collect.\n";
    out += "Its watchers are paid from the first block on if the treasury starts with " +
           quantity(report.treasury_start, "ASY") + ".\n";
    out += "\nA solver that skips segments of task \"" + report.task + "\"\n" + skipping_text(report);
    out += "\nWhat an attack on honest parties to task \"" + report.task + "\" costs its author, and them\n" +
           liability_text(report);
    if (!report.attacks.empty()) {
        out += "\nAttacks on task \"" + report.task + "\", over honest play of the same seat, " +
               std::to_string(report.attacks.front().runs) + " runs each\n" + attacks_text(report);
    }
    for (const economics::PopulationResult& population : report.populations) {
        out += "\n" + population_text(population);
    }
    return out;
}

}  // namespace assay::cli
