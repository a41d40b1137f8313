// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <contracts/chain/chain.hpp>
#include <core/crypto/keys.hpp>
#include <client/rpc_client.hpp>
#include <core/system/process.hpp>

namespace assay::demo {

inline constexpr const char* kDeadAddress = "http://127.0.0.1:9";  ///< nothing listens at port 9

/// Parses an amount from the RPC.
inline std::uint64_t grains(const nlohmann::json& amount) { return std::stoull(amount.get<std::string>()); }

/// A line that a worker printed: the worker's name and the JSON object.
struct WorkerEvent {
    std::string worker;
    nlohmann::json event;
};

/// A chain on this machine: assayd, either one node or one per validator, and its workers. Each is a process with a
/// home of its own, on loopback with ports that the system chose. The destructor stops all of them.
class Network {
  public:
    /// `bin` contains assayd, assay-worker and, for workers that cheat, assay-adversary; `home` must be used by this
    /// network only. Keys are derived from `seed` and the names.
    Network(std::filesystem::path bin, std::filesystem::path home, std::uint64_t seed);
    ~Network();

    /// Returns the key of a named actor; the same for the same seed.
    crypto::SecretKey key(const std::string& name) const;
    /// Returns "solver-1" for an account of this network, an abbreviated address for any other.
    std::string name_of(const AccountId& account) const;
    /// Adds an actor with a key and this balance at genesis. actors() returns all actors so far, "submitter" among
    /// them.
    void add_actor(const std::string& name, Amount balance);
    const std::map<std::string, Amount>& actors() const { return balances_; }

    /// Writes the genesis with the actors added so far and starts assayd: one node with the embedded engine, or
    /// `validators` nodes under CometBFT. Throws std::runtime_error with the end of a log if one does not become ready.
    void start_nodes(const contracts::Params& params, std::uint32_t block_interval_ms, std::uint32_t validators = 0);
    /// Returns the path at which start_nodes creates a validator's home.
    std::filesystem::path validator_home(std::size_t index) const {
        return home_ / "testnet" / ("node" + std::to_string(index));
    }
    /// Makes a validator, when it is started later, run this program as its engine instead of the CometBFT that it
    /// would find.
    void use_engine(std::size_t index, const std::string& program) { engines_[index] = program; }
    /// Returns the file with a node's standard error.
    const std::filesystem::path& node_log(std::size_t index) const { return nodes_.at(index).process->log(); }
    /// Kills a validator's assayd with SIGKILL; its engine ends too.
    void kill_node(std::size_t index);
    void restart_node(std::size_t index);
    /// Pays at least `sum` to the treasury through the fees of an actor's first transactions.
    void pay_fees(const std::string& name, Amount sum);
    /// Makes a worker, when it is started later, use the node at `url` instead of one of this network.
    void use_node(const std::string& name, const std::string& url) { urls_[name] = url; }
    /// Gives a worker, when it is started later, these variables of the environment besides ("NAME=value").
    void set_environment(const std::string& name, std::vector<std::string> variables) {
        environments_[name] = std::move(variables);
    }
    /// Has a worker, when it is started later, run by this command, which gets its own behind it.
    void run_by(const std::string& name, std::vector<std::string> command) { runners_[name] = std::move(command); }
    /// Has the only node, when it is started later, listen on this IP address in place of 127.0.0.1.
    void listen_at(std::string address) { node_address_ = std::move(address); }
    /// Starts a worker for an actor; each worker uses the next node. `arguments` begin with the role's subcommand. With
    /// --dishonest among them the worker is an assay-adversary. Throws std::runtime_error if its program is missing.
    void start_worker(const std::string& name, const std::vector<std::string>& arguments);
    std::filesystem::path worker_home(const std::string& name) const { return home_ / name; }
    /// Kills a worker with SIGKILL, like a crash; restart_worker starts it again.
    void kill_worker(const std::string& name);
    void restart_worker(const std::string& name);
    /// Kills a worker, deletes its home, or this part of it, and has `assay-worker recover` make another one from the
    /// chain, the stores and the key; restart_worker starts the worker in it. Returns what the command printed. Throws
    /// std::runtime_error if that was no JSON.
    nlohmann::json lose_disk(const std::string& name, const std::string& part = {});
    /// Whether a worker has printed its ready line since it was last started.
    bool is_ready(const std::string& name);
    /// Ends a worker and waits for it.
    void stop_worker(const std::string& name);
    std::filesystem::path worker_log(const std::string& name) const { return home_ / "logs" / (name + ".log"); }
    /// Suspends a worker's process, or resumes it.
    void pause_worker(const std::string& name);
    void resume_worker(const std::string& name);
    /// Waits until every worker started so far has printed its ready line.
    void await_workers(std::chrono::seconds timeout);
    /// Throws std::runtime_error that names the first process that has ended, with the end of its log.
    void check_alive();

    /// Returns the client of the first node.
    client::RpcClient& rpc();
    const std::string& rpc_url() const { return nodes_.front().url; }
    std::size_t node_count() const { return nodes_.size(); }
    const std::string& node_url(std::size_t index) const { return nodes_.at(index).url; }
    std::vector<WorkerEvent> take_events();
    void stop();

  private:
    struct Node {
        std::string name;
        std::filesystem::path home;
        std::string url;
        std::vector<std::string> options;
        std::unique_ptr<system::Process> process;
    };
    void run_to_end(const std::vector<std::string>& command);
    /// Waits for a process. Returns its exit status.
    static int await_end(system::Process& process);
    void write_key(const std::string& name);
    void launch(Node& node);
    void signal_worker(const std::string& name, int signal);
    void await_node(std::size_t index);
    void launch(const std::string& name);
    void on_line(const std::string& worker, const std::string& line);
    [[noreturn]] void fail_with_log(const std::string& what, const std::filesystem::path& log);

    std::filesystem::path bin_;
    std::filesystem::path home_;
    std::uint64_t seed_;
    std::map<std::string, Amount> balances_;
    std::map<AccountId, std::string> names_;
    std::unique_ptr<client::RpcClient> rpc_;
    std::mutex mutex_;
    std::deque<WorkerEvent> events_;
    std::map<std::string, bool> ready_;
    std::vector<Node> nodes_;
    std::map<std::string, std::vector<std::string>> commands_;
    std::map<std::string, std::string> urls_;  ///< set by use_node()
    std::map<std::string, std::string> nodes_of_workers_;
    std::map<std::string, std::vector<std::string>> environments_;
    std::map<std::string, std::vector<std::string>> runners_;
    std::string node_address_ = "127.0.0.1";
    std::map<std::size_t, std::string> engines_;
    std::vector<std::unique_ptr<system::Process>> workers_;
};

}  // namespace assay::demo
