// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/task/task_estimate.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <string_view>
#include <vector>

#include <contracts/params/work.hpp>
#include <contracts/state/task.hpp>
#include <core/base/amount.hpp>
#include <tools/cli/common/table.hpp>
#include <core/dispute/work.hpp>
#include <core/system/memory.hpp>

namespace assay::cli {
namespace {

using canonical::Graph;
using canonical::Node;
using canonical::Op;
using nlohmann::json;

/// A checkpoint's header says of each tensor its name, type, shape and place.
constexpr std::uint64_t kHeaderBytesPerTensor = 80;

std::uint64_t bytes_of(canonical::DType dtype, canonical::Shape shape) {
    return shape.element_count() * size_of(dtype);
}

/// Whether a state tensor is one that the optimizer keeps for another.
bool is_slot(const std::string& name, const std::set<std::string>& names) {
    for (const std::string_view prefix :
         {"momentum.", "adam.first.", "adam.second.", "accumulated.", "momentum.exponent.", "adam.first.exponent.",
          "adam.second.exponent."}) {
        if (name.starts_with(prefix) && names.contains(name.substr(prefix.size()))) {
            return true;
        }
    }
    return name == "adam.first_weight" || name == "adam.second_weight";
}

void add_state(Estimate& out, const program::Program& program) {
    std::set<std::string> names;
    for (const program::StateTensor& tensor : program.state) {
        names.insert(tensor.name);
    }
    for (const program::StateTensor& tensor : program.state) {
        const std::uint64_t bytes = bytes_of(tensor.type.dtype, tensor.type.shape);
        (is_slot(tensor.name, names) ? out.optimizer_values : out.parameters) += tensor.type.shape.element_count();
        out.state_bytes += bytes;
        out.checkpoint_bytes += bytes + tensor.name.size() + kHeaderBytesPerTensor;
    }
}

void add_work(Estimate& out, const Graph& graph) {
    for (const Node& node : graph) {
        ++out.nodes_by_op[canonical::to_string(node.op)];
        if (node.op == Op::kContract) {
            const program::Profile profile{node.attributes[0], node.attributes[1]};
            out.multiply_adds[taskdir::profile_name(profile)] += node.shape.element_count() * node.inputs[0].shape.cols;
        } else {
            out.elements_written += node.shape.element_count();
        }
    }
}

/// The hashes of the dataset's chunks; the dataset itself stays in its file.
std::uint64_t tree_bytes(const taskdir::BuiltTask& task) {
    return 2 * canonical::chunk_count(task.program.dataset) * sizeof(Hash256);
}

/// Besides its steps, training takes those hashes, and a second state while a checkpoint is written.
void add_memory(Estimate& out, const taskdir::BuiltTask& task, const EstimateOptions& options) {
    out.memory_bytes = options.memory_bytes != 0 ? options.memory_bytes : system::available_memory().value_or(0);
    const std::uint64_t besides = tree_bytes(task) + out.state_bytes;
    const std::uint64_t limit = std::max<std::uint64_t>(1, out.memory_bytes - std::min(out.memory_bytes, besides));
    const StepMemory steps = step_memory(task.program, limit, options.threads);
    std::uint64_t scored = 0;
    if (task.evaluation) {
        scored = dispute::memory_of(task.evaluation->program.init);
    }
    out.training_bytes = std::max(steps.bytes, scored) + besides;
    out.least_training_bytes = std::max(steps.least_bytes, scored) + besides;
    out.training_work = steps.work;
    out.largest = largest_model(task.file, limit, options.threads);
}

void add_time(
    Estimate& out, const taskdir::BuiltTask& task, const EstimateOptions& options, const contracts::Params& params
) {
    constexpr double kWorkOfHour = 3600.0 * 1e6;  // of a score of 1 (WRK-3)
    const double work = static_cast<double>(task.spec.program.init_work) +
                        static_cast<double>(task.spec.steps) * static_cast<double>(task.spec.program.step_work);
    for (const contracts::HardwareClass& each : params.hardware_classes) {
        out.hours.emplace_back(each.name, work / (static_cast<double>(each.least_score) * kWorkOfHour));
    }
    if (options.score != 0) {
        const double hours = work * out.training_work / (static_cast<double>(options.score) * kWorkOfHour);
        out.hours.emplace_back("this machine", hours);
    }
    out.fee_min_grains = contracts::fee_at(params, task.spec, params.work_price).grains;
}

std::string decimal(double value, int digits) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
    return buffer;
}

/// Digits in groups of three.
std::string grouped(std::uint64_t value) {
    const std::string digits = std::to_string(value);
    std::string out;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) {
            out += ',';
        }
        out += digits[i];
    }
    return out;
}

