// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/task/task_lint.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

#include <contracts/state/params.hpp>
#include <core/base/amount.hpp>
#include <verifier/taskdir/task_directory.hpp>
#include <verifier/taskdir/task_replicas.hpp>
#include <tools/cli/task/task_estimate.hpp>
#include <tools/cli/task/task_first_step.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

void check_run(const taskdir::BuiltTask& task, taskdir::Findings& findings) {
    const contracts::TaskSpec& spec = task.spec;
    const std::uint32_t accumulation = task.file.optimizer.accumulation;
    const std::uint32_t replicas = task.file.local ? task.file.local->count : 1;
    const std::uint64_t updates = spec.steps / replicas / accumulation;
    if (task.file.local) {
        taskdir::check_rounds(*task.file.local, spec, findings);
    }
    if (updates == 0) {
        findings.error("[optimizer] accumulation", "is more than the task's steps: no parameter would ever change");
    } else if (spec.steps / replicas % accumulation != 0) {
        findings.warning(
            "[optimizer] accumulation", "the gradients of the last " +
                                            std::to_string(spec.steps / replicas % accumulation) +
                                            " steps are accumulated and never used"
        );
    }
    const program::Schedule& schedule = task.file.optimizer.schedule;
    if (schedule.kind != program::ScheduleKind::kConstant && schedule.total_updates > updates) {
        findings.warning(
            "[schedule] total_updates", "the task ends after " + std::to_string(updates) +
                                            " updates, before the schedule's " + std::to_string(schedule.total_updates)
        );
    }
    if (schedule.warmup_updates >= updates && updates > 0 && schedule.warmup_updates > 0) {
        findings.warning("[schedule] warmup_updates", "the task ends before the warm-up does");
    }
    const std::uint64_t rows = task.program.dataset.rows;
    if (task.program.batch_size > rows) {
        findings.warning(
            "[model] batch_size", "is more than the dataset's " + std::to_string(rows) + " rows: a batch has some twice"
        );
    }
    if (spec.steps * task.program.batch_size < rows) {
        findings.note(
            "steps", "read " + std::to_string(spec.steps * task.program.batch_size) + " of the dataset's " +
                         std::to_string(rows) + " rows"
        );
    }
    if (spec.reward.grains == 0) {
        findings.warning("reward", "is nothing: no solver gains from this task");
    }
    const Amount usual = contracts::Params{}.task_value_max;
    const auto value = checked_add(spec.reward, spec.verification_fee);
    if (!value || *value > usual) {
        findings.note(
            "reward", "and verification_fee are more than " + to_text(usual) +
                          ", above which a chain refuses tasks unless its genesis sets another task_value_max"
        );
    }
    if (spec.verification_fee.grains == 0) {
        findings.warning("verification_fee", "is nothing: no verifier gains from this task");
    }
}

// docs/benchmarks: with attention, some parameters have no gradient but rounding, and Adam divides it by its own size.
constexpr float kLeastEpsilon = 1e-6F;

void check_drift(const taskdir::TaskFile& file, taskdir::Findings& findings) {
    using enum program::OptimizerKind;
    const std::string model = taskdir::kind_of(file.model);
    const bool may_attend = model == "gpt" || model == "onnx";
    const bool divides = file.optimizer.kind == kAdam || file.optimizer.kind == kAdamW;
    if (file.spec.mode == contracts::Mode::kTolerance && may_attend && divides &&
        file.optimizer.epsilon < kLeastEpsilon) {
        findings.warning(
            "[optimizer] epsilon",
            "is below 1e-6: attention's key biases have no gradient but rounding, which Adam makes as large as any "
            "other "
            "update, and in a long run an honest solver's drift comes within a third of the threshold"
        );
    }
}

void check_sizes(const Estimate& estimate, taskdir::Findings& findings) {
    const std::uint32_t tx_size_max = contracts::Params{}.tx_size_max;
    if (estimate.dispute.proof_bytes > tx_size_max) {
        findings.warning(
            "model", "the proof of a " + estimate.dispute.proof_op + " node can have about " +
                         std::to_string(estimate.dispute.proof_bytes) +
                         " bytes; a chain with default parameters takes " + std::to_string(tx_size_max)
        );
    }
}

void check_initial(const taskdir::BuiltTask& task, taskdir::Findings& findings) {
    for (std::size_t i = 0; i < task.initial.size(); ++i) {
        const Bytes& data = task.initial[i].data;
        if (task.initial[i].dtype != canonical::DType::kF32) {
            continue;
        }
        for (std::size_t at = 0; at + 4 <= data.size(); at += 4) {
            const std::uint32_t word = data[at] | std::uint32_t{data[at + 1]} << 8U |
                                       std::uint32_t{data[at + 2]} << 16U | std::uint32_t{data[at + 3]} << 24U;
            if (!std::isfinite(std::bit_cast<float>(word))) {
                findings.error(
                    "[model] file", task.program.initial[i].name + " starts from a number that is not finite"
                );
                break;
            }
        }
    }
}

}  // namespace

void lint_built(const taskdir::BuiltTask& task, taskdir::Findings& findings) {
    check_run(task, findings);
    check_drift(task.file, findings);
    check_initial(task, findings);
    check_sizes(estimate_task(task, {.with_memory = false}), findings);
    if (!findings.has_errors()) {
        check_first_step(task, findings);
    }
}

taskdir::Findings lint_task(const std::filesystem::path& directory) {
    taskdir::Findings findings(taskdir::task_file_name(directory));
    try {
        const auto task = taskdir::build_task(directory, findings);
        if (task) {
            lint_built(*task, findings);
        }
    } catch (const taskdir::TaskDirectoryError& error) {
        findings.error(error);
    }
    return findings;
}

json to_json(const taskdir::Findings& findings) {
    json list = json::array();
    for (const taskdir::Finding& finding : findings.all()) {
        list.push_back(
            {{"severity", to_string(finding.severity)},
             {"file", finding.file},
             {"line", finding.line == 0 ? json() : json(finding.line)},
             {"key", finding.key.empty() ? json() : json(finding.key)},
             {"message", finding.message}}
        );
    }
    return {
        {"findings", list},
        {"errors", findings.count(taskdir::Severity::kError)},
        {"warnings", findings.count(taskdir::Severity::kWarning)},
        {"notes", findings.count(taskdir::Severity::kNote)}};
}

std::string findings_text(const taskdir::Findings& findings) {
    std::string out;
    for (const taskdir::Severity severity :
         {taskdir::Severity::kError, taskdir::Severity::kWarning, taskdir::Severity::kNote}) {
        for (const taskdir::Finding& finding : findings.all()) {
            if (finding.severity == severity) {
                out += std::string(to_string(severity)) + ": " + to_text(finding) + "\n";
            }
        }
    }
    return out + std::to_string(findings.count(taskdir::Severity::kError)) + " errors, " +
           std::to_string(findings.count(taskdir::Severity::kWarning)) + " warnings, " +
           std::to_string(findings.count(taskdir::Severity::kNote)) + " notes\n";
}

}  // namespace assay::cli
