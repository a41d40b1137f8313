// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include <core/codec/borsh.hpp>
#include <tools/cli/common/arguments.hpp>
#include <tools/cli/audit/segment_records.hpp>
#include <tools/cli/common/table.hpp>
#include <verifier/stores/location.hpp>
#include <contracts/state/members.hpp>
#include <core/system/process.hpp>
#include <core/system/temporary_directory.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

struct VerifyArguments {
    std::string task;
    std::uint32_t segment = 0;
    std::string worker;
    std::string device = "cpu";
    int threads = 1;
    std::shared_ptr<Trusting> trusting;
};

/// Beside this program, or on the PATH.
std::filesystem::path find_worker(const std::string& given) {
    if (!given.empty()) {
        return given;
    }
    std::vector<std::filesystem::path> directories{std::filesystem::read_symlink("/proc/self/exe").parent_path()};
    const char* path = std::getenv("PATH");
    std::istringstream parts(path == nullptr ? "" : path);
    for (std::string part; std::getline(parts, part, ':');) {
        directories.emplace_back(part);
    }
    for (const auto& directory : directories) {
        if (::access((directory / "assay-worker").c_str(), X_OK) == 0) {
            return directory / "assay-worker";
        }
    }
    throw Failure(
        kExitConfig, "no_worker", "assay-worker, which executes the segment, is neither beside assay nor on the PATH",
        {{"hint", "build it (it needs libtorch) or name it with --worker FILE"}}
    );
}

void write_records(const std::filesystem::path& path, const artifacts::SegmentRecords& records) {
    const Bytes bytes = codec::encode(records);
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) {
        throw std::runtime_error("cannot write " + path.string());
    }
}

/// What the worker said; its lines come on a thread of the process's.
class Events {
  public:
    explicit Events(const Session& session) : session_(session) {}
    void take(const std::string& line) {
        const json event = json::parse(line, nullptr, false);
        if (!event.is_object()) {
            return;
        }
        const std::lock_guard lock(mutex_);
        const std::string name = event.value("event", "");
        if (name == "fetching") {
            session_.progress("fetching the program, the dataset and the checkpoints");
        } else if (name == "replay") {
            session_.progress("step " + to_text(event.at("step")) + " of " + to_text(event.at("steps")));
        } else if (name == "replayed") {
            result_ = event;
            result_->erase("event");
        } else if (name == "unable") {
            reason_ = event.value("reason", "");
        }
    }
    std::optional<json> result() const {
        const std::lock_guard lock(mutex_);
        return result_;
    }
    std::string reason() const {
        const std::lock_guard lock(mutex_);
        return reason_;
    }

  private:
    const Session& session_;
    mutable std::mutex mutex_;
    std::optional<json> result_;
    std::string reason_;
};

std::string last_line(const std::filesystem::path& log) {
    std::ifstream file(log);
    std::string last;
    for (std::string line; std::getline(file, line);) {
        last = line.empty() ? last : line;
    }
    return last;
}

/// Where artifacts of the task may be that their own locations do not have (AVL-9).
std::vector<std::string> other_locations(client::RpcClient& rpc, const contracts::Task& task) {
    std::vector<std::string> out;
    for (const std::uint32_t index : contracts::latest_checkpoints(task)) {
        if (const auto checkpoint = rpc.checkpoint(task.id, index)) {
            for (const std::string& location : stores::split_locations(checkpoint->location)) {
                if (stores::decode_location(location)) {
                    out.push_back(location);
                }
            }
        }
    }
    return out;
}

