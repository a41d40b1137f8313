// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/network.hpp>

#include <signal.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <contracts/params/gas.hpp>
#include <core/crypto/address.hpp>
#include <core/crypto/hash.hpp>
#include <node/api/genesis_file.hpp>

namespace assay::demo {
namespace {

constexpr const char* kChainId = "assay-demo";

std::string tail_of(const std::filesystem::path& log, std::size_t lines) {
    std::ifstream in(log);
    std::deque<std::string> last;
    for (std::string line; std::getline(in, line);) {
        last.push_back(line);
        if (last.size() > lines) {
            last.pop_front();
        }
    }
    std::string out;
    for (const std::string& line : last) {
        out += "    " + line + "\n";
    }
    return out;
}

void write_secret(const std::filesystem::path& file, const crypto::SecretKey& key) {
    std::ofstream out(file);
    std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    out << to_hex(key.bytes()) << "\n";
}

}  // namespace

Network::Network(std::filesystem::path bin, std::filesystem::path home, std::uint64_t seed)
    : bin_(std::move(bin)), home_(std::move(home)), seed_(seed) {
    std::filesystem::create_directories(home_ / "logs");
}

Network::~Network() { stop(); }

crypto::SecretKey Network::key(const std::string& name) const {
    static const crypto::TaggedHash kHash("assay/demo-key");
    const std::string text = std::to_string(seed_) + "/" + name;
    return *crypto::SecretKey::from_bytes(kHash(as_bytes(text)).view());
}

std::string Network::name_of(const AccountId& account) const {
    const auto it = names_.find(account);
    return it != names_.end() ? it->second : crypto::to_address(account).substr(0, 14) + "...";
}

void Network::add_actor(const std::string& name, Amount balance) {
    balances_[name] = balance;
    names_[key(name).account()] = name;
}

void Network::run_to_end(const std::vector<std::string>& command) {
    const auto log = home_ / "logs" / "assayd.log";
    system::Process process(command.at(1), command, log, [](const std::string&) {});
    if (await_end(process) != 0) {
        fail_with_log("assayd " + command.at(1) + " failed", log);
    }
}

int Network::await_end(system::Process& process) {
    while (!process.exit_status()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return *process.exit_status();
}

void Network::start_nodes(const contracts::Params& params, std::uint32_t block_interval_ms, std::uint32_t validators) {
    contracts::Genesis genesis{.chain_id = kChainId, .params = params, .balances = {}};
    for (const auto& [name, balance] : balances_) {
        genesis.balances[key(name).account()] = balance;
    }
    const auto genesis_file = (home_ / "genesis.json").string();
    node::write_genesis(genesis_file, genesis);
    const std::string assayd = (bin_ / "assayd").string();
    const std::string interval = std::to_string(block_interval_ms);
    if (validators == 0) {
        const auto node_home = home_ / "node";
        run_to_end({assayd, "init", "--home", node_home.string(), "--genesis", genesis_file});
        nodes_.push_back(
            {.name = "assayd",
             .home = node_home,
             .url = {},
             .options = {"--rpc-address", node_address_, "--rpc-port", "0", "--block-interval-ms", interval},
             .process = nullptr}
        );
    } else {
        const auto testnet = home_ / "testnet";
        run_to_end(
            {assayd, "testnet", "--home", testnet.string(), "--genesis", genesis_file, "--validators",
             std::to_string(validators), "--base-port", "0", "--block-interval-ms", interval}
        );
        for (std::uint32_t i = 0; i < validators; ++i) {
            const std::string name = "node" + std::to_string(i);
            nodes_.push_back({.name = name, .home = validator_home(i), .url = {}, .options = {}, .process = nullptr});
            if (const auto engine = engines_.find(i); engine != engines_.end()) {
                nodes_.back().options = {"--cometbft", engine->second};
            }
        }
    }
    for (Node& node : nodes_) {
        launch(node);
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        await_node(i);
    }
    rpc_ = std::make_unique<client::RpcClient>(rpc_url());
}

void Network::launch(Node& node) {
    {
        const std::lock_guard lock(mutex_);
        node.url.clear();
    }
    std::vector<std::string> command{(bin_ / "assayd").string(), "start", "--home", node.home.string()};
    command.insert(command.end(), node.options.begin(), node.options.end());
    node.process = std::make_unique<system::Process>(
        node.name, command, home_ / "logs" / (node.name + ".log"),
        [this, name = node.name](const std::string& line) { on_line(name, line); }
    );
}

void Network::await_node(std::size_t index) {
    const auto give_up_at = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    Node& node = nodes_.at(index);
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            if (!node.url.empty()) {
                return;
            }
        }
        if (node.process->exit_status() || std::chrono::steady_clock::now() > give_up_at) {
            fail_with_log(node.name + " did not become ready", node.process->log());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

void Network::kill_node(std::size_t index) { nodes_.at(index).process->kill(); }

void Network::restart_node(std::size_t index) {
    nodes_.at(index).process.reset();
    launch(nodes_.at(index));
    await_node(index);
}

void Network::pay_fees(const std::string& name, Amount sum) {
    const crypto::SecretKey payer = key(name);
    const AccountId account = payer.account();
    contracts::TxBody body{rpc_->chain_id(), account, 0, {}, contracts::Transfer{.to = account, .amount = Amount{1}}};
    const contracts::Tx tx{body, {}};
    const std::uint64_t gas = contracts::gas_of(tx, codec::encode(tx).size(), rpc_->params());
    body.fee = contracts::fee_of(gas, rpc_->params().gas_price_min);
    const std::uint64_t count = sum.grains / body.fee.grains + 1;
    constexpr int kPatience = 30;
    for (int refused = 0; body.nonce < count;) {
        try {
            rpc_->call("tx_submit", {{"tx", to_hex(codec::encode(contracts::sign_tx(body, payer)))}});
            ++body.nonce;
            refused = 0;
        } catch (const client::RpcError& error) {
            if (error.name != "limit_exceeded" || ++refused == kPatience) {
                throw;
            }
            rpc_->wait_for_block(rpc_->height(), std::chrono::seconds(2));  // which makes room in the mempool
        }
    }
    for (int waited = 0; rpc_->call("account_get", {{"account", to_hex(account.view())}}).at("nonce") != count;
         ++waited) {
        if (waited == kPatience) {
            throw std::runtime_error(name + "'s fees are in no block");
        }
        rpc_->wait_for_block(rpc_->height(), std::chrono::seconds(2));
    }
}

void Network::write_key(const std::string& name) {
    std::filesystem::create_directories(worker_home(name));
    write_secret(worker_home(name) / "key.hex", key(name));
}

void Network::start_worker(const std::string& name, const std::vector<std::string>& arguments) {
    const auto own_home = worker_home(name);
    write_key(name);
    const auto own_node = urls_.find(name);
    const std::string url =
        own_node != urls_.end() ? own_node->second : nodes_.at(commands_.size() % nodes_.size()).url;
    const bool cheats = std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
        return argument == "--dishonest" || argument == "--misstates" || argument == "--slowed";
    });
    const std::filesystem::path program = bin_ / (cheats ? "assay-adversary" : "assay-worker");
    if (!std::filesystem::exists(program)) {
        throw std::runtime_error(
            program.string() + " is missing" +
            (cheats ? ": it plays " + name + ", who cheats, and is built with the others but not installed with them"
                    : "")
        );
    }
    nodes_of_workers_[name] = url;
    std::vector<std::string> command = runners_[name];
    if (const auto variables = environments_.find(name); variables != environments_.end()) {
        command.emplace_back("/usr/bin/env");
        command.insert(command.end(), variables->second.begin(), variables->second.end());
    }
    command.push_back(program.string());
    command.insert(command.end(), arguments.begin(), arguments.end());
    for (const std::string& option :
         {std::string("--node"), url, std::string("--home"), own_home.string(), std::string("--key-hex-file"),
          (own_home / "key.hex").string(), std::string("--progress"), std::string("json"),
          std::string("--allow-private-addresses")}) {
        command.push_back(option);
    }
    if (std::find(arguments.begin(), arguments.end(), "--listen") == arguments.end()) {
        command.insert(command.end(), {"--listen", "127.0.0.1:0"});
    }
    commands_[name] = std::move(command);
    launch(name);
}

void Network::launch(const std::string& name) {
    {
        const std::lock_guard lock(mutex_);
        ready_[name] = false;
    }
    workers_.push_back(std::make_unique<system::Process>(
        name, commands_.at(name), worker_log(name), [this, name](const std::string& line) { on_line(name, line); }
    ));
}

void Network::kill_worker(const std::string& name) {
    std::erase_if(workers_, [&](const std::unique_ptr<system::Process>& worker) {
        if (worker->name() != name) {
            return false;
        }
        worker->kill();
        return true;
    });
    const std::lock_guard lock(mutex_);
    ready_.erase(name);
}

void Network::stop_worker(const std::string& name) {
    std::erase_if(workers_, [&](const std::unique_ptr<system::Process>& worker) {
        if (worker->name() != name) {
            return false;
        }
        worker->stop();
        return true;
    });
    const std::lock_guard lock(mutex_);
    ready_.erase(name);
}

void Network::restart_worker(const std::string& name) { launch(name); }

bool Network::is_ready(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = ready_.find(name);
    return found != ready_.end() && found->second;
}

nlohmann::json Network::lose_disk(const std::string& name, const std::string& part) {
    kill_worker(name);
    const auto home = worker_home(name);
    std::filesystem::remove_all(part.empty() ? home : home / part);
    write_key(name);  // which its owner has elsewhere
    std::string printed;
    {
        system::Process process(
            "recover",
            {(bin_ / "assay-worker").string(), "recover", "--home", home.string(), "--key-hex-file",
             (home / "key.hex").string(), "--node", nodes_of_workers_.at(name), "--allow-private-addresses",
             "--log-level", "warning", "-o", "json"},
            home_ / "logs" / (name + "-recover.log"), [&printed](const std::string& line) { printed += line + "\n"; }
        );
        await_end(process);
    }
    auto answer = nlohmann::json::parse(printed, nullptr, false);
    if (!answer.is_object()) {
        fail_with_log("the home of " + name + " was not recovered", home_ / "logs" / (name + "-recover.log"));
    }
    return answer;
}

void Network::signal_worker(const std::string& name, int signal) {
    const auto found =
        std::find_if(workers_.begin(), workers_.end(), [&](const auto& worker) { return worker->name() == name; });
    if (found != workers_.end() && !(*found)->exit_status()) {
        ::kill((*found)->pid(), signal);
    }
}

void Network::pause_worker(const std::string& name) { signal_worker(name, SIGSTOP); }
void Network::resume_worker(const std::string& name) { signal_worker(name, SIGCONT); }

void Network::on_line(const std::string& worker, const std::string& line) {
    const std::lock_guard lock(mutex_);
    static const std::string kRpc = "rpc ";
    const auto node = std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& n) { return n.name == worker; });
    if (node != nodes_.end()) {
        const std::size_t at = line.find(kRpc + "http://");
        if (line.starts_with("assayd ready") && at != std::string::npos) {
            node->url = line.substr(at + kRpc.size());
        }
        return;
    }
    if (line.starts_with("assay-worker ready")) {
        ready_[worker] = true;
        return;
    }
    auto event = nlohmann::json::parse(line, nullptr, false);
    if (event.is_object()) {
        events_.push_back({.worker = worker, .event = std::move(event)});
    }
}

