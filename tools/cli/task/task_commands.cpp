// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>

#include <contracts/params/retention.hpp>
#include <contracts/params/work.hpp>
#include <tools/cli/common/add_command.hpp>
#include <tools/cli/common/arguments.hpp>
#include <tools/cli/task/fetch_checkpoint.hpp>
#include <tools/cli/common/table.hpp>
#include <verifier/taskdir/task_directory.hpp>
#include <tools/cli/task/task_lint.hpp>
#include <tools/cli/task/task_losses.hpp>
#include <tools/cli/task/task_text.hpp>
#include <tools/cli/store/store_text.hpp>
#include <verifier/artifacts/server.hpp>

namespace assay::cli {
namespace {

using contracts::TaskId;
using nlohmann::json;

struct TaskArguments {
    std::string task;
    std::string directory;
    std::string store;
    std::string location;
    std::string listen = "127.0.0.1:0";
    std::string state;
    std::string out;
    std::optional<std::uint32_t> checkpoint;
    std::uint64_t limit = 50;
    bool force = false;
    std::shared_ptr<Signing> signing;
};

TaskId task_argument(const TaskArguments& a) { return decode_id<TaskId>(a.task, "task"); }

/// What `task lint` calls an error costs the reward or the fee when it is submitted.
void check_before_submitting(const Session& session, const TaskArguments& a) {
    session.progress("checking the task, as `assay task lint` does ...");
    const taskdir::Findings findings = lint_task(a.directory);
    if (!findings.has_errors()) {
        return;
    }
    if (!a.force) {
        throw Failure(
            kExitConfig, "task_has_errors",
            "the task is not submitted:\n" + findings_text(findings) + "--force submits it all the same"
        );
    }
    session.progress(findings_text(findings) + "submitted all the same, because of --force");
}

/// RET-1: what the chain would refuse after a fee.
void check_retention_of(const contracts::Params& params, const contracts::TaskSpec& spec) {
    if (contracts::check_retention(params, spec)) {
        return;
    }
    const std::uint64_t least = std::uint64_t{params.retention_shows} * params.retention_show_blocks;
    const Amount fee = contracts::retention_fee_min(params, spec, spec.retention->blocks);
    throw usage(
        "the chain keeps no such result (retention_unfit): retention_blocks has to be " + std::to_string(least) +
        " to " + std::to_string(params.retention_blocks_max) +
        ", and for this time and memory retention_fee at least " + amount_text(std::to_string(fee.grains)) +
        " and at most the task's value, " + amount_text(std::to_string(contracts::task_value(spec).grains))
    );
}

/// WRK rules, RET-1: says what the chain would refuse with the numbers that it asks for.
void check_work_of(const Session& session, const TaskArguments& a, const contracts::TaskSpec& spec) {
    client::RpcClient rpc = session.rpc();
    const contracts::Params params = proven_chain(session, *a.signing, rpc).params();
    check_retention_of(params, spec);
    const auto checked = contracts::check_work(params, spec);
    if (checked) {
        return;
    }
    const std::string refused = std::string("the chain takes no such task (") + to_string(checked.error()) + "): ";
    switch (checked.error()) {
        case contracts::TxError::kSegmentTooLong:
            throw usage(
                refused + "the slowest machine of its class takes " +
                std::to_string(contracts::replay_blocks(params, spec)) + " blocks for a segment, of at most " +
                std::to_string(params.replay_blocks_max) +
                "; make checkpoint_interval smaller, or name a faster hardware_class"
            );
        case contracts::TxError::kTimeTooShort:
            throw usage(
                refused + "training_blocks has to be at least " +
                std::to_string(contracts::training_blocks_min(params, spec)) + " for its work, or hardware_class faster"
            );
        default:
            throw usage(
                refused + "verification_fee has to be at least " +
                amount_text(std::to_string(contracts::fee_at(params, spec, params.work_price).grains)) + " for its work"
            );
    }
}

int run_submit(const Session& session, const TaskArguments& a) {
    check_before_submitting(session, a);
    check_locations(a.location);
    artifacts::ContentStore store(a.store);
    const crypto::SecretKey key = unlock(session, *a.signing);
    client::RpcClient rpc = session.rpc();
    const taskdir::Sealing sealing{.key = key, .chain_id = proven_chain(session, *a.signing, rpc).chain_id()};
    const contracts::TaskSpec spec = taskdir::pack_task(a.directory, store, a.location, sealing);
    check_work_of(session, a, spec);
    const client::TxResult result = send(session, *a.signing, key, contracts::SubmitTask{.spec = spec});
    // Only the transaction itself says which nonce it got in the end.
    const json tx = session.rpc().call("tx_get", {{"hash", to_hex(result.hash.view())}});
    const std::string id = to_hex(contracts::task_id(key.account(), tx.at("nonce").get<std::uint64_t>()).view());
    session.print(
        {{"task", id}, {"hash", to_hex(result.hash.view())}, {"height", result.height.value}, {"spec", to_json(spec)}},
        spec_text(spec) + "task " + id + " is submitted in block " + std::to_string(result.height.value) +
            "\nkeep the artifacts served at " + a.location + " until it has ended" +
            (spec.privacy ? "\nit is private: `assay task share-keys " + id +
                                "` gives its keys to the solver that is drawn; run it now, and leave it running"
                          : "")
    );
    return kExitOk;
}

volatile std::sig_atomic_t stop_serving = 0;

int run_serve(const Session& session, const TaskArguments& a) {
    const std::size_t colon = a.listen.rfind(':');
    http::HttpServerOptions options;
    options.address = a.listen.substr(0, colon);
    const std::string port = colon == std::string::npos ? "" : a.listen.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), options.port);
    if (port.empty() || error != std::errc{} || end != port.data() + port.size()) {
        throw usage("--listen takes ADDRESS:PORT, not \"" + a.listen + "\"");
    }
    const artifacts::ContentStore store(a.store);
    artifacts::ArtifactServer server(options, store);
    session.print({{"url", server.url()}}, "serving " + a.store + " at " + server.url() + " until Ctrl-C");
    std::cout << std::flush;
    std::signal(SIGINT, [](int) { stop_serving = 1; });
    std::signal(SIGTERM, [](int) { stop_serving = 1; });
    while (stop_serving == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    server.stop();
    return kExitOk;
}

int run_status(const Session& session, const TaskArguments& a) {
    const json task = session.rpc().call("task_get", {{"task", to_hex(task_argument(a).view())}});
    session.print(task, task_text(task));
    return kExitOk;
}

int run_list(const Session& session, const TaskArguments& a) {
    client::RpcClient rpc = session.rpc();
    const json params = a.state.empty() ? json::object() : json{{"state", a.state}};
    const json answer = list(rpc, "task_list", params, "tasks", a.limit);
    session.print(answer, task_list_text(answer.at("tasks")) + begins_note(answer));
    return kExitOk;
}

int run_history(const Session& session, const TaskArguments& a) {
    client::RpcClient rpc = session.rpc();
    const json answer = list(rpc, "task_history", {{"task", to_hex(task_argument(a).view())}}, "records", a.limit);
    session.print(answer, history_text(answer.at("records")));
    return kExitOk;
}

int run_lineage(const Session& session, const TaskArguments& a) {
    const json answer = session.rpc().call("task_lineage", {{"task", to_hex(task_argument(a).view())}});
    session.print(answer, lineage_text(answer));
    return kExitOk;
}

int run_losses(const Session& session, const TaskArguments& a) {
    client::RpcClient rpc = session.rpc();
    const TaskId task = task_argument(a);
    const auto losses = fetch_losses(rpc, task);
    session.print(losses_json(task, losses), losses_text(losses));
    return kExitOk;
}

int run_fetch(const Session& session, const TaskArguments& a) {
    client::RpcClient rpc = session.rpc();
    if (!a.store.empty() && !std::filesystem::is_directory(a.store)) {
        throw usage(a.store + " is no directory", "--store names a store that `task submit` or `store get` has filled");
    }
    session.progress("fetching the checkpoint ...");
    Trusting at_any_time;
    at_any_time.max_age_s = 0;
    const FetchedCheckpoint fetched = fetch_checkpoint(
        rpc, task_argument(a), a.checkpoint, a.out, trust_of(session, at_any_time),
        [&] { return unlock(session, *a.signing); }, a.store
    );
    const std::string root = to_hex(fetched.checkpoint.state_root.view());
    session.print(
        {{"task", a.task},
         {"checkpoint", fetched.index},
         {"state_root", root},
         {"size_bytes", fetched.size_bytes},
         {"file", a.out},
         {"verified", true}},
        "checkpoint " + std::to_string(fetched.index) + " is in " + a.out + ", " + std::to_string(fetched.size_bytes) +
            " bytes; its state root is the chain's: " + root
    );
    return kExitOk;
}

int run_cancel(const Session& session, const TaskArguments& a) {
    return send_and_print(session, *a.signing, contracts::CancelTask{.task = task_argument(a)}, {{"task", a.task}});
}

struct Adder {
    CLI::App& group;
    Session& session;

