// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/economics/economics_command.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include <tools/cli/common/commands.hpp>
#include <tools/economics/svg.hpp>

namespace assay::cli {
namespace {

struct EconomicsArguments {
    std::string costs;
    std::string task;
    std::string svg;
    bool check = false;
    std::uint32_t runs = 2'000;
    std::uint32_t tasks = 5'000;
    std::uint64_t seed = 1;
};

/// Of `tasks`; there is at least one.
economics::TaskCosts chosen_task(const std::vector<economics::TaskCosts>& tasks, const std::string& name) {
    const std::string wanted = name.empty() ? "usual" : name;
    std::string known;
    for (const economics::TaskCosts& task : tasks) {
        if (task.name == wanted) {
            return task;
        }
        known += (known.empty() ? "" : ", ") + task.name;
    }
    if (name.empty()) {
        return tasks.front();
    }
    throw Failure(kExitUsage, "usage", "the chain admits no task named \"" + name + "\"; there are: " + known);
}

/// TASK-14: those that a chain with these parameters lets in.
std::vector<economics::TaskCosts> admitted_tasks(
    const economics::Parameters& parameters, const economics::Costs& costs
) {
    std::vector<economics::TaskCosts> out;
    std::copy_if(costs.tasks.begin(), costs.tasks.end(), std::back_inserter(out), [&](const auto& task) {
        return economics::is_admitted(parameters, costs, task);
    });
    if (out.empty()) {
        throw Failure(
            kExitFailure, "nothing_admitted",
            "each of the tasks is worth more than task_value_max: there is nothing to judge; raise it, and "
            "contributor_bond with it"
        );
    }
    return out;
}

std::vector<economics::Constraint> failing(const std::vector<economics::Constraint>& constraints) {
    std::vector<economics::Constraint> out;
    std::copy_if(constraints.begin(), constraints.end(), std::back_inserter(out), [](const economics::Constraint& c) {
        return !c.holds();
    });
    return out;
}

/// One line of a terminal that is written over; nothing elsewhere.
void show_progress(const std::string& text) {
    if (::isatty(STDERR_FILENO) == 1) {
        std::cerr << "\r\033[K" << text << std::flush;
    }
}

Failure no_parameters(const std::vector<economics::Constraint>& failed) {
    nlohmann::json list = nlohmann::json::array();
    std::string message = "no parameters satisfy all constraints";
    std::set<std::string> told;
    for (const economics::Constraint& c : failed) {
        list.push_back(economics::to_json(c));
        if (told.insert(c.name).second) {
            message += "\n  " + c.name + " (" + c.parameter + ", task \"" + c.task + "\") fails: " + c.meaning +
                       "; what would help: " + c.help;
        }
    }
    return {kExitFailure, "no_parameters", message, {{"failing", std::move(list)}}};
}

void find_parameters(economics::Report& report, const EconomicsFile& file) {
    const economics::Solution solution = economics::solve(file.parameters, file.costs, [](std::uint32_t percent) {
        show_progress("looking for parameters: " + std::to_string(percent) + " %");
    });
    show_progress("");
    if (!solution.found) {
        throw no_parameters(failing(solution.constraints));
    }
    report.solved = true;
    report.parameters = solution.parameters;
    report.candidates = solution.candidates;
    report.feasible = solution.feasible;
}

void simulate(economics::Report& report, const economics::Costs& costs, const EconomicsArguments& a) {
    if (a.runs > 0) {
        report.attacks = economics::run_attacks(
            report.setting, costs,
            {.runs = a.runs,
             .seed = a.seed,
             .progress = [](const std::string& name) { show_progress("attack: " + name); }}
        );
    }
    if (a.tasks > 0) {
        const auto progress = [](const std::string& name, std::uint32_t percent) {
            show_progress("population " + name + ": " + std::to_string(percent) + " %");
        };
        report.populations =
            economics::run_populations(report.setting, costs, {.tasks = a.tasks, .seed = a.seed, .progress = progress});
    }
    show_progress("");
}

void write_svg(const std::string& path, const economics::Report& report) {
    if (report.populations.empty()) {
        throw Failure(
            kExitUsage, "usage",
            "--svg draws simulated populations, and --tasks 0 simulates none: give --tasks at least 1"
        );
    }
    std::ofstream out(path, std::ios::binary);
    out << economics::to_svg(report.populations);
    out.close();
    if (!out) {
        throw Failure(kExitFailure, "cannot_write", "cannot write " + path);
    }
}

int run(const Session& session, const EconomicsArguments& a) {
    const EconomicsFile file = read_economics_file(a.costs);
    economics::Report report;
    report.parameters = file.parameters;
    report.seed = a.seed;
    if (!a.check) {
        static_cast<void>(chosen_task(file.costs.tasks, a.task));  // a wrong name is said before the search
        find_parameters(report, file);
    }
    const economics::TaskCosts task = chosen_task(admitted_tasks(report.parameters, file.costs), a.task);
    report.task = task.name;
    report.constraints = economics::check(report.parameters, file.costs);
    report.binding = economics::binding_of(report.constraints);
    report.overhead = economics::overhead(report.parameters, file.costs);
    report.refused = economics::refusals(report.parameters, file.costs);
    report.chain_refused = economics::refusals(economics::chain_defaults(), file.costs);
    report.chain_failures = failing(economics::check(economics::chain_defaults(), file.costs));
    report.work = economics::work_of(report.parameters, file.costs);
    report.setting = economics::make_setting(report.parameters, file.costs, task);
    report.least_segments = economics::least_segments(report.parameters, file.costs, task);
    report.skipping = economics::skipping_of(report.setting, file.costs);
    report.griefing = economics::griefing_of(report.setting);
    report.liability = economics::liability_of(report.setting, file.costs);
    report.voluntary = economics::voluntary_of(report.setting);
    report.treasury_start = 3.0 * economics::needed_win(report.setting, file.costs) / report.setting.forced_rate;
    simulate(report, file.costs, a);
    if (!a.svg.empty()) {
        write_svg(a.svg, report);
    }
    session.print(economics::to_json(report), to_text(report));
    const bool pays =
        std::any_of(report.attacks.begin(), report.attacks.end(), [](const economics::AttackResult& attack) {
            return attack.model_gain > 0.0;
        });
    return pays || !failing(report.constraints).empty() ? kExitFailure : kExitOk;
}

}  // namespace

void add_economics_command(CLI::App& app, Session& session) {
    auto a = std::make_shared<EconomicsArguments>();
    CLI::App* command = app.add_subcommand(
        "economics", "Parameters under which honesty pays each role best, and what every attack brings"
    );
    command->add_option("--costs", a->costs, "Prices, adversaries, tasks and parameters, as TOML; default: built in")
        ->check(CLI::ExistingFile);
    command->add_flag(
        "--check", a->check, "Judge the given parameters (or the chain's) instead of looking for the cheapest"
    );
    command->add_option(
        "--task", a->task, "The task that attacks and populations play; default: \"usual\", or the first"
    );
    command->add_option("--runs", a->runs, "Simulated runs of each attack; 0: none")->capture_default_str();
    command->add_option("--tasks", a->tasks, "Tasks of each population; 0: none")->capture_default_str();
    command->add_option("--seed", a->seed, "Seed of the simulations")->capture_default_str();
    command->add_option("--svg", a->svg, "Draw the populations' wealth over time");
    command->callback([a, &session] { session.command = [a, &session] { return run(session, *a); }; });
}

}  // namespace assay::cli