void Network::await_workers(std::chrono::seconds timeout) {
    const auto give_up_at = std::chrono::steady_clock::now() + timeout;
    for (;;) {
        check_alive();
        std::string missing;
        {
            const std::lock_guard lock(mutex_);
            for (const auto& [name, ready] : ready_) {
                if (!ready) {
                    missing = name;
                }
            }
        }
        if (missing.empty()) {
            return;
        }
        if (std::chrono::steady_clock::now() > give_up_at) {
            fail_with_log(missing + " did not become ready", home_ / "logs" / (missing + ".log"));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

void Network::check_alive() {
    for (const Node& node : nodes_) {
        if (node.process && node.process->exit_status()) {
            fail_with_log(
                node.name + " ended with status " + std::to_string(*node.process->exit_status()), node.process->log()
            );
        }
    }
    for (const auto& worker : workers_) {
        if (worker->exit_status()) {
            fail_with_log(
                worker->name() + " ended with status " + std::to_string(*worker->exit_status()), worker->log()
            );
        }
    }
}

void Network::fail_with_log(const std::string& what, const std::filesystem::path& log) {
    throw std::runtime_error(what + "; the end of " + log.string() + ":\n" + tail_of(log, 15));
}

client::RpcClient& Network::rpc() {
    ASSERT(rpc_ != nullptr);
    return *rpc_;
}

std::vector<WorkerEvent> Network::take_events() {
    const std::lock_guard lock(mutex_);
    std::vector<WorkerEvent> out(events_.begin(), events_.end());
    events_.clear();
    return out;
}

void Network::stop() {
    // All at once, so that stopping takes as long as the slowest and not as long as all.
    std::vector<std::thread> stoppers;
    stoppers.reserve(workers_.size());
    for (const auto& worker : workers_) {
        stoppers.emplace_back([&worker] { worker->stop(); });
    }
    for (std::thread& stopper : stoppers) {
        stopper.join();
    }
    workers_.clear();
    stoppers.clear();
    for (Node& node : nodes_) {
        if (node.process) {
            stoppers.emplace_back([&node] { node.process->stop(std::chrono::seconds(20)); });
        }
    }
    for (std::thread& stopper : stoppers) {
        stopper.join();
    }
    nodes_.clear();
}

}  // namespace assay::demo