    CLI::App& operator()(
        const char* name, const char* help, const std::shared_ptr<TaskArguments>& a,
        int (*run)(const Session&, const TaskArguments&)
    ) const {
        return *add_command(group, session, name, help, a, run);
    }
};

void add_reading(const Adder& add) {
    const auto add_task = [](CLI::App& command, TaskArguments& a) -> CLI::App& {
        command.add_option("task", a.task, "The task's id")->required();
        return command;
    };
    const auto add_limit = [](CLI::App& command, TaskArguments& a) {
        command.add_option("--limit", a.limit, "List at most this many")
            ->check(CLI::PositiveNumber)
            ->capture_default_str();
    };
    auto a = std::make_shared<TaskArguments>();
    add_task(add("status", "Show a task's state, money, checkpoints, verifiers and disputes", a, run_status), *a);
    auto listed = std::make_shared<TaskArguments>();
    CLI::App& all = add("list", "Tasks in the order of submission", listed, run_list);
    all.add_option("--state", listed->state, "open, training, settled, convicted, ...");
    add_limit(all, *listed);
    auto told = std::make_shared<TaskArguments>();
    told->limit = 1'000;
    add_limit(add_task(add("history", "Every transition of a task", told, run_history), *told), *told);
    auto related = std::make_shared<TaskArguments>();
    add_task(
        add("lineage", "List the tasks that a task was built upon, and those that were built upon it", related,
            run_lineage),
        *related
    );
    auto watched = std::make_shared<TaskArguments>();
    add_task(
        add("losses", "Show the losses that a task's solvers claim, also while they train; nobody verifies them",
            watched, run_losses),
        *watched
    );
    auto fetched = std::make_shared<TaskArguments>();
    CLI::App& fetch =
        add_task(add("fetch", "Download a checkpoint and verify it against the chain", fetched, run_fetch), *fetched);
    fetch.add_option("--out", fetched->out, "The safetensors file to write")->required();
    fetch.add_option("--checkpoint", fetched->checkpoint, "Default: the last one");
    fetch.add_option("--store", fetched->store, "A store to look in before anything is fetched");
    fetched->signing = std::make_shared<Signing>();
    fetch.add_option("--from", fetched->signing->from, "Of a private task: the key that submitted it");
    fetch.add_option(
        "--password-file", fetched->signing->password_file,
        "File whose first line is that key's password; default: $ASSAY_PASSWORD, or asked for"
    );
}

}  // namespace