std::string size_text(std::uint64_t bytes) {
    constexpr std::array<const char*, 4> kUnits = {"KiB", "MiB", "GiB", "TiB"};
    constexpr double kStep = 1024.0;
    if (bytes < 1024) {
        return std::to_string(bytes) + " bytes";
    }
    double value = static_cast<double>(bytes) / kStep;
    std::size_t unit = 0;
    for (; value >= kStep && unit + 1 < kUnits.size(); ++unit) {
        value /= kStep;
    }
    return decimal(value, 1) + " " + kUnits[unit];
}

std::string epochs_text(const Estimate& estimate, const taskdir::BuiltTask& task) {
    return decimal(static_cast<double>(estimate.rows_read) / static_cast<double>(task.program.dataset.rows), 2);
}

std::string rounds_text(const taskdir::DisputeBound& dispute) {
    std::string out = std::to_string(dispute.rounds.total()) + " (";
    const auto add = [&out](std::uint32_t rounds, const char* level) {
        if (rounds > 0) {
            out += (out.ends_with("(") ? "" : ", ") + std::to_string(rounds) + " " + level;
        }
    };
    add(dispute.rounds.steps, "steps");
    add(dispute.rounds.nodes, "nodes");
    add(dispute.rounds.tiles, "tiles");
    add(dispute.rounds.partials, "partials");
    return out + "), then a proof; at a " + dispute.op + " node";
}

json evaluation_to_json(const taskdir::BuiltTask& task) {
    if (!task.evaluation) {
        return {};
    }
    const std::uint32_t rows = task.evaluation->holdout.shape.rows;
    return {
        {"rows", rows},
        {"batches", rows / task.program.batch_size},
        {"nodes", task.evaluation->program.init.size()},
        {"bytes", task.evaluation->artifact.size()}};
}

json largest_to_json(const Estimate& e) {
    if (!e.largest) {
        return {};
    }
    return {
        {"size", e.largest->size},
        {"state_bytes", e.largest->state_bytes},
        {"is_bound_by_memory", e.largest->is_bound_by_memory},
        {"step_bytes", e.largest->memory.bytes},
        {"work_over_program", e.largest->memory.work}};
}

json hours_to_json(const Estimate& e) {
    json out = json::object();
    for (const auto& [machine, hours] : e.hours) {
        out[machine] = hours;
    }
    return out;
}

std::string memory_text(const Estimate& e) {
    std::string out = "about " + size_text(e.training_bytes) + " to train or verify";
    if (e.training_work > 1.005) {
        out += ", with " + decimal((e.training_work - 1.0) * 100.0, 0) + " % of the work done twice";
    }
    if (e.training_bytes > e.memory_bytes) {
        out += ": too much for " + size_text(e.memory_bytes);
    }
    return out + "; at least " + size_text(e.least_training_bytes) + "; " + size_text(e.dispute_bytes) +
           " for a party to a dispute";
}

