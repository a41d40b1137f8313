// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/command.hpp>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <client/http/listen_error.hpp>
#include <client/rpc_client.hpp>
#include <core/command/hidden_commands.hpp>
#include <core/command/parse_errors.hpp>
#include <core/system/log/log_options.hpp>
#include <verifier/plan/layout.hpp>
#include <verifier/sandbox/option.hpp>
#include <verifier/worker/account_options.hpp>
#include <verifier/worker/benchmark.hpp>
#include <verifier/worker/cell_command.hpp>
#include <verifier/worker/command_checks.hpp>
#include <verifier/worker/group_options.hpp>
#include <verifier/worker/failure.hpp>
#include <verifier/worker/offers.hpp>
#include <verifier/worker/recovery.hpp>
#include <verifier/worker/run_command.hpp>
#include <verifier/worker/relay_command.hpp>
#include <verifier/worker/segment_check.hpp>
#include <verifier/worker/store_options.hpp>
#include <verifier/worker/ui_command.hpp>
#include <verifier/worker/worker.hpp>

namespace assay::worker {
namespace {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_signal(int /*signal*/) { stop_requested = true; }

void stop_on_signals() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    ::sigaction(SIGTERM, &action, nullptr);
    ::sigaction(SIGINT, &action, nullptr);
}

struct Arguments {
    WorkerOptions worker;
    KeyFiles key;
    std::string listen = "127.0.0.1:0";
    std::string progress = "text";
    std::string records;
    std::string output = "text";
    log::Options log{.program = "assay-worker"};
    std::string params_node;  ///< whose table of classes a benchmark is held against
    double keep_checkpoints_h = 24;
    double keep_results_h = 720;
    double seconds = 3.0;
    bool is_benchmark = false;
    std::string cell_file;       ///< the machines of a cell
    std::string plan = "zero1";  ///< how they divide a step
    std::string member;          ///< which of them this one is; empty: the lead
    bool is_measuring = false;   ///< its links
    MeasureArguments measure;
    bool is_ui = false;
    UiArguments ui;
    std::optional<RelayArguments> relay;
    bool is_recovering = false;
    bool is_launching = false;
    RunArguments run;
    std::uint64_t patience_s = 60;  ///< for each artifact that is recovered
};

void add_engine(CLI::App& command, Arguments& args) {
    command.add_option("--device", args.worker.engine.device, "torch device, e.g. cpu or cuda:0")
        ->capture_default_str();
    command.add_option("--threads", args.worker.engine.threads, "Threads of the engine")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    command
        .add_option(
            "--memory", args.worker.memory_bytes,
            "The most memory that a task may take, as in 16GiB; 0: what is available. Outputs that do not fit are "
            "computed twice"
        )
        ->transform(CLI::AsSizeValue(false))
        ->default_str("0");
}

void add_cell(CLI::App& command, Arguments& args) {
    auto* cell = command.add_option(
        "--cell", args.cell_file, "File that names the machines of a cell, which execute steps together with this one"
    );
    command
        .add_option(
            "--plan", args.plan,
            "How they divide a step: dp, zero1, zero2, zero3, tp, pp, or combinations such as dp2tp2; pp+1f1b8 "
            "cuts the batch into micro-batches for the stages; zero1:5,3 gives the first 5 parts of each batch in 8, "
            "pp:5,3 and tp:5,3 about so much of the layers and of the columns; zero1:auto divides by how fast the "
            "machines compute; turns trains the local replicas of a task that has some"
        )
        ->needs(cell)
        ->capture_default_str();
}

void add_progress(CLI::App& command, Arguments& args) {
    command.add_option("--progress", args.progress, "Form in which progress is printed")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
}

void add_common(CLI::App& command, Arguments& args) {
    command
        .add_option("--home", args.worker.home, "The worker's home: store, journal and lock; one worker per directory")
        ->required();
    add_progress(command, args);
    sandbox::add_option(command);
    log::add_options(command, args.log);
}

void add_listen(
    CLI::App& command, Arguments& args,
    const char* help = "ADDRESS:PORT of the artifact server; port 0 takes that of the last run, else any free one"
) {
    command.add_option("--listen", args.listen, help)->capture_default_str();
}

void add_metrics(CLI::App& command, Arguments& args) {
    command.add_option(
        "--metrics-address", args.worker.metrics_address,
        "Show metrics to Prometheus at this address, without authentication; none by default"
    );
    command.add_option("--metrics-port", args.worker.metrics_port, "Their port; 0: any free one")
        ->needs("--metrics-address")
        ->capture_default_str();
}

/// What stays of tasks that are over, and what is shown to Prometheus.
void add_keeping(CLI::App& command, Arguments& args) {
    constexpr double kHoursMax = 1e6;
    command
        .add_option(
            "--keep-checkpoints", args.keep_checkpoints_h,
            "Hours for which the checkpoints of a task stay in the store after it is over"
        )
        ->check(CLI::Range(0.0, kHoursMax))
        ->capture_default_str();
    command
        .add_option(
            "--keep-results", args.keep_results_h,
            "Hours for which the last checkpoint of a settled task stays, which its submitter fetches"
        )
        ->check(CLI::Range(0.0, kHoursMax))
        ->capture_default_str();
    command.add_flag("--keep-all", args.worker.keep.all, "Delete nothing of what this worker has made");
    add_metrics(command, args);
}

void add_role(CLI::App& command, Arguments& args) {
    add_common(command, args);
    add_listen(command, args);
    add_engine(command, args);
    add_cell(command, args);
    add_account_options(command, args.worker, args.key);
    command
        .add_option(
            "--fee-max", args.worker.pins.fee_max_grains, "The most that one transaction may cost in fees, in grains"
        )
        ->capture_default_str();
    add_fetching_options(command, args.worker);
    add_relay_options(command, args.worker.relays);
    add_publish_options(command, args.worker);
    add_keeping(command, args);
    command.add_option("--seed", args.worker.seed, "Seed of a whistleblower's checking order")->capture_default_str();
    command.add_flag(
        "--reset-breaker", args.worker.reset_breaker,
        "Take work again after stake was slashed; find out first why it was"
    );
}

/// What decides which tasks a solver accepts.
void add_prices(CLI::App& command, Arguments& args) {
    command
        .add_option(
            "--cost-per-hour", args.worker.cost_per_hour_grains, "What an hour of this machine costs you, in grains"
        )
        ->capture_default_str();
    command
        .add_option(
            "--least-profit", args.worker.least_profit_percent,
            "Accept only tasks that pay this many percent above their cost"
        )
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
}

int print_benchmark(const Arguments& args) {
    contracts::Params params;
    if (!args.params_node.empty()) {
        params = client::RpcClient(args.params_node).params();
    }
    const auto benchmark = run_benchmark(args.worker.engine, args.seconds);
    std::cout << (args.output == "json" ? to_json(benchmark, params).dump(2) : to_text(benchmark, params)) << std::endl;
    return command::kExitOk;
}

int run(Arguments& args, const Flavour& flavour) {
    log::start(args.log);
    if (!args.member.empty()) {
        return run_member(args.cell_file, args.member, args.worker);
    }
    stop_on_signals();
    if (!args.is_ui) {
        set_listen(args.worker, args.listen);
    }
    if (args.relay) {
        return run_relay(*args.relay, args.worker, args.progress == "json", stop_requested);
    }
    check_sandbox();
    args.worker.json_progress = args.progress == "json";
    args.worker.keep.checkpoints_s = static_cast<std::uint64_t>(args.keep_checkpoints_h * 3'600);
    args.worker.keep.results_s = static_cast<std::uint64_t>(args.keep_results_h * 3'600);
    args.worker.engine.memory_bytes = memory_max(args.worker);
    if (args.is_ui) {
        return run_ui(args.ui, args.worker, flavour, stop_requested);
    }
    if (args.is_recovering) {
        const std::chrono::seconds patience(args.patience_s);
        return run_recovery(args.worker, read_key(args.key), patience, args.output == "json", stop_requested);
    }
    if (!args.records.empty()) {
        return run_replay(args.records, args.worker, stop_requested);
    }
    if (args.worker.mode == Mode::kServe) {
        return run_server(args.worker, stop_requested);
    }
    const auto members = static_cast<std::uint32_t>(args.worker.partners.size() + 1);
    if (args.worker.together.find(':') != std::string::npos) {
        throw UsageError(
            "--together " + args.worker.together +
            " has shares, and members compute as much as they have of the seats: give --together " +
            without_shares(args.worker.together) + ", and --partner once for each seat of an account"
        );
    }
    const auto layout = plan::decode_layout(args.worker.together, members);
    if (!args.worker.together.empty() && (!layout || layout->turns > 1)) {
        throw UsageError(
            "--together " + args.worker.together + " cannot be made for " + std::to_string(members) +
            " members: this one and one for each --partner; dp, zero1, zero2, zero3, tp and pp can, and "
            "combinations such as dp2tp2 whose product that is"
        );
    }
    check_owner(args.worker);
    if (!args.cell_file.empty()) {
        std::filesystem::create_directories(args.worker.home);
        args.worker.engine.cell = lead_cell(args.cell_file, args.plan, args.worker);
    }
    const auto behaviour = flavour.behaviour(args.worker);
    return run_worker(args.worker, read_key(args.key), *behaviour, stop_requested);
}

/// The subcommands of the three roles.
void add_roles(CLI::App& app, Arguments& args, const Flavour& flavour) {
    auto* solve = app.add_subcommand("solve", "Accept tasks, train them, prove and defend the result");
    add_role(*solve, args);
    add_group_options(*solve, args.worker);
    solve->add_option("--max-tasks", args.worker.tasks_max, "Accept no more than this many; 0: no limit")
        ->capture_default_str();
    solve
        ->add_option(
            "--tasks-at-once", args.worker.tasks_at_once,
            "Answer for no more than this many, and for as many, whatever disputes this machine could play at once; 0: "
            "as many as it could"
        )
        ->capture_default_str();
    add_prices(*solve, args);
    add_environment_option(*solve, args.worker);
    auto* verify = app.add_subcommand("verify", "Replay the segments that this verifier is drawn for");
    add_role(*verify, args);
    verify->add_flag("!--no-beacon", args.worker.contributes, "Take no seat among the beacon's contributors");
    auto* whistleblow = app.add_subcommand("whistleblow", "Replay completed tasks and dispute what is wrong");
    add_role(*whistleblow, args);
    whistleblow
        ->add_option("--join", args.worker.join_grains, "Bond so many grains while few others watch; withdraw later")
        ->capture_default_str();
    whistleblow->add_option("--join-below", args.worker.others_max, "Bond while at most this many others watch")
        ->capture_default_str();
    whistleblow
        ->add_option(
            "--leave-after", args.worker.payout_checks,
            "Withdraw after this many checked verdicts; 0: as many as one forced error takes on average"
        )
        ->capture_default_str();
    for (const auto& [subcommand, mode] :
         {std::pair{solve, Mode::kSolve}, std::pair{verify, Mode::kVerify},
          std::pair{whistleblow, Mode::kWhistleblow}}) {
        subcommand->callback([&args, mode = mode] { args.worker.mode = mode; });
        flavour.add_options(*subcommand, mode);
    }
}

void add_recovery(CLI::App& app, Arguments& args) {
    auto* recover = app.add_subcommand(
        "recover",
        "After a disk was lost: have a home again from the chain, the stores and the key, send nothing, and end"
    );
    add_common(*recover, args);
    add_account_options(*recover, args.worker, args.key);
    add_fetching_options(*recover, args.worker);
    recover->add_option("--patience", args.patience_s, "Seconds to wait for each artifact")
        ->check(CLI::Range(1, 86'400))
        ->capture_default_str();
    recover->add_option("-o,--output", args.output, "How the result is printed")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    recover->callback([&args] { args.is_recovering = true; });
}

void add_relay_command(CLI::App& app, Arguments& args) {
    auto* relay = app.add_subcommand(
        "relay", "Forward connections to workers that cannot be connected to: no account, no stake, no node"
    );
    add_listen(
        *relay, args, "ADDRESS:PORT on which workers and those who fetch from them connect; port 0: any free one"
    );
    auto arguments = std::make_shared<RelayArguments>();
    add_relay_serving(*relay, *arguments);
    add_metrics(*relay, args);
    add_progress(*relay, args);
    log::add_options(*relay, args.log);
    relay->callback([&args, arguments] { args.relay = *arguments; });
}

/// The subcommands that do not work in a role.
void add_tools(CLI::App& app, Arguments& args) {
    auto* serve = app.add_subcommand("serve", "Serve the artifacts in --home and nothing else");
    add_common(*serve, args);
    add_listen(*serve, args);
    add_recovery(app, args);
    add_relay_command(app, args);
    auto* replay = app.add_subcommand("replay", "Execute one segment again: no account, no stake, no node");
    add_common(*replay, args);
    add_source_options(*replay, args.worker.artifact_sources);
    add_engine(*replay, args);
    replay->add_option("--records", args.records, "The segment's records, as `assay verify segment` writes them")
        ->required();
    auto* member =
        app.add_subcommand("member", "Execute steps together with the lead of a cell: no account, no stake, no node");
    member->add_option("--cell", args.cell_file, "File that names the machines of the cell, as the lead has it")
        ->required();
    member->add_option("--name", args.member, "Which of its members this machine is")->required();
    add_engine(*member, args);
    log::add_options(*member, args.log);
    auto* measure = app.add_subcommand(
        "measure-links", "Measure the links of a cell and the speed of its machines, for `assay plan --members`"
    );
    measure->add_option("--cell", args.measure.cell_file, "File that names the machines of the cell")->required();
    measure->add_option("--name", args.measure.member, "Which of its members this machine is; without, the lead");
    measure->add_option("--seconds", args.measure.link_seconds, "How long bytes cross each link, in each direction")
        ->check(CLI::Range(0.1, 600.0))
        ->capture_default_str();
    measure->add_option("--out", args.measure.out, "The lead: where the result goes; a file that is there is replaced")
        ->capture_default_str();
    add_engine(*measure, args);
    measure->callback([&args] { args.is_measuring = true; });
    add_run(app, args.run)->callback([&args] { args.is_launching = true; });
    auto* benchmark = app.add_subcommand("benchmark", "Measure this machine for `assay stake register`");
    add_engine(*benchmark, args);
    benchmark->add_option("--node", args.params_node, "Take the classes from this chain; default: those of a new one");
    benchmark->add_option("--seconds", args.seconds, "How long each of the two measurements takes")
        ->check(CLI::Range(0.1, 600.0))
        ->capture_default_str();
    benchmark->add_option("-o,--output", args.output, "How the result is printed")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    benchmark->callback([&args] { args.is_benchmark = true; });
    auto* ui = add_ui(app, args.ui, args.worker);
    add_node(*ui, args.worker.node);
    sandbox::add_option(*ui);
    log::add_options(*ui, args.log);
    ui->callback([&args, ui] {
        args.is_ui = true;
        if (ui->count("--node") == 0) {
            args.worker.node.url.clear();  // the page's setting
        }
    });
}

/// Which option to change if nothing can be listened on.
std::string advice_on(const http::ListenError& error, const Arguments& args) {
    const auto is_at = [&error](const std::string& address, std::uint16_t port) {
        return error.place() == address + ":" + std::to_string(port);
    };
    const WorkerOptions& worker = args.worker;
    if (!worker.metrics_address.empty() && is_at(worker.metrics_address, worker.metrics_port)) {
        return "stop what listens there, or give another --metrics-address or --metrics-port";
    }
    if (args.is_ui && is_at(worker.listen_address, worker.listen_port)) {
        return "give another --artifact-address";
    }
    return "stop what listens there, or give another address of this machine, or another port, with --listen";
}

int report(const std::exception& error, const std::string& text) {
    if (log::is_started()) {
        log::error(text);
    }
    if (!log::is_started() || log::has_file()) {
        std::cerr << "assay-worker: " << text << std::endl;
    }
    return exit_code_of(error);
}

}  // namespace

int run_command(int argc, char** argv, const Flavour& flavour) {
    CLI::App app{flavour.description};
    app.require_subcommand(1);
    Arguments args;
    add_roles(app, args, flavour);
    add_tools(app, args);
    command::add_hidden_commands(app, "assay-worker");
    try {
        app.parse(argc, argv);
        if (args.is_measuring) {
            return run_measuring(args.measure, args.worker);
        }
        if (args.is_launching) {
            stop_on_signals();
            return run_in_image(args.run, stop_requested);
        }
        return args.is_benchmark ? print_benchmark(args) : run(args, flavour);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {
            return app.exit(error);  // --help
        }
        std::cerr << "assay-worker: " << command::text_of(app, error) << "\n  --help lists what there is" << std::endl;
        return command::kExitUsage;
    } catch (const http::ListenError& error) {
        return report(error, std::string(error.what()) + "; " + advice_on(error, args));
    } catch (const std::exception& error) {
        return report(error, error.what());
    }
}

}  // namespace assay::worker
