// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/plan/plan_report.hpp>

#include <array>
#include <cstdio>

#include <tools/cli/common/table.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;
using schedule::Kind;
using schedule::Prediction;
using schedule::Wait;

const char* name_of_kind(Kind kind) {
    constexpr std::array<const char*, schedule::kKinds> kNames = {"one machine",     "data parallel",    "ZeRO-1",
                                                                  "ZeRO-2",          "ZeRO-3",           "pipeline",
                                                                  "data x pipeline", "tensor in a site", "turns"};
    return kNames[static_cast<std::size_t>(kind)];
}

/// What a local replica sends to each other one in the exchange after a turn.
std::uint64_t exchange_bytes(const PlanReport& report) {
    const schedule::Crossing crossing = schedule::crossing_of_turns(report.profile, report.options, 1);
    return static_cast<std::uint64_t>(crossing.exchange_bytes * report.options.turn_steps);
}

const char* name_of_wait(Wait wait) {
    constexpr std::array<const char*, 4> kNames = {"compute", "exchange", "handover", "tensor"};
    return kNames[static_cast<std::size_t>(wait)];
}

std::string printed(const char* format, double value) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, format, value);
    return buffer;
}

// Three significant digits, in a unit of time.
std::string time_text(double seconds) {
    if (seconds == 0.0) {
        return "-";
    }
    if (seconds < 1.0) {
        return printed("%.3g ms", seconds * 1e3);
    }
    return seconds < 1000.0 ? printed("%.3g s", seconds) : printed("%.0f s", seconds);
}

std::string size_text(double bytes) {
    constexpr double kMebi = 1024.0 * 1024.0;
    if (bytes < 0.1 * kMebi) {
        return printed("%.1f KiB", bytes / 1024.0);
    }
    return bytes < 1024.0 * kMebi ? printed("%.1f MiB", bytes / kMebi) : printed("%.1f GiB", bytes / kMebi / 1024.0);
}

std::string plan_name(const Prediction& plan) {
    if (plan.kind == Kind::kOne) {
        return "-";
    }
    return plan.can_start() ? plan::to_string(plan.layout) : "another task";
}

std::string bottleneck_text(const PlanReport& report, const Prediction& plan) {
    std::string out;
    for (const std::uint32_t machine : plan.bottleneck) {
        out += (out.empty() ? "" : " - ") + report.members.machines[machine].name;
    }
    constexpr std::array<const char*, 4> kOf = {"", " (exchange)", " (handover)", " (tensor)"};
    return (plan.bottleneck.size() == 2 ? "link " : "machine ") + out + kOf[static_cast<std::size_t>(plan.wait)];
}

std::vector<std::string> names_of(const PlanReport& report, const std::vector<std::uint32_t>& machines) {
    std::vector<std::string> out;
    out.reserve(machines.size());
    for (const std::uint32_t machine : machines) {
        out.push_back(report.members.machines[machine].name);
    }
    return out;
}

json to_json(const PlanReport& report, const Prediction& plan, bool is_best) {
    const bool has_name = plan.can_start() && plan.kind != Kind::kOne;
    return {
        {"kind", name_of_kind(plan.kind)},
        {"plan", has_name ? json(plan::to_string(plan.layout)) : json()},
        {"can_start", plan.can_start()},
        {"is_best", is_best},
        {"machines", names_of(report, plan.machines)},
        {"step_s", plan.total_s()},
        {"is_timed", plan.timed_s.has_value()},
        {"compute_s", plan.compute_s},
        {"exchange_s", plan.exchange_s},
        {"handover_s", plan.handover_s},
        {"tensor_s", plan.tensor_s},
        {"memory_bytes", static_cast<std::uint64_t>(plan.memory_bytes)},
        {"bottleneck", {{"part", name_of_wait(plan.wait)}, {"members", names_of(report, plan.bottleneck)}}}};
}