json replay(const Session& session, const VerifyArguments& a, const artifacts::SegmentRecords& records) {
    const system::TemporaryDirectory workspace("assay-verify");
    const auto file = workspace.path() / "segment.borsh";
    const auto log = workspace.path() / "worker.log";
    write_records(file, records);
    Events events(session);
    int status = 0;
    {
        std::vector<std::string> command{
            find_worker(a.worker).string(),
            "replay",
            "--home",
            workspace.path().string(),
            "--records",
            file.string(),
            "--device",
            a.device,
            "--threads",
            std::to_string(a.threads),
            "--progress",
            "json"};
        client::RpcClient rpc = session.rpc();
        for (const std::string& location : other_locations(rpc, records.task)) {
            command.insert(command.end(), {"--artifact-source", location});
        }
        system::Process worker("assay-worker", command, log, [&events](const std::string& line) { events.take(line); });
        while (!worker.exit_status()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        status = *worker.exit_status();
    }
    if (const auto result = events.result()) {
        return *result;
    }
    const std::string reason = events.reason().empty() ? last_line(log) : events.reason();
    throw Failure(
        kExitFailure, "unable",
        "the segment could not be executed, which says nothing about the solver: " +
            (reason.empty() ? "assay-worker ended with " + std::to_string(status) : reason)
    );
}

std::string result_text(const json& result, const artifacts::SegmentRecords& records) {
    Facts facts;
    facts.add("task", to_text(result.at("task")));
    facts.add("segment", to_text(result.at("segment")) + ", " + to_text(result.at("steps")) + " steps executed");
    facts.add("claimed", to_text(result.at("claimed")));
    facts.add("replayed", to_text(result.at("replayed")));
    if (result.contains("diverged_at")) {
        facts.add("diverged", "at step " + to_text(result.at("diverged_at")));
    }
    if (result.contains("drift")) {
        for (const char* part : {"parameters", "other"}) {
            facts.add(
                "drift of " + std::string(part), to_text(result.at("drift").at(part)) + " billionths of the update; " +
                                                     to_text(result.at("threshold").at(part)) + " are tolerated"
            );
        }
        return facts.text() + (result.at("holds") == true
                                   ? "\nThe solver's claim holds: the replay is near enough."
                                   : "\nThe solver's claim is wrong: the replay is too far away.");
    }
    if (result.at("holds") == true) {
        return facts.text() + "\nThe solver's claim holds: the replay gives the checkpoint's state root.";
    }
    const bool open = records.task.state >= contracts::TaskState::kCompleted &&
                      records.task.state <= contracts::TaskState::kChallenge;
    return facts.text() + "\nThe solver's claim is wrong: the replay gives another state root." +
           (open ? "\nAnyone with free whistleblower stake may dispute it: assay-worker whistleblow" : "");
}

int run_segment(const Session& session, const VerifyArguments& a) {
    client::RpcClient rpc = session.rpc();
    const auto records =
        prove_segment(rpc, decode_id<contracts::TaskId>(a.task, "task"), a.segment, trust_of(session, *a.trusting));
    const json result = replay(session, a, records);
    session.print(result, result_text(result, records));
    return result.at("holds") == true ? kExitOk : kExitRefuted;
}

}  // namespace

void add_verify_command(CLI::App& app, Session& session) {
    auto a = std::make_shared<VerifyArguments>();
    CLI::App& group = *app.add_subcommand("verify", "Checks that need no account and no stake")->require_subcommand(1);
    CLI::App* command = group.add_subcommand("segment", "Execute a segment again and compare with what the chain says");
    command->add_option("task", a->task, "The task's id")->required();
    command
        ->add_option(
            "segment", a->segment,
            "The segment's number; 0 is the initialisation, and the one after the last is the evaluation"
        )
        ->required();
    command->add_option("--worker", a->worker, "The assay-worker to use; default: beside assay, or on the PATH");
    command->add_option("--device", a->device, "torch device, e.g. cpu or cuda:0")->capture_default_str();
    command->add_option("--threads", a->threads, "Threads of the engine")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    a->trusting = add_trust_options(*command);
    command->callback([&session, a] { session.command = [&session, a] { return run_segment(session, *a); }; });
}

}  // namespace assay::cli
