// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <tools/cli/common/add_command.hpp>

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include <verifier/taskdir/task_directory.hpp>
#include <tools/cli/task/task_estimate.hpp>
#include <tools/cli/task/task_lint.hpp>
#include <tools/cli/task/task_text.hpp>
#include <tools/cli/store/store_text.hpp>

/// What can be done with a task directory and no node.
namespace assay::cli {
namespace {

struct TaskDirectoryArguments {
    std::string directory;
    std::string store;
    std::string location;
    EstimateOptions estimate;
};

int run_lint(const Session& session, const TaskDirectoryArguments& a) {
    const taskdir::Findings findings = lint_task(a.directory);
    session.print(to_json(findings), findings_text(findings));
    return findings.has_errors() ? kExitConfig : kExitOk;
}

int run_estimate(const Session& session, const TaskDirectoryArguments& a) {
    taskdir::Findings findings(taskdir::task_file_name(a.directory));
    const auto task = taskdir::build_task(a.directory, findings);
    findings.throw_if_wrong();
    const Estimate estimate = estimate_task(*task, a.estimate);
    session.print(to_json(estimate, *task), estimate_text(estimate, *task));
    return kExitOk;
}

int run_pack(const Session& session, const TaskDirectoryArguments& a) {
    check_locations(a.location);
    artifacts::ContentStore store(a.store);
    const contracts::TaskSpec spec = taskdir::pack_task(a.directory, store, a.location);
    session.print(to_json(spec), spec_text(spec) + "the artifacts are in " + a.store);
    return kExitOk;
}

CLI::App& add_for_directory(
    CLI::App& group, Session& session, const char* name, const char* help, TaskDirectoryArguments*& arguments,
    int (*run)(const Session&, const TaskDirectoryArguments&)
) {
    auto a = std::make_shared<TaskDirectoryArguments>();
    arguments = a.get();
    CLI::App* const command = add_command(group, session, name, help, a, run);
    command->add_option("directory", a->directory, "The directory with task.toml")->required();
    return *command;
}

}  // namespace

void add_task_directory_commands(CLI::App& group, Session& session) {
    add_task_init_command(group, session);
    TaskDirectoryArguments* a = nullptr;
    add_for_directory(
        group, session, "lint", "Check a task directory: what is wrong, and what may not be meant", a, run_lint
    );
    CLI::App& estimate = add_for_directory(
        group, session, "estimate", "Estimate a task's work, time, price, memory, checkpoints and largest dispute", a,
        run_estimate
    );
    estimate
        .add_option(
            "--memory", a->estimate.memory_bytes,
            "What a machine has for the task, as in 16GiB; 0: what this one has available"
        )
        ->transform(CLI::AsSizeValue(false))
        ->default_str("0");
    estimate.add_option("--score", a->estimate.score, "This machine's score, which `assay-worker benchmark` says");
    estimate.add_option("--threads", a->estimate.threads, "Threads of its engine")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    CLI::App& pack =
        add_for_directory(group, session, "pack", "Build a task's artifacts without submitting it", a, run_pack);
    pack.add_option("--store", a->store, "Where the artifacts go; made when missing")->required();
    pack.add_option(
        "--location", a->location, "Where the store is served or was put: a location, or several between spaces"
    );
}

}  // namespace assay::cli
