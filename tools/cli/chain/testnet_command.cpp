// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include <core/system/process.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

std::atomic<bool> stop_requested{false};
extern "C" void on_signal(int /*signal*/) { stop_requested = true; }

constexpr std::chrono::seconds kReadyTimeout{60};
constexpr const char* kReady = "assayd ready: ";

/// One assayd, and what it printed when it was ready.
class RunningNode {
  public:
    RunningNode(const std::filesystem::path& program, const std::filesystem::path& home)
        : home_(home),
          process_(
              "assayd", {program.string(), "start", "--home", home.string()}, home / "data" / "assayd.log",
              [this](const std::string& line) { take(line); }
          ) {}
    const std::filesystem::path& home() const { return home_; }
    /// Its RPC's URL; empty until it is ready.
    std::string url() const {
        const std::lock_guard lock(mutex_);
        return url_;
    }
    bool has_ended() { return process_.exit_status().has_value(); }
    pid_t pid() const { return process_.pid(); }
    void stop() { process_.stop(std::chrono::seconds(20)); }

  private:
    void take(const std::string& line) {
        const std::size_t at = line.find("rpc ");
        if (line.starts_with(kReady) && at != std::string::npos) {
            const std::lock_guard lock(mutex_);
            url_ = line.substr(at + 4);
        }
    }
    std::filesystem::path home_;
    mutable std::mutex mutex_;
    std::string url_;
    system::Process process_;
};

std::vector<std::filesystem::path> find_homes(const std::filesystem::path& directory) {
    std::vector<std::filesystem::path> out;
    while (std::filesystem::exists(directory / ("node" + std::to_string(out.size())) / "config.toml")) {
        out.push_back(directory / ("node" + std::to_string(out.size())));
    }
    if (out.empty()) {
        throw Failure(
            kExitConfig, "no_testnet", directory.string() + " has no node0",
            {{"hint", "assayd testnet --validators 4 --home " + directory.string()}}
        );
    }
    return out;
}

/// Throws Failure when a node ended, naming its log.
void check_running(std::vector<std::unique_ptr<RunningNode>>& nodes) {
    for (const auto& node : nodes) {
        if (node->has_ended()) {
            throw Failure(
                kExitFailure, "node_ended",
                node->home().string() + " ended; its log is " + (node->home() / "data" / "assayd.log").string()
            );
        }
    }
}

/// A node that ended is let go, so that it can be stopped and started alone. Throws Failure when it was the last one.
void tell_of_ended(const Session& session, std::vector<std::unique_ptr<RunningNode>>& nodes) {
    for (auto at = nodes.begin(); at != nodes.end();) {
        if (!(*at)->has_ended()) {
            ++at;
            continue;
        }
        const std::filesystem::path home = (*at)->home();
        const std::string log = (home / "data" / "assayd.log").string();
        if (nodes.size() == 1) {
            throw Failure(kExitFailure, "node_ended", home.string() + " ended, the last one; its log is " + log);
        }
        session.progress(home.string() + " ended (" + log + "); assayd start --home " + home.string() + " goes on");
        at = nodes.erase(at);
    }
}

int run_up(const Session& session, const std::string& directory) {
    const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "assayd";
    std::vector<std::unique_ptr<RunningNode>> nodes;
    for (const auto& home : find_homes(directory)) {
        nodes.push_back(std::make_unique<RunningNode>(program, home));
    }
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
    const auto give_up_at = std::chrono::steady_clock::now() + kReadyTimeout;
    json answer = json::array();
    std::string text;
    for (const auto& node : nodes) {
        while (node->url().empty() && !stop_requested) {
            check_running(nodes);
            if (std::chrono::steady_clock::now() > give_up_at) {
                throw Failure(kExitTimeout, "not_ready", node->home().string() + " did not become ready");
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        answer.push_back({{"home", node->home().string()}, {"rpc", node->url()}, {"pid", node->pid()}});
        text += "  " + node->home().string() + "  " + node->url() + "  process " + std::to_string(node->pid()) + "\n";
    }
    session.print(
        {{"nodes", std::move(answer)}}, std::to_string(nodes.size()) + " nodes run; Ctrl-C stops them\n" + text
    );
    while (!stop_requested) {
        tell_of_ended(session, nodes);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    session.progress("stopping");
    for (const auto& node : nodes) {
        node->stop();
    }
    return kExitOk;
}

}  // namespace

void add_testnet_command(CLI::App& app, Session& session) {
    auto directory = std::make_shared<std::string>();
    CLI::App& group = *app.add_subcommand("testnet", "Many validators on this machine")->require_subcommand(1);
    CLI::App* command = group.add_subcommand("up", "Run every node of a testnet that `assayd testnet` wrote");
    command->add_option("--testnet", *directory, "Directory that assayd testnet wrote")->required();
    command->callback([&session, directory] {
        session.command = [&session, directory] { return run_up(session, *directory); };
    });
}

}  // namespace assay::cli