void add_task_commands(CLI::App& app, Session& session) {
    CLI::App& group = *app.add_subcommand("task", "Training tasks")->require_subcommand(1);
    const Adder add{group, session};
    add_task_directory_commands(group, session);
    add_task_keys_command(group, session);
    auto submitted = std::make_shared<TaskArguments>();
    CLI::App& submit = add("submit", "Build a task's artifacts and submit it", submitted, run_submit);
    submit.add_option("directory", submitted->directory, "The directory with task.toml")->required();
    submit.add_option("--store", submitted->store, "Where the artifacts go; made when missing")->required();
    submit
        .add_option(
            "--location", submitted->location,
            "Where the store is served or was put: a location, or several between spaces"
        )
        ->required();
    submit.add_flag("--force", submitted->force, "Submit what `task lint` calls wrong, where it can be packed");
    submitted->signing = add_signing_options(submit);
    auto served = std::make_shared<TaskArguments>();
    CLI::App& serve = add("serve", "Serve a store to solvers and verifiers, until Ctrl-C", served, run_serve);
    serve.add_option("--store", served->store, "The store")->required();
    serve.add_option("--listen", served->listen, "ADDRESS:PORT; port 0 takes any free one")->capture_default_str();
    add_reading(add);
    auto cancelled = std::make_shared<TaskArguments>();
    CLI::App& cancel = add("cancel", "Take a task back that no solver has accepted", cancelled, run_cancel);
    cancel.add_option("task", cancelled->task, "The task's id")->required();
    cancelled->signing = add_signing_options(cancel);
}

}  // namespace assay::cli
