// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include <tools/demo/demo.hpp>
#include <tools/demo/options.hpp>
#include <tools/demo/workload.hpp>
#include <verifier/taskdir/findings.hpp>

namespace assay::cli {
namespace {

struct DemoArguments {
    demo::DemoOptions options;
    std::string fraud;
    std::string mode = "exact";
    std::string report;
    std::string text;
    std::string home;
    std::string tokenizer;
    std::string task;
    std::string store;
    std::uint64_t steps = 0;
    bool has_plan = false;  ///< --parallel was given
};

constexpr const char* kFraudHelp =
    "One task with this fraud; without it, an honest task and a tile fraud. With --workers, what the account of "
    "a rank does: zeros@RANK, stale@RANK, withhold@RANK; where each step is computed together also shard@RANK, "
    "reduce@RANK, stage@RANK and equivocate@RANK; of replicas lane@RANK, and of the last rank outer@RANK and "
    "fold@RANK. With collude@RANK all accounts but that one cheat";

/// kFraudHelp with the kinds that need no rank, one word each: a manual has to break lines between them.
std::string fraud_help() {
    std::string out = kFraudHelp;
    const char* before = ". KIND is ";
    for (const std::string& name : demo::fraud_names()) {
        out += std::exchange(before, ", ") + name;
    }
    return out;
}

demo::DemoOptions demo_options_of(const DemoArguments& arguments, bool json) {
    demo::DemoOptions options = arguments.options;
    if (const auto member = demo::decode_group_fraud(arguments.fraud)) {
        options.culprit_kind = member->first;
        options.culprit = member->second;
        options.accounts = true;
    } else if (!arguments.fraud.empty()) {
        options.fraud = demo::decode_fraud(arguments.fraud);
    }
    if (!arguments.report.empty()) {
        options.report = arguments.report;
    }
    if (!arguments.home.empty()) {
        options.home = arguments.home;
    }
    if (!arguments.tokenizer.empty()) {
        options.tokenizer = arguments.tokenizer;
    }
    if (!arguments.task.empty()) {
        options.task = arguments.task;
    }
    options.store = demo::decode_store_kind(arguments.store);
    if (arguments.steps != 0) {
        options.steps = arguments.steps;
    }
    options.accounts = options.accounts || options.joining || options.leaving || options.slow;
    options.tolerance = arguments.mode == "tolerance";
    options.text = arguments.text;
    options.json = json;
    return options;
}

int play(const demo::DemoOptions& options, bool has_plan) {
    try {
        demo::check_options(options);
        if (has_plan && options.workers == 1) {
            throw std::runtime_error(
                "--parallel " + options.parallel +
                " is how several machines divide the work: give --workers 2 or more, or leave it out"
            );
        }
    } catch (const taskdir::TaskDirectoryError&) {
        throw;
    } catch (const std::runtime_error& error) {
        throw Failure(kExitUsage, "usage", error.what());
    }
    try {
        return demo::run_demo(options);
    } catch (const demo::NotHere& missing) {
        throw Failure(kExitSkipped, "not_here", missing.what());
    }
}

void add_group_options(CLI::App& command, const std::shared_ptr<DemoArguments>& a) {
    command.add_flag(
        "--accounts", a->options.accounts,
        "Each of the workers is an account of its own, and they train as a group: they compute each step together, or "
        "with diloco, sparseloco and streaming train replicas in turn"
    );
    command.add_option(
        "--join", a->options.joining, "With --accounts: the rank of an account that comes once the others train"
    );
    command.add_option(
        "--leave", a->options.leaving, "With --accounts: the rank of an account that stops before they are done"
    );
    command.add_option(
        "--slow", a->options.slow,
        "With --accounts: the rank of an account whose machine computes ten times slower; the seats are given anew by "
        "measured speed"
    );
    command.add_option(
        "--audit-every", a->options.audit_every,
        "With --accounts: each account that computes with the others replays alone one of so many segments"
    );
}

void add_store_options(CLI::App& command, const std::shared_ptr<DemoArguments>& a) {
    command
        .add_option(
            "--store", a->store,
            "One honest task whose artifacts and checkpoints lie in this store, and whose solver is switched off when "
            "it has completed: directory (two of them), s3 or ipfs"
        )
        ->check(CLI::IsMember(demo::store_kind_names()));
    command.add_flag(
        "--chaos", a->options.chaos,
        "The same with faults: a solver and verifiers that are killed, a store that goes away and comes back, and lost "
        "disks"
    );
    command.add_flag(
        "--nat", a->options.nat,
        "One honest task whose solver and verifiers are each behind a home router that lets nobody in: what they make "
        "is "
        "fetched through a relay, which is killed once. In network namespaces of this machine"
    );
}

void add_private_option(CLI::App& command, const std::shared_ptr<DemoArguments>& a) {
    command.add_flag(
        "--private", a->options.is_private,
        "One task that only its submitter and who is drawn for it can read: everything of it that stores have is "
        "encrypted. With --fraud wrong-keys, keys-withheld or wrong-chunk its solver cheats those who are to judge it, "
        "and with wrong-shares its submitter the solver that is drawn"
    );
}

void add_watching_options(CLI::App& command, const std::shared_ptr<DemoArguments>& a) {
    command.add_flag_callback(
        "--no-open", [a] { a->options.open = false; },
        "Open no browser; without this the explorer is opened if there is a display and the story is read on a terminal"
    );
    command.add_flag("--keep-running", a->options.keep_running, "Leave the network up after the end, until Ctrl-C");
}

}  // namespace

void add_demo_command(CLI::App& app, Session& session) {
    auto a = std::make_shared<DemoArguments>();
    a->text = a->options.text.string();
    CLI::App* command = app.add_subcommand("demo", "A whole network on this machine, from submission to settlement");
    command->add_option("--fraud", a->fraud, fraud_help())
        ->check(CLI::Validator(demo::complaint_about_fraud, "KIND or KIND@RANK"));
    command->add_option("--report", a->report, "Write the report as JSON");
    command->add_option("--seed", a->options.seed, "Keys, initial parameters and batch order follow from it")
        ->capture_default_str();
    command
        ->add_option(
            "--validators", a->options.validators,
            "Number of validators under CometBFT, with workers at different ones; 0: one node with the embedded engine"
        )
        ->capture_default_str();
    command->add_option("--mode", a->mode, "exact: equal to the canonical replay; tolerance: near enough to it")
        ->check(CLI::IsMember({"exact", "tolerance"}))
        ->capture_default_str();
    command->add_option("--watchers", a->options.watchers, "Number of watchers that are drawn for each verdict")
        ->check(CLI::Range(1, 16));
    command
        ->add_option(
            "--workers", a->options.workers, "Machines of the solver, each a process; more than one are a cell"
        )
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    const CLI::Option* const plan =
        command
            ->add_option(
                "--parallel", a->options.parallel,
                "How the machines of a cell divide each step: dp, zero1, zero2, zero3, tp, pp, or combinations as "
                "dp2tp2; "
                "pp+1f1b4 has micro-batches; dgc, diloco, sparseloco and streaming train a replica on each machine"
            )
            ->capture_default_str();
    add_group_options(*command, a);
    add_store_options(*command, a);
    add_private_option(*command, a);
    add_watching_options(*command, a);
    auto* model = command
                      ->add_option(
                          "--model", a->options.model,
                          "What is trained: a model of characters, a GPT of 10.8 million parameters, or GPT-2 small"
                      )
                      ->check(CLI::IsMember(demo::workload_names()))
                      ->capture_default_str();
    auto* steps = command->add_option("--steps", a->steps, "Training steps; default: as many as the model takes")
                      ->check(CLI::PositiveNumber);
    auto* text = command->add_option("--text", a->text, "The text to train on")->capture_default_str();
    auto* tokenizer = command->add_option(
        "--tokenizer", a->tokenizer, "tokenizer.json of the text; without it each character is a token"
    );
    command->add_option("--task", a->task, "A task directory to train instead, as `assay task submit` takes it")
        ->excludes(model)
        ->excludes(steps)
        ->excludes(text)
        ->excludes(tokenizer);
    command->add_option("--home", a->home, "An empty directory to use and keep; default: a temporary one");
    command->callback([a, plan, &session] {
        a->has_plan = plan->count() > 0;
        session.command = [a, &session] { return play(demo_options_of(*a, session.json()), a->has_plan); };
    });
}

}  // namespace assay::cli
