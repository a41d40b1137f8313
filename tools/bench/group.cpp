// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/group.hpp>

#include <algorithm>
#include <utility>

#include <tools/bench/bench.hpp>
#include <tools/bench/canonical_models.hpp>
#include <tools/bench/cell_training.hpp>
#include <tools/bench/measured_models.hpp>

namespace assay::bench {
namespace {

using nlohmann::json;

// What ranks sent in a step on average, beside what the plan says, and what a ring all-reduce of the gradient in fp32
// sends: 2K(N-1)/N for K bytes.
json bytes_of(const plan::Plan& plan, const program::Program& program, const CellRun& run) {
    plan::Traffic all;
    std::uint64_t most = 0;
    const std::uint32_t ranks = std::max(plan.layout.ranks(), 1U);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const plan::Traffic traffic = plan::traffic_of(plan, program.step, rank);
        all.sums += traffic.sums;
        all.maxima += traffic.maxima;
        all.values += traffic.values;
        most = std::max(most, traffic.bytes());
    }
    const double mean = static_cast<double>(run.sent_all) / ranks;
    const double ring =
        2.0 * 4.0 * static_cast<double>(parameters_of(program)) * (plan.layout.data - 1) / plan.layout.data;
    json out{
        {"sent", run.sent_all / ranks},
        {"sent_most", run.sent_most},
        {"formula", all.bytes() / ranks},
        {"formula_most", most},
        {"sent_over_formula", mean / (static_cast<double>(all.bytes()) / ranks)},
        {"sums", all.sums / ranks},
        {"maxima", all.maxima / ranks},
        {"values", all.values / ranks}};
    if (plan.layout.data > 1 && plan.layout.tensor == 1 && plan.layout.stages == 1) {
        out["over_fp32_ring"] = mean / ring;
    }
    return out;
}

// What is reported of a layout.
json entry_of(const plan::Plan& plan, const program::Program& program, const CellRun& run) {
    const plan::Layout& layout = plan.layout;
    json out{
        {"ranks", layout.ranks()},
        {"bytes", bytes_of(plan, program, run)},
        {"state", {{"bytes", run.state_most}, {"peak_bytes", run.peak_most}}},
        {"step_s", run.step_s}};
    if (layout.micro_batches > 1) {
        const plan::Slots slots = plan::slots_of(plan, program);
        const double stages = layout.stages;
        const double micro_batches = layout.micro_batches;
        out["idle_slots"] = {
            {"counted", static_cast<double>(slots.idle) / static_cast<double>(slots.all)},
            {"formula", (stages - 1) / (micro_batches + stages - 1)}};
    }
    if (layout.tensor == 1 && layout.stages == 1) {
        const std::uint64_t formula = plan::zero_state_bytes(program, layout);
        out["state"]["formula"] = formula;
        out["state"]["over_formula"] = static_cast<double>(run.state_most) / static_cast<double>(formula);
    }
    return out;
}

}  // namespace

json run_group_bench(const GroupOptions& options) {
    const CellTraining training =
        generated_training(canonical_program(options.model, options.profile), model_named(options.model).limit);
    const std::string expected = root_of_one_process(training, options.steps);
    json out = json::array();
    for (const std::string& text : options.layouts) {
        const NamedLayout named = layout_named(text);
        const plan::Plan plan = plan::make_plan(training.program, named.layout);
        const CellRun run = run_cell(training, plan, options.steps);
        json entry = entry_of(plan, training.program, run);
        entry["plan"] = named.name;
        entry["is_one_root"] = run.root == expected;
        if (options.steps == 1) {
            entry.erase("step_s");
        }
        out.push_back(std::move(entry));
    }
    return {
        {"bench", "group"},
        {"model", options.model},
        {"profile", options.profile},
        {"parameters", parameters_of(training.program)},
        {"steps", options.steps},
        {"root", expected},
        {"instructions", used_instructions()},
        {"layouts", out}};
}

}  // namespace assay::bench
