// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/economics/economics_command.hpp>

#include <algorithm>

#include <contracts/governance/params_rules.hpp>
#include <verifier/taskdir/task_file.hpp>
#include <verifier/taskdir/toml_section.hpp>

namespace assay::cli {
namespace {

using economics::Costs;
using economics::Grains;
using economics::Parameters;

constexpr taskdir::TomlSection::Range kRate{.min = 0.0, .max = 1.0};
constexpr taskdir::TomlSection::Range kBelowOne{.min = 0.0, .max = 1.0, .below = true};
constexpr taskdir::TomlSection::Range kPositive{.min = 0.0, .max = 1e6, .above = true};
constexpr std::uint64_t kMostGrains = 1'000'000'000'000'000'000;  // leaves room for sums
constexpr std::uint32_t kMostAccounts = 100'000;
constexpr std::uint32_t kMostGas = 4'294'967'295;
constexpr std::uint64_t kOneByte = 1;
constexpr std::uint64_t kMostMemory = 1ULL << 62U;

void read_amount(const taskdir::TomlSection& section, const std::string& key, Grains& out) {
    if (!section.has(key)) {
        return;
    }
    const Amount amount = section.amount(key);
    if (amount.grains > kMostGrains) {
        section.fail(key, "must be at most 1000000000 ASY");
        return;
    }
    out = static_cast<Grains>(amount.grains);
}

void read_root(const taskdir::TomlSection& root, Costs& out) {
    root.allow(
        {"safety", "margin", "least_detection", "most_forced", "mode", "prices", "world", "adversary", "rates",
         "parameters", "task"}
    );
    root.read("safety", {.min = 1.0, .max = 1e3}, out.safety);
    root.read("margin", {.min = 0.0, .max = 10.0}, out.margin);
    root.read("least_detection", kRate, out.least_detection);
    root.read("most_forced", kRate, out.most_forced);
    const std::string mode = root.choice_or("mode", {"exact", "tolerance"}, "exact");
    out.mode = mode == "exact" ? economics::Mode::kExact : economics::Mode::kTolerance;
}

void read_prices(const taskdir::TomlSection& section, Costs& out) {
    section.allow(
        {"compute_hour", "compute_speed", "replay_ratio", "fetch_share", "transaction", "dispute", "submission",
         "dispute_replays", "contribution", "attestation", "capital", "disk", "bytes_stored"}
    );
    Grains hour = static_cast<Grains>(out.compute_price);
    read_amount(section, "compute_hour", hour);
    out.compute_price = static_cast<double>(hour);
    if (hour == 0) {
        section.fail("compute_hour", "must be above 0");
    }
    section.read("compute_speed", {.min = 0.0, .max = 1e18, .above = true}, out.compute_speed);
    section.read("replay_ratio", kPositive, out.replay_ratio);
    section.read("fetch_share", {.min = 0.0, .max = 1e3}, out.fetch_share);
    read_amount(section, "transaction", out.transaction_fee);
    read_amount(section, "dispute", out.dispute_fees);
    read_amount(section, "submission", out.submission_fees);
    section.read("dispute_replays", {.min = 0.0, .max = 1e3}, out.dispute_replays);
    read_amount(section, "attestation", out.attestation_fees);
    read_amount(section, "contribution", out.contribution_fee);
    section.read("capital", kBelowOne, out.capital_price);
    Grains disk = static_cast<Grains>(out.disk_price);
    read_amount(section, "disk", disk);
    out.disk_price = static_cast<double>(disk);
    section.read("bytes_stored", {.min = 1.0, .max = 1e3}, out.bytes_stored);
}

void read_world(const taskdir::TomlSection& section, Costs& out) {
    section.allow(
        {"responder_failure", "inclusion_failure", "response_blocks", "dispute_moves", "block_seconds", "validators",
         "stakers", "tasks_at_once", "gas_micros", "program_memory", "machine_memory"}
    );
    section.read("responder_failure", kBelowOne, out.responder_failure);
    section.read("inclusion_failure", kBelowOne, out.inclusion_failure);
    section.read("response_blocks", 0U, 1U << 20U, out.response_blocks);
    section.read("block_seconds", kPositive, out.block_seconds);
    section.read("dispute_moves", 1U, 1U << 10U, out.dispute_moves);
    section.read("validators", 1U, kMostAccounts, out.validators);
    section.read("stakers", 1U, kMostAccounts, out.stakers);
    section.read("tasks_at_once", 1U, kMostAccounts, out.tasks_at_once);
    section.read("gas_micros", kPositive, out.gas_micros);
    section.read("program_memory", kOneByte, kMostMemory, out.program_memory);
    section.read("machine_memory", kOneByte, kMostMemory, out.machine_memory);
}

void read_adversary(const taskdir::TomlSection& section, economics::Adversary& out) {
    section.allow(
        {"verifiers", "coalition_verifiers", "careless_verifiers", "watchers", "coalition_watchers", "idle_watchers",
         "contributors"}
    );
    section.read("verifiers", 1U, kMostAccounts, out.verifiers);
    section.read("coalition_verifiers", 0U, kMostAccounts, out.coalition_verifiers);
    section.read("careless_verifiers", 0U, kMostAccounts, out.careless_verifiers);
    section.read("watchers", 1U, kMostAccounts, out.watchers);
    section.read("coalition_watchers", 0U, kMostAccounts, out.coalition_watchers);
    section.read("idle_watchers", 0U, kMostAccounts, out.idle_watchers);
    section.read("contributors", 0U, 16U, out.contributors);
    if (out.coalition_verifiers + out.careless_verifiers > out.verifiers) {
        section.fail("verifiers", "must be at least coalition_verifiers and careless_verifiers together");
    }
    if (out.coalition_watchers + out.idle_watchers > out.watchers) {
        section.fail("watchers", "must be at least coalition_watchers and idle_watchers together");
    }
}

void read_rates(const taskdir::TomlSection& section, Costs& out) {
    section.allow(
        {"false_rejection", "interpolation", "synthetic_data", "seed_grinding", "drift", "skipped_segments",
         "stolen_checkpoints"}
    );
    section.read("false_rejection", kBelowOne, out.false_rejection);
    for (const std::string& attack : economics::rated_attacks()) {
        if (section.has(attack)) {
            section.read(attack, kRate, out.detection[attack]);
        } else if (out.mode == economics::Mode::kTolerance) {
            section.fail(attack, "is missing: in tolerance mode the measured rate is needed");
        }
    }
    if (out.mode == economics::Mode::kExact && (out.false_rejection > 0.0 || !out.detection.empty())) {
        section.fail("", "rates are for mode = \"tolerance\": an exact replay always tells");
    }
}

/// All that read_parameters reads.
void allow_parameters(const taskdir::TomlSection& section) {
    section.allow(
        {"solver_bond",
         "verifier_bond",
         "challenger_bond",
         "solver_bond_bps",
         "verifier_bond_bps",
         "challenger_bond_bps",
         "segments_checked",
         "verifiers_per_segment",
         "value_per_check",
         "value_per_verifier",
         "segments_checked_max",
         "verifiers_per_segment_max",
         "watchers_per_verdict",
         "forced_error_bps",
         "tax_bps",
         "slash_to_winner_bps",
         "dispute_extension_blocks",
         "contributor_bond",
         "task_value_max",
         "draw_price",
         "committee_seats",
         "attest_fee",
         "work_price",
         "replay_blocks_max",
         "deadline_slash_bps",
         "draws_max",
         "redraws_max",
         "room_price",
         "retention_price",
         "attest_blocks",
         "block_ms",
         "decline_blocks",
         "draw_blocks",
         "redraw_blocks",
         "accept_blocks",
         "commit_blocks",
         "publish_blocks",
         "challenge_blocks",
         "disclose_blocks",
         "dispute_clock_blocks",
         "contribute_blocks",
         "gas_price_min",
         "block_gas_max",
         "end_block_gas_max",
         "memory_default",
         "duty_gas_max",
         "duty_wait_blocks",
         "standstill_blocks"}
    );
}

void read_amounts(const taskdir::TomlSection& section, Parameters& out) {
    read_amount(section, "solver_bond", out.solver_bond);
    read_amount(section, "verifier_bond", out.verifier_bond);
    read_amount(section, "challenger_bond", out.challenger_bond);
    read_amount(section, "contributor_bond", out.contributor_bond);
    read_amount(section, "task_value_max", out.task_value_max);
    read_amount(section, "draw_price", out.draw_price);
    read_amount(section, "attest_fee", out.attest_fee);
    read_amount(section, "work_price", out.work_price);
    read_amount(section, "room_price", out.room_price);
    read_amount(section, "retention_price", out.retention_price);
    read_amount(section, "gas_price_min", out.gas_price_min);
    read_amount(section, "value_per_check", out.value_per_check);
    read_amount(section, "value_per_verifier", out.value_per_verifier);
}

void read_spans(const taskdir::TomlSection& section, Parameters& out) {
    section.read("dispute_extension_blocks", 1U, 1U << 30U, out.dispute_extension_blocks);
    section.read("attest_blocks", 1U, contracts::kMaxSpanBlocks, out.attest_blocks);
    section.read("block_ms", 1U, contracts::kMaxBlockMs, out.block_ms);
    section.read("decline_blocks", 1U, contracts::kMaxSpanBlocks, out.decline_blocks);
    section.read("draw_blocks", 1U, contracts::kMaxSpanBlocks, out.draw_blocks);
    section.read("redraw_blocks", 1U, contracts::kMaxSpanBlocks, out.redraw_blocks);
    section.read("accept_blocks", 1U, contracts::kMaxSpanBlocks, out.accept_blocks);
    section.read("commit_blocks", 1U, contracts::kMaxSpanBlocks, out.commit_blocks);
    section.read("publish_blocks", 1U, contracts::kMaxSpanBlocks, out.publish_blocks);
    section.read("challenge_blocks", 1U, contracts::kMaxSpanBlocks, out.challenge_blocks);
    section.read("disclose_blocks", 1U, contracts::kMaxSpanBlocks, out.disclose_blocks);
    section.read("dispute_clock_blocks", 1U, contracts::kMaxSpanBlocks, out.dispute_clock_blocks);
    section.read("contribute_blocks", 1U, contracts::kMaxSpanBlocks, out.contribute_blocks);
    section.read("duty_wait_blocks", 1U, 1U << 30U, out.duty_wait_blocks);
    section.read("standstill_blocks", 0U, 1U << 30U, out.standstill_blocks);
}

void read_parameters(const taskdir::TomlSection& section, Parameters& out) {
    allow_parameters(section);
    read_amounts(section, out);
    read_spans(section, out);
    section.read("solver_bond_bps", 0U, 1'000'000U, out.solver_bond_bps);
    section.read("verifier_bond_bps", 0U, 1'000'000U, out.verifier_bond_bps);
    section.read("challenger_bond_bps", 0U, 1'000'000U, out.challenger_bond_bps);
    section.read("segments_checked", 1U, 256U, out.segments_checked);
    section.read("verifiers_per_segment", 1U, 256U, out.verifiers_per_segment);
    section.read("segments_checked_max", 1U, 256U, out.segments_checked_max);
    section.read("verifiers_per_segment_max", 1U, 256U, out.verifiers_per_segment_max);
    section.read("watchers_per_verdict", 0U, 16U, out.watchers_per_verdict);
    section.read("forced_error_bps", 0U, 10'000U, out.forced_error_bps);
    section.read("tax_bps", 0U, 9'999U, out.tax_bps);
    section.read("slash_to_winner_bps", 0U, 10'000U, out.slash_to_winner_bps);
    section.read("replay_blocks_max", 1U, contracts::kMaxReplayBlocks, out.replay_blocks_max);
    section.read("deadline_slash_bps", 0U, 10'000U, out.deadline_slash_bps);
    section.read("draws_max", 1U, contracts::kMaxDraws, out.draws_max);
    section.read("redraws_max", 0U, contracts::kMaxRedraws, out.redraws_max);
    section.read("block_gas_max", 1U, kMostGas, out.block_gas_max);
    section.read("end_block_gas_max", 1U, kMostGas, out.end_block_gas_max);
    section.read("memory_default", kOneByte, kMostMemory, out.memory_default);
    section.read("duty_gas_max", 1U, ~0U, out.duty_gas_max);
    section.read("committee_seats", 1U, contracts::kMaxCommitteeSeats, out.committee_seats);
    const std::uint32_t segments = std::max(out.segments_checked, out.segments_checked_max);
    const std::uint32_t verifiers = std::max(out.verifiers_per_segment, out.verifiers_per_segment_max);
    if ((segments + 1) * verifiers > 256) {
        section.fail(
            "segments_checked_max", "plus 1, times verifiers_per_segment_max, must be at most 256 assignments"
        );
    }
}

economics::TaskCosts read_task(const taskdir::TomlSection& section) {
    section.allow({"name", "segments", "segment_seconds", "reward", "fee"});
    economics::TaskCosts out;
    out.name = section.text("name");
    section.read("segments", 1U, 10'000U, out.segments);
    section.read("segment_seconds", {.min = 0.0, .max = 1e7, .above = true}, out.segment_seconds);
    read_amount(section, "reward", out.reward);
    read_amount(section, "fee", out.fee);
    return out;
}

void read_tasks(const toml::table& table, taskdir::Findings& findings, const taskdir::TomlSection& root, Costs& out) {
    if (!root.has("task")) {
        return;
    }
    const toml::array* const tasks = table.get("task")->as_array();
    out.tasks.clear();
    for (std::size_t i = 0; tasks != nullptr && i < tasks->size(); ++i) {
        if (const toml::table* const task = (*tasks)[i].as_table()) {
            out.tasks.push_back(read_task(taskdir::TomlSection(findings, "[[task]] ", *task)));
        }
    }
    if (out.tasks.empty()) {
        root.fail("task", "must be one or more sections [[task]]");
    }
    for (std::size_t i = 0; i < out.tasks.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (out.tasks[i].name == out.tasks[j].name) {
                root.fail("task", "two tasks have the name \"" + out.tasks[i].name + "\"");
            }
        }
    }
}

}  // namespace

EconomicsFile read_economics_file(const std::filesystem::path& file) {
    EconomicsFile out{economics::default_costs(), economics::chain_defaults()};
    if (file.empty()) {
        return out;
    }
    taskdir::Findings findings(file.string());
    toml::table table;
    try {
        table = toml::parse(taskdir::read_file(file), file.string());
    } catch (const toml::parse_error& error) {
        throw taskdir::TaskDirectoryError(
            file.string() + ":" + std::to_string(error.source().begin.line) + ": " + std::string(error.description())
        );
    }
    const taskdir::TomlSection root(findings, "", table);
    read_root(root, out.costs);
    read_prices(root.section("prices"), out.costs);
    read_world(root.section("world"), out.costs);
    read_adversary(root.section("adversary"), out.costs.adversary);
    read_rates(root.section("rates"), out.costs);
    read_parameters(root.section("parameters"), out.parameters);
    read_tasks(table, findings, root, out.costs);
    findings.throw_if_wrong();
    return out;
}

}  // namespace assay::cli
