// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <fstream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include <tools/cli/common/add_command.hpp>
#include <tools/cli/plan/members_file.hpp>
#include <tools/cli/plan/plan_report.hpp>
#include <verifier/plan/turns.hpp>
#include <verifier/schedule/timetable.hpp>
#include <verifier/taskdir/task_build.hpp>
#include <verifier/taskdir/task_directory.hpp>

namespace assay::cli {
namespace {

struct PlanArguments {
    std::string directory;
    std::string members;
    std::string svg;
    std::string plan;
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

// Of the plan that was asked for, or of the best of each kind.
schedule::Choice choice_of(
    const PlanArguments& a, const schedule::ChoiceOptions& options, const Members& members,
    const schedule::StepProfile& profile
) {
    if (a.plan.empty()) {
        return schedule::choose(profile, members.machines, members.network, options);
    }
    if (a.plan.ends_with(":auto")) {
        throw Failure(
            kExitUsage, "no_plan",
            "the plan \"" + a.plan +
                "\" is a cell's, which measures its machines while it trains and divides the work by that: give the "
                "shares, as in zero1:5,3, or leave --plan out, and `assay plan` chooses the shares itself"
        );
    }
    const auto layout = plan::decode_layout(a.plan, static_cast<std::uint32_t>(members.machines.size()));
    if (!layout) {
        throw Failure(
            kExitUsage, "no_plan",
            "the plan \"" + a.plan + "\" cannot be made for " + std::to_string(members.machines.size()) +
                " machines; dp, zero1, zero2, zero3, tp and pp can, and combinations such as dp2tp2 whose product that "
                "is; pp+1f1b4 has stages with micro-batches, pp:5,3 and tp:5,3 have unequal parts for two machines, "
                "and "
                "turns trains local replicas"
        );
    }
    schedule::Choice out;
    out.best.push_back(schedule::predict_given(profile, members.machines, members.network, options, *layout));
    return out;
}

int run_plan(const Session& session, const PlanArguments& a) {
    const Members members = read_members_file(a.members);
    taskdir::Findings findings(taskdir::task_file_name(a.directory));
    const auto task = taskdir::build_task(a.directory, findings);
    findings.throw_if_wrong();
    const schedule::StepProfile profile = schedule::profile_of(task->program);
    schedule::ChoiceOptions options = a.options;
    if (const auto turns = plan::find_turns(task->program)) {
        options.turn_steps = turns->steps;
    }
    schedule::Choice choice = choice_of(a, options, members, profile);
    if (profile.is_planned) {
        schedule::time_plans(choice, task->program, profile, members.machines, members.network, options);
    }
    if (choice.shortage) {
        throw Failure(
            kExitFailure, "does_not_fit", shortage_text(*choice.shortage, members.machines.size()),
            {{"plan", plan::to_string(choice.shortage->layout)},
             {"machines", choice.shortage->layout.ranks()},
             {"needed_bytes", static_cast<std::uint64_t>(choice.shortage->needed_bytes)}}
        );
    }
    const PlanReport report{task->spec.title, members, profile, choice, options};
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
    command->add_option(
        "--plan", a->plan,
        "Predict this plan alone, for all machines in their order, as in `assay-worker solve --plan`, but without :auto"
    );
    command
        ->add_option(
            "--turn-steps", a->options.turn_steps,
            "Steps that a local replica trains on its own, unless the task has local replicas"
        )
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
