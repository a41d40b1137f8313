// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/report.hpp>

#include <cmath>
#include <set>

#include <tools/economics/model.hpp>
#include <tools/economics/unnamed.hpp>

namespace assay::economics {
namespace {

using nlohmann::json;

std::string grains(Grains amount) { return std::to_string(amount); }

/// JSON has no infinity.
json finite(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json optional(const std::optional<double>& value) { return value ? json(*value) : json(nullptr); }

json to_json(const AttackResult& attack) {
    return {
        {"name", attack.name},
        {"role", attack.role},
        {"what", attack.what},
        {"runs", attack.runs},
        {"expected_gain", attack.gain},
        {"expected_gain_error", attack.gain_error},
        {"formula_gain", attack.model_gain},
        {"detection", optional(attack.detection)},
        {"detection_error", attack.detection_error},
        {"formula_detection", optional(attack.model_detection)},
        {"deterred", attack.deterred()}};
}

json to_json(const PopulationResult& population) {
    json strategies = json::array();
    for (const Wealth& wealth : population.wealth) {
        strategies.push_back(
            {{"role", to_string(wealth.role)},
             {"strategy", to_string(wealth.strategy)},
             {"accounts", wealth.accounts},
             {"ruined", wealth.ruined},
             {"wealth", wealth.change}}
        );
    }
    return {
        {"name", population.name},
        {"what", population.what},
        {"tasks", population.tasks},
        {"wrong", population.wrong},
        {"convicted", population.convicted},
        {"convicted_honest", population.convicted_honest},
        {"forced", population.forced},
        {"jackpots", population.jackpots},
        {"paid_in_jackpots", population.paid_in_jackpots},
        {"burned", population.burned},
        {"sampled", population.sampled},
        {"treasury", population.treasury},
        {"strategies", std::move(strategies)}};
}

json to_json(const Work& work) {
    return {
        {"task", work.task},
        {"segments", work.segments},
        {"verifier", work.verifier},
        {"verification", work.verification},
        {"watching", work.watching}};
}

json to_json(const Skipping& skipping) {
    return {
        {"skipped", skipping.skipped},
        {"share", skipping.share},
        {"detection", skipping.detection},
        {"gain", skipping.gain}};
}

json to_json(const Liability& liability) {
    return {{"row", liability.row},   {"meaning", liability.meaning},       {"cost", liability.cost},
            {"harm", liability.harm}, {"ratio", finite(liability.ratio())}, {"alone", finite(liability.ratio_alone())}};
}

json to_json(const Unnamed& unnamed) { return {{"parameter", unnamed.parameter}, {"reason", unnamed.reason}}; }

json to_json(const Voluntary& voluntary) {
    return {{"who", voluntary.who}, {"what", voluntary.what}, {"fee", voluntary.fee}};
}

json to_json(const Refusal& refusal) {
    return {
        {"task", refusal.task},
        {"value", grains(refusal.value)},
        {"admitted_by",
         {{"task_value_max", grains(refusal.admitting.task_value_max)},
          {"contributor_bond", grains(refusal.admitting.contributor_bond)},
          {"replay_blocks_max", refusal.admitting.replay_blocks_max},
          {"draw_blocks", refusal.admitting.draw_blocks},
          {"redraw_blocks", refusal.admitting.redraw_blocks},
          {"decline_blocks", refusal.admitting.decline_blocks}}}};
}

template <class T>
json list(const std::vector<T>& items) {
    json out = json::array();
    for (const T& item : items) {
        out.push_back(to_json(item));
    }
    return out;
}

json to_json(const Setting& setting) {
    return {
        {"segments", setting.segments},
        {"segments_checked", setting.checked},
        {"assignments", setting.assignments},
        {"reward", grains(setting.reward)},
        {"verification_fee", grains(setting.fee)},
        {"fee_share", grains(setting.fee_share)},
        {"jackpot", grains(setting.jackpot)},
        {"solver_bond", grains(setting.solver_bond)},
        {"verifier_bond", grains(setting.verifier_bond)},
        {"challenger_bond", grains(setting.challenger_bond)},
        {"withholding", grains(setting.withholding)},
        {"training_cost", grains(setting.training_cost())}};
}

}  // namespace

std::vector<Work> work_of(const Parameters& parameters, const Costs& costs) {
    std::vector<Work> out;
    for (const TaskCosts& task : costs.tasks) {
        const Setting s = make_setting(parameters, costs, task);
        const double training = to_asy(s.training_cost());
        const double verifier = (to_asy(s.verify_cost) + 3.0 * to_asy(s.transaction_fee)) / training;
        const double watches = Model(s, costs).probed_assignments() * s.watchers;
        out.push_back(
            {task.name, task.segments, verifier, verifier * s.assignments, watches * s.mean_watch_cost() / training}
        );
    }
    return out;
}

std::vector<Skipping> skipping_of(const Setting& setting, const Costs& costs) {
    const Model model(setting, costs);
    std::set<std::uint32_t> counts{1};
    for (const double share : {0.05, 0.1, 0.25, 0.5, 1.0}) {
        counts.insert(static_cast<std::uint32_t>(std::ceil(share * setting.segments)));
    }
    std::vector<Skipping> out;
    for (const std::uint32_t skipped : counts) {
        const Expectation expected = model.solver(
            {.wrong = skipped,
             .cost = to_asy(setting.segment_cost) * (setting.segments - skipped),
             .detection = detection_of(costs, "skipped_segments"),
             .self_challenge = true}
        );
        out.push_back({skipped, static_cast<double>(skipped) / setting.segments, expected.detection, expected.gain});
    }
    return out;
}

Griefing griefing_of(const Setting& setting) {
    const double cost = to_asy(setting.dispute_cost);
    return {
        .attacker_loss = to_asy(setting.challenger_bond + setting.transaction_fee),
        .defender_cost = cost,
        .defender_gain = to_asy(setting.winners_share(setting.challenger_bond)) - cost};
}

json to_json(const Parameters& p) {
    return {
        {"solver_bond", grains(p.solver_bond)},
        {"verifier_bond", grains(p.verifier_bond)},
        {"challenger_bond", grains(p.challenger_bond)},
        {"solver_bond_bps", p.solver_bond_bps},
        {"verifier_bond_bps", p.verifier_bond_bps},
        {"challenger_bond_bps", p.challenger_bond_bps},
        {"segments_checked", p.segments_checked},
        {"verifiers_per_segment", p.verifiers_per_segment},
        {"value_per_check", grains(p.value_per_check)},
        {"value_per_verifier", grains(p.value_per_verifier)},
        {"segments_checked_max", p.segments_checked_max},
        {"verifiers_per_segment_max", p.verifiers_per_segment_max},
        {"watchers_per_verdict", p.watchers_per_verdict},
        {"forced_error_bps", p.forced_error_bps},
        {"tax_bps", p.tax_bps},
        {"slash_to_winner_bps", p.slash_to_winner_bps},
        {"dispute_extension_blocks", p.dispute_extension_blocks},
        {"contributor_bond", grains(p.contributor_bond)},
        {"task_value_max", grains(p.task_value_max)},
        {"draw_price", grains(p.draw_price)},
        {"committee_seats", p.committee_seats},
        {"attest_fee", grains(p.attest_fee)},
        {"work_price", grains(p.work_price)},
        {"replay_blocks_max", p.replay_blocks_max},
        {"deadline_slash_bps", p.deadline_slash_bps},
        {"draws_max", p.draws_max},
        {"redraws_max", p.redraws_max},
        {"room_price", grains(p.room_price)},
        {"retention_price", grains(p.retention_price)},
        {"attest_blocks", p.attest_blocks},
        {"block_ms", p.block_ms},
        {"decline_blocks", p.decline_blocks},
        {"draw_blocks", p.draw_blocks},
        {"redraw_blocks", p.redraw_blocks},
        {"accept_blocks", p.accept_blocks},
        {"commit_blocks", p.commit_blocks},
        {"publish_blocks", p.publish_blocks},
        {"challenge_blocks", p.challenge_blocks},
        {"disclose_blocks", p.disclose_blocks},
        {"dispute_clock_blocks", p.dispute_clock_blocks},
        {"contribute_blocks", p.contribute_blocks},
        {"gas_price_min", grains(p.gas_price_min)},
        {"block_gas_max", p.block_gas_max},
        {"end_block_gas_max", p.end_block_gas_max},
        {"memory_default", p.memory_default},
        {"duty_gas_max", p.duty_gas_max},
        {"duty_wait_blocks", p.duty_wait_blocks},
        {"standstill_blocks", p.standstill_blocks}};
}

json to_json(const Constraint& constraint) {
    return {
        {"name", constraint.name},
        {"role", constraint.role},
        {"parameter", constraint.parameter},
        {"task", constraint.task},
        {"have", finite(constraint.have)},
        {"need", finite(constraint.need)},
        {"unit", constraint.unit},
        {"slack", finite(constraint.slack())},
        {"holds", constraint.holds()},
        {"meaning", constraint.meaning},
        {"help", constraint.help}};
}

json to_json(const Report& report) {
    json binding = json::array();
    for (const Binding& bound : report.binding) {
        binding.push_back({{"parameter", bound.parameter}, {"constraint", to_json(bound.constraint)}});
    }
    return {
        {"parameters", to_json(report.parameters)},
        {"solved", report.solved},
        {"overhead", report.overhead},
        {"candidates", report.candidates},
        {"feasible", report.feasible},
        {"binding", std::move(binding)},
        {"unnamed", list(unnamed_parameters())},
        {"constraints", list(report.constraints)},
        {"refused", list(report.refused)},
        {"chain_defaults",
         {{"parameters", to_json(chain_defaults())},
          {"failing", list(report.chain_failures)},
          {"refused", list(report.chain_refused)}}},
        {"work", list(report.work)},
        {"task", report.task},
        {"setting", to_json(report.setting)},
        {"skipping", list(report.skipping)},
        {"griefing",
         {{"attacker_loss", report.griefing.attacker_loss},
          {"defender_cost", report.griefing.defender_cost},
          {"defender_gain", report.griefing.defender_gain}}},
        {"liability", list(report.liability)},
        {"voluntary", list(report.voluntary)},
        {"least_segments", report.least_segments},
        {"treasury_start", finite(report.treasury_start)},
        {"attacks", list(report.attacks)},
        {"populations", list(report.populations)},
        {"seed", report.seed}};
}

}  // namespace assay::economics
