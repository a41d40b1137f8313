// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <fstream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include <tools/cli/common/add_command.hpp>
#include <tools/cli/plan/members_file.hpp>
#include <tools/cli/plan/plan_report.hpp>
#include <verifier/taskdir/task_build.hpp>
#include <verifier/taskdir/task_directory.hpp>

namespace assay::cli {
namespace {

struct PlanArguments {
    std::string directory;
    std::string members;
    std::string svg;
    schedule::ChoiceOptions options;
};

void write_drawing(const std::string& path, const std::string& drawing) {
    std::ofstream out(path, std::ios::binary);
    out << drawing;
    out.close();
    if (!out) {
        throw Failure(kExitFailure, "cannot_write", "cannot write " + path);
    }
}

int run_plan(const Session& session, const PlanArguments& a) {
    const Members members = read_members_file(a.members);
    taskdir::Findings findings(taskdir::task_file_name(a.directory));
    const auto task = taskdir::build_task(a.directory, findings);
    findings.throw_if_wrong();
    const schedule::StepProfile profile = schedule::profile_of(task->program);
    const schedule::Choice choice = schedule::choose(profile, members.machines, members.network, a.options);
    if (choice.shortage) {
        throw Failure(
            kExitFailure, "does_not_fit", shortage_text(*choice.shortage, members.machines.size()),
            {{"plan", plan::to_string(choice.shortage->layout)},
             {"machines", choice.shortage->layout.ranks()},
             {"needed_bytes", static_cast<std::uint64_t>(choice.shortage->needed_bytes)}}
        );
    }
    const PlanReport report{task->spec.title, members, profile, choice, a.options};
    if (!a.svg.empty()) {
        write_drawing(a.svg, plan_svg(report, choice.best[choice.fastest.value_or(0)]));
    }
    session.print(to_json(report), plan_report_text(report));
    return kExitOk;
}

}  // namespace

void add_plan_command(CLI::App& app, Session& session) {
    auto a = std::make_shared<PlanArguments>();
    CLI::App* const command = add_command(
        app, session, "plan", "Predict how long machines take for a task's step, for each way to divide it", a, run_plan
    );
    command->add_option("task", a->directory, "The directory with task.toml")->required();
    command->add_option("--members", a->members, "The machines and the links between them, as TOML")
        ->required()
        ->check(CLI::ExistingFile);
    command->add_option("--turn-steps", a->options.turn_steps, "Steps that a local replica trains on its own")
        ->check(CLI::Range(1U, 1'000'000U))
        ->capture_default_str();
    command
        ->add_option(
            "--fragments", a->options.fragments,
            "Of local replicas: after a turn one of so many parts of the parameters is exchanged (Streaming DiLoCo)"
        )
        ->check(CLI::Range(1U, 65'536U))
        ->capture_default_str();
    command
        ->add_option(
            "--sent-bits", a->options.sent_bits,
            "What it sends of each parameter then: 8 by DiLoCo, 0.125 by SparseLoCo"
        )
        ->check(CLI::Range(0.001, 32.0))
        ->capture_default_str();
    command
        ->add_option("--micro-batches", a->options.micro_batches, "The most parts into which a pipeline cuts the batch")
        ->check(CLI::Range(1U, plan::kMaxMicroBatches))
        ->capture_default_str();
    command->add_option("--seed", a->options.seed, "Seed of the search")->capture_default_str();
    command->add_option("--svg", a->svg, "Draw the best plan");
}

}  // namespace assay::cli