std::string duration_text(double hours) {
    constexpr double kLongest = 100.0;  // of one unit before the next is taken
    if (hours * 3600.0 < 0.1) {
        return "less than 0.1 seconds";
    }
    if (hours * 3600.0 < kLongest) {
        return decimal(hours * 3600.0, 1) + " seconds";
    }
    if (hours * 60.0 < kLongest) {
        return decimal(hours * 60.0, 1) + " minutes";
    }
    return hours < kLongest ? decimal(hours, 1) + " hours" : decimal(hours / 24.0, 1) + " days";
}

void add_times(Facts& facts, const Estimate& e) {
    const char* name = "time";
    for (const auto& [machine, hours] : e.hours) {
        const bool is_class = machine != "this machine";
        facts.add(
            name, duration_text(hours) + " on " + (is_class ? "the slowest machine of class " + machine : machine)
        );
        name = "";
    }
}

}  // namespace

Estimate estimate_task(
    const taskdir::BuiltTask& task, const EstimateOptions& options, const contracts::Params& params
) {
    Estimate out;
    add_state(out, task.program);
    add_work(out, task.program.step);
    out.rows_read = task.spec.steps * task.program.batch_size;  // TASK-2: fits
    out.segments = contracts::segment_count(task.spec);
    if (options.with_memory) {
        add_memory(out, task, options);
    }
    add_time(out, task, options, params);
    out.dispute_bytes = tree_bytes(task) + 2 * out.state_bytes + dispute::memory_of(task.program.step);
    const std::uint64_t steps = std::min<std::uint64_t>(task.spec.steps, task.spec.checkpoint_interval);
    out.dispute = taskdir::bound_dispute(task.program, task.spec.program, steps);
    return out;
}

json to_json(const Estimate& e, const taskdir::BuiltTask& task) {
    const program::Program& program = task.program;
    return {
        {"kind", taskdir::kind_of(task.file.model)},
        {"title", task.spec.title},
        {"nodes", {{"init", program.init.size()}, {"step", program.step.size()}, {"by_op", e.nodes_by_op}}},
        {"parameters", e.parameters},
        {"optimizer_values", e.optimizer_values},
        {"state_tensors", program.state.size()},
        {"state_bytes", e.state_bytes},
        {"checkpoint_bytes", e.checkpoint_bytes},
        {"work", {{"init", task.spec.program.init_work}, {"step", task.spec.program.step_work}}},
        {"multiply_adds_per_step", e.multiply_adds},
        {"elements_written_per_step", e.elements_written},
        {"batch_size", program.batch_size},
        {"dataset",
         {{"rows", program.dataset.rows},
          {"width", program.dataset.width},
          {"bytes", task.data.dataset->stored().size()},
          {"tokenizer", task.data.tokenizer ? json(to_hex(task.data.tokenizer->view())) : json()},
          {"rows_read", e.rows_read}}},
        {"evaluation", evaluation_to_json(task)},
        {"program_bytes", task.program_artifact.size()},
        {"initial_bytes", task.initial_artifact.size()},
        {"steps", task.spec.steps},
        {"segments", e.segments},
        {"checkpoints_bytes", (std::uint64_t{e.segments} + 1) * e.checkpoint_bytes},
        {"memory_bytes",
         {{"available", e.memory_bytes},
          {"training", e.training_bytes},
          {"least_training", e.least_training_bytes},
          {"dispute", e.dispute_bytes}}},
        {"fits", e.training_bytes <= e.memory_bytes},
        {"work_over_program", e.training_work},
        {"largest_model", largest_to_json(e)},
        {"hours", hours_to_json(e)},
        {"price_grains",
         {{"reward", task.spec.reward.grains},
          {"verification_fee", task.spec.verification_fee.grains},
          {"least_verification_fee", e.fee_min_grains}}},
        {"dispute",
         {{"rounds", e.dispute.rounds.total()},
          {"rounds_by_level",
           {{"steps", e.dispute.rounds.steps},
            {"nodes", e.dispute.rounds.nodes},
            {"tiles", e.dispute.rounds.tiles},
            {"partials", e.dispute.rounds.partials}}},
          {"op", e.dispute.op},
          {"largest_reveal_bytes", e.dispute.reveal_bytes},
          {"largest_proof_bytes", e.dispute.proof_bytes},
          {"largest_proof_op", e.dispute.proof_op}}},
    };
}