std::string start_text(const PlanReport& report, const Prediction& best) {
    const std::vector<std::string> names = names_of(report, best.machines);
    if (best.kind == Kind::kOne) {
        return "Best: " + names[0] + " alone." +
               (report.members.machines.size() == 1
                    ? ""
                    : " What the machines would exchange takes longer than what they would save.");
    }
    std::string out = "Best: " + std::string(name_of_kind(best.kind)) + " over " + std::to_string(names.size()) +
                      " machines, " + time_text(best.total_s()) + " a step. Start it with\n" +
                      "  assay-worker solve --cell hosts.toml --plan " + plan::to_string(best.layout) + " ...\non " +
                      names[0] + ", the lead. hosts.toml lists the others in this order:";
    for (std::size_t i = 1; i < names.size(); ++i) {
        out += (i == 1 ? " " : ", ") + names[i];
    }
    return out;
}

}  // namespace

json to_json(const PlanReport& report) {
    json plans = json::array();
    for (std::size_t i = 0; i < report.choice.best.size(); ++i) {
        plans.push_back(to_json(report, report.choice.best[i], report.choice.fastest == i));
    }
    return {
        {"title", report.title},
        {"members", report.members.machines.size()},
        {"bytes", report.profile.is_planned ? "planner" : "formulas"},
        {"micro_batches", report.options.micro_batches},
        {"turn_steps", report.options.turn_steps},
        {"sent_bits", report.options.sent_bits},
        {"fragments", report.options.fragments},
        {"exchange_bytes", exchange_bytes(report)},
        {"plans", std::move(plans)}};
}

std::string plan_report_text(const PlanReport& report) {
    Table table(
        {"", "kind", "--plan", "machines>", "step>", "compute>", "exchange>", "handover>", "tensor>", "memory>",
         "bottleneck"}
    );
    bool has_turns = false;
    bool is_timed = false;
    for (std::size_t i = 0; i < report.choice.best.size(); ++i) {
        const Prediction& plan = report.choice.best[i];
        has_turns = has_turns || plan.kind == Kind::kTurns;
        is_timed = is_timed || plan.timed_s.has_value();
        table.add(
            {report.choice.fastest == i ? "*" : "", name_of_kind(plan.kind), plan_name(plan),
             std::to_string(plan.machines.size()), time_text(plan.total_s()), time_text(plan.compute_s),
             time_text(plan.exchange_s), time_text(plan.handover_s), time_text(plan.tensor_s),
             size_text(plan.memory_bytes), bottleneck_text(report, plan)}
        );
    }
    std::string out = table.text() + "\n";
    if (report.choice.fastest) {
        out += start_text(report, report.choice.best[*report.choice.fastest]) + "\n";
    }
    if (has_turns) {
        out += "Local replicas, which exchange every " + std::to_string(report.options.turn_steps) +
               " steps, are another training: they belong into the task, as [replicas] exchange = \"" +
               (report.options.fragments > 1 ? "streaming" : "diloco") +
               "\", and are trained with --plan turns. In an "
               "exchange each sends " +
               std::to_string(exchange_bytes(report)) + " bytes to each of the others.\n";
    }
    if (is_timed) {
        out +=
            "A step of several machines is timed message by message, as its plan has them; the columns beside it do "
            "not overlap, and need not add up to it.\n";
    }
    out += report.profile.is_planned
               ? "Bytes and rounds are those of plans for two ranks, in proportion."
               : "Bytes and rounds are formulas, since the program is too large for plans to be made here; between "
                 "stages a cell sends more.";
    return out;
}

std::string shortage_text(const schedule::Shortage& shortage, std::size_t members) {
    const std::uint32_t ranks = shortage.layout.ranks();
    const std::string needed = size_text(shortage.needed_bytes);
    const std::string largest = size_text(shortage.largest_bytes);
    if (ranks == 1) {
        return "the task fits no machine: it needs " + needed + " on one, and the largest has " + largest;
    }
    return "the task fits no plan for " + std::to_string(members) + " machines: " + plan::to_string(shortage.layout) +
           " takes least and needs " + needed + " on each of " + std::to_string(ranks) + ", and the " +
           std::to_string(ranks) + " largest have no more than " + largest + " each";
}

}  // namespace assay::cli
