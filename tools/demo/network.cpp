// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/network.hpp>

#include <fstream>
#include <stdexcept>
#include <thread>

#include <core/crypto/address.hpp>
#include <core/crypto/hash.hpp>
#include <node/app/genesis_file.hpp>

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

void Network::start_node(const contracts::Params& params, std::uint32_t block_interval_ms) {
    contracts::Genesis genesis{.chain_id = kChainId, .params = params, .balances = {}};
    for (const auto& [name, balance] : balances_) {
        genesis.balances[key(name).account()] = balance;
    }
    const auto genesis_file = home_ / "genesis.json";
    node::write_genesis(genesis_file, genesis);

    const std::string assayd = (bin_ / "assayd").string();
    const auto node_home = home_ / "node";
    const auto log = home_ / "logs" / "assayd.log";
    system::Process init(
        "assayd init", {assayd, "init", "--home", node_home.string(), "--genesis", genesis_file.string()}, log,
        [](const std::string&) {}
    );
    while (!init.exit_status()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (*init.exit_status() != 0) {
        fail_with_log("assayd init failed", log);
    }
    node_ = std::make_unique<system::Process>(
        "assayd",
        std::vector<std::string>{assayd, "start", "--home", node_home.string(), "--rpc-port", "0",
                                 "--block-interval-ms", std::to_string(block_interval_ms)},
        log, [this](const std::string& line) { on_line("assayd", line); }
    );
    const auto give_up_at = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            if (!rpc_url_.empty()) {
                break;
            }
        }
        if (node_->exit_status() || std::chrono::steady_clock::now() > give_up_at) {
            fail_with_log("assayd did not become ready", log);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    rpc_ = std::make_unique<net::RpcClient>(rpc_url_);
}

void Network::start_worker(const std::string& name, const std::vector<std::string>& arguments) {
    const auto worker_home = home_ / name;
    std::filesystem::create_directories(worker_home);
    write_secret(worker_home / "key.hex", key(name));
    std::vector<std::string> command{(bin_ / "assay-worker").string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    for (const std::string& option :
         {std::string("--node"), rpc_url_, std::string("--home"), worker_home.string(), std::string("--key-hex-file"),
          (worker_home / "key.hex").string(), std::string("--listen"), std::string("127.0.0.1:0"),
          std::string("--progress"), std::string("json")}) {
        command.push_back(option);
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
        name, commands_.at(name), home_ / "logs" / (name + ".log"), [this, name](const std::string& line) { on_line(name, line); }
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

void Network::restart_worker(const std::string& name) { launch(name); }

void Network::on_line(const std::string& worker, const std::string& line) {
    const std::lock_guard lock(mutex_);
    static const std::string kRpc = "rpc ";
    if (worker == "assayd") {
        const std::size_t at = line.find(kRpc + "http://");
        if (line.starts_with("assayd ready") && at != std::string::npos) {
            rpc_url_ = line.substr(at + kRpc.size());
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
    if (node_ && node_->exit_status()) {
        fail_with_log("assayd ended with status " + std::to_string(*node_->exit_status()), node_->log());
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

net::RpcClient& Network::rpc() {
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
    node_.reset();
}

}  // namespace assay::demo