std::string estimate_text(const Estimate& e, const taskdir::BuiltTask& task) {
    const program::Program& program = task.program;
    Facts facts;
    facts.add("title", task.spec.title);
    facts.add("model", std::string(taskdir::kind_of(task.file.model)) + ", " + grouped(e.parameters) + " parameters");
    facts.add(
        "state", std::to_string(program.state.size()) + " tensors, " + size_text(e.state_bytes) +
                     "; the optimizer's part " + grouped(e.optimizer_values) + " values"
    );
    facts.add(
        "checkpoint", "about " + size_text(e.checkpoint_bytes) + "; " + std::to_string(e.segments + 1) + " of them, " +
                          size_text((std::uint64_t{e.segments} + 1) * e.checkpoint_bytes)
    );
    facts.add(
        "dataset", grouped(program.dataset.rows) + " rows of " + std::to_string(program.dataset.width) + " values, " +
                       size_text(task.data.dataset->stored().size())
    );
    facts.add(
        "program", size_text(task.program_artifact.size()) + "; " + std::to_string(program.init.size()) +
                       " nodes to initialise, " + std::to_string(program.step.size()) + " per step"
    );
    if (task.data.tokenizer) {
        facts.add("tokenizer", to_hex(task.data.tokenizer->view()));
    }
    if (!program.initial.empty()) {
        facts.add(
            "starts from",
            std::to_string(program.initial.size()) + " tensors, " + size_text(task.initial_artifact.size())
        );
    }
    facts.add(
        "run", grouped(task.spec.steps) + " steps of " + std::to_string(program.batch_size) + " rows in " +
                   std::to_string(e.segments) + " segments; " + epochs_text(e, task) + " times the dataset"
    );
    if (task.evaluation) {
        const std::uint32_t rows = task.evaluation->holdout.shape.rows;
        facts.add(
            "evaluation", grouped(rows) + " rows in " + std::to_string(rows / program.batch_size) + " batches, " +
                              size_text(task.evaluation->artifact.size()) + "; a graph of " +
                              grouped(task.evaluation->program.init.size()) + " nodes"
        );
    }
    facts.add("work per step", grouped(task.spec.program.step_work) + " multiply-adds, as windows and fees count them");
    for (const auto& [profile, count] : e.multiply_adds) {
        facts.add("", grouped(count) + " multiply-adds in " + profile);
    }
    facts.add("", grouped(e.elements_written) + " elements written by the other nodes");
    facts.add("memory", memory_text(e));
    if (e.largest) {
        facts.add(
            "", "the largest such model that fits " + size_text(e.memory_bytes) + ": " + e.largest->size +
                    (e.largest->is_bound_by_memory ? "" : "; a larger one is beyond the limits of programs")
        );
    }
    add_times(facts, e);
    facts.add(
        "price", to_text(task.spec.reward) + " to the solver and " + to_text(task.spec.verification_fee) +
                     " for verification, which takes at least " + to_text(Amount{e.fee_min_grains})
    );
    facts.add("dispute", "at most " + rounds_text(e.dispute));
    facts.add(
        "", "largest reveal " + size_text(e.dispute.reveal_bytes) + ", largest proof about " +
                size_text(e.dispute.proof_bytes) + " (" + e.dispute.proof_op + ")"
    );
    Table table({"NODE", "COUNT>"});
    for (const auto& [op, count] : e.nodes_by_op) {
        table.add({op, std::to_string(count)});
    }
    return facts.text() + "\n" + table.text();
}

}  // namespace assay::cli
