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

inline constexpr const char* kDeadAddress = "http://127.0.0.1:9";  ///< nobody listens at port 9

/// An amount as RPC writes it.
inline std::uint64_t grains(const nlohmann::json& amount) { return std::stoull(amount.get<std::string>()); }

/// A line that a worker printed: who, and the JSON object.
struct WorkerEvent {
    std::string worker;
    nlohmann::json event;
};

/// A chain on this machine: assayd, one or as many as there are validators, and its workers, each a process with a home of its own, all on loopback with
/// ports that the system chose. Everything stops when it is destroyed.
class Network {
  public:
    /// `bin` holds assayd and assay-worker; `home` is this network's alone. Keys follow from `seed` and the names.
    Network(std::filesystem::path bin, std::filesystem::path home, std::uint64_t seed);
    ~Network();

    /// The key of a named actor; the same for the same seed.
    crypto::SecretKey key(const std::string& name) const;
    /// "solver-1" for an account of this network, an abbreviated address for any other.
    std::string name_of(const AccountId& account) const;
    /// Names of actors that have a key so far, "submitter" among them.
    void add_actor(const std::string& name, Amount balance);
    const std::map<std::string, Amount>& actors() const { return balances_; }

    /// Writes the genesis for the actors added so far and starts assayd: one with the embedded engine, or so many
    /// validators under CometBFT. Throws std::runtime_error with the tail of a log when one does not become ready.
    void start_nodes(const contracts::Params& params, std::uint32_t block_interval_ms, std::uint32_t validators = 0);
    /// Where start_nodes makes the home of a validator.
    std::filesystem::path validator_home(std::size_t index) const {
        return home_ / "testnet" / ("node" + std::to_string(index));
    }
    /// A validator, once it is started, runs this program as its engine and not the CometBFT that it finds.
    void use_engine(std::size_t index, const std::string& program) { engines_[index] = program; }
    /// What a node has said on its standard error.
    const std::filesystem::path& node_log(std::size_t index) const { return nodes_.at(index).process->log(); }
    /// kill -9 of a validator's assayd, which takes its engine with it.
    void kill_node(std::size_t index);
    void restart_node(std::size_t index);
    /// Pays at least `sum` to the treasury, by the fees of an actor's first transactions.
    void pay_fees(const std::string& name, Amount sum);
    /// The worker of this name, once it is started, asks `url` and not one of the nodes.
    void use_node(const std::string& name, const std::string& url) { urls_[name] = url; }
    /// Starts an assay-worker for an actor, each at the next node: `arguments` begin with the role's subcommand.
    void start_worker(const std::string& name, const std::vector<std::string>& arguments);
    std::filesystem::path worker_home(const std::string& name) const { return home_ / name; }
    /// kill -9, as a crash would end it; start it again with restart_worker.
    void kill_worker(const std::string& name);
    void restart_worker(const std::string& name);
    /// Stops a worker's process where it is, or has it go on.
    void pause_worker(const std::string& name);
    void resume_worker(const std::string& name);
    /// Waits until every worker started so far has printed its ready line.
    void await_workers(std::chrono::seconds timeout);
    /// Throws std::runtime_error naming the first process that ended, with the tail of its log.
    void check_alive();

    /// Of the first node.
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
    std::map<std::string, std::string> urls_;  ///< of use_node
    std::map<std::size_t, std::string> engines_;
    std::vector<std::unique_ptr<system::Process>> workers_;
};

}  // namespace assay::demo
