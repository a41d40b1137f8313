// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/task/task_estimate.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <string_view>
#include <vector>

#include <contracts/state/task.hpp>
#include <core/base/amount.hpp>
#include <tools/cli/common/table.hpp>
#include <core/dispute/work.hpp>

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

std::uint64_t bytes_of(const Node& node) { return node.op == Op::kCommit ? 0 : bytes_of(node.dtype, node.shape); }

/// Whether a state tensor is one that the optimizer keeps for another.
bool is_slot(const std::string& name, const std::set<std::string>& names) {
    for (const std::string_view prefix : {"momentum.", "adam.first.", "adam.second.", "accumulated."}) {
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
        out.dispute_bytes += bytes_of(node);
        if (node.op == Op::kContract) {
            const program::Profile profile{node.attributes[0], node.attributes[1]};
            out.multiply_adds[taskdir::profile_name(profile)] += node.shape.element_count() * node.inputs[0].shape.cols;
        } else {
            out.elements_written += node.shape.element_count();
        }
    }
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

}  // namespace

Estimate estimate_task(const taskdir::BuiltTask& task) {
    Estimate out;
    add_state(out, task.program);
    add_work(out, task.program.step);
    out.rows_read = task.spec.steps * task.program.batch_size;  // TASK-2: fits
    out.segments = contracts::segment_count(task.spec);
    std::uint64_t memory = std::max(dispute::memory_of(task.program.step), dispute::memory_of(task.program.init));
    if (task.evaluation) {
        memory = std::max(memory, dispute::memory_of(task.evaluation->program.init));
    }
    out.training_bytes = task.data.artifact.size() + memory;
    out.dispute_bytes += task.data.artifact.size() + out.state_bytes;
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
          {"bytes", task.data.artifact.size()},
          {"rows_read", e.rows_read}}},
        {"evaluation", evaluation_to_json(task)},
        {"program_bytes", task.program_artifact.size()},
        {"initial_bytes", task.initial_artifact.size()},
        {"steps", task.spec.steps},
        {"segments", e.segments},
        {"checkpoints_bytes", (std::uint64_t{e.segments} + 1) * e.checkpoint_bytes},
        {"memory_bytes", {{"training", e.training_bytes}, {"dispute", e.dispute_bytes}}},
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
                       size_text(task.data.artifact.size())
    );
    facts.add(
        "program", size_text(task.program_artifact.size()) + "; " + std::to_string(program.init.size()) +
                       " nodes to initialise, " + std::to_string(program.step.size()) + " per step"
    );
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
    facts.add(
        "memory", "about " + size_text(e.training_bytes) + " to train or verify; " + size_text(e.dispute_bytes) +
                      " for a party to a dispute"
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
