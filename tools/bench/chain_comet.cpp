// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/chain.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <client/engine_rpc.hpp>
#include <consensus/cometbft/supervisor.hpp>
#include <core/base/base64.hpp>
#include <core/crypto/hash.hpp>
#include <core/system/process.hpp>
#include <client/http/http.hpp>
#include <node/api/genesis_file.hpp>
#include <node/daemon/home.hpp>
#include <tools/bench/chain_load.hpp>
#include <tools/bench/scratch.hpp>
#include <tools/bench/measure.hpp>

namespace assay::bench {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kChainCometSenders = 2'000;
constexpr std::uint64_t kChainCometAccounts = 20'000;
constexpr std::size_t kRequestTxs = 100;  ///< transactions in one HTTP request
constexpr std::chrono::milliseconds kPollInterval{5};
constexpr std::chrono::seconds kPatience{60};

/// How both engines are set, and how much of the load may be under way.
struct Regime {
    const char* name;
    std::uint32_t block_interval_ms;
    std::uint64_t mempool_txs;
    std::uint64_t outstanding;  ///< transactions submitted and not committed; less than the mempool holds
};
constexpr Regime kDefaults{"defaults", 1'000, 5'000, 4'000};
constexpr Regime kLarge{"saturated", 1'000, 100'000, 40'000};

std::uint16_t free_port() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = static_cast<sockaddr*>(static_cast<void*>(&address));
    const bool found = fd >= 0 && ::bind(fd, any, size) == 0 && ::getsockname(fd, any, &size) == 0;
    ::close(fd);
    if (!found) {
        throw std::runtime_error("no free port on the loopback");
    }
    return ntohs(address.sin_port);
}

/// A child of `parent`, or -1.
int child_of(int parent) {
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(parent) + "/task")) {
        std::ifstream in(task.path() / "children");
        int child = 0;
        if (in >> child) {
            return child;
        }
    }
    return -1;
}

/// One chain of one validator, with CometBFT's RPC.
class Side {
  public:
    virtual ~Side() = default;
    virtual double engine_cpu_s() = 0;
    virtual double application_cpu_s() = 0;
    const std::string& url() const { return url_; }

  protected:
    explicit Side(std::uint16_t port) : port_(port), url_("http://127.0.0.1:" + std::to_string(port)) {}
    const std::uint16_t port_;

  private:
    const std::string url_;
};

/// CometBFT's own in-process kvstore, with the settings that assayd gives its engine.
class Kvstore final : public Side {
  public:
    Kvstore(const std::filesystem::path& program, const std::filesystem::path& home, const Regime& regime)
        : Side(free_port()) {
        const auto validator = cometbft::make_home(program, home);
        cometbft::write_genesis(home, "kvstore", node::utc_now(), {validator}, contracts::Params{});
        cometbft::EngineSettings settings;
        settings.program = program;
        settings.home = home;
        settings.application = "kvstore";
        settings.rpc_address = "tcp://127.0.0.1:" + std::to_string(port_);
        settings.p2p_address = "tcp://127.0.0.1:" + std::to_string(free_port());
        settings.block_interval_ms = regime.block_interval_ms;
        engine_ = std::make_unique<cometbft::Supervisor>(settings, home / "engine.log");
    }
    double engine_cpu_s() override { return cpu_seconds_of(engine_->pid()); }
    double application_cpu_s() override { return 0; }

  private:
    std::unique_ptr<cometbft::Supervisor> engine_;
};

class Assayd final : public Side {
  public:
    Assayd(
        const std::string& program, const std::filesystem::path& engine, const std::filesystem::path& home,
        const contracts::Genesis& genesis, const Regime& regime
    )
        : Side(free_port()) {
        const auto genesis_file = home.parent_path() / "genesis.json";
        node::write_genesis(genesis_file, genesis);
        const auto log = home.parent_path() / "assayd.log";
        const std::vector<std::string> init{
            program,    "init",     "--home",     home.string(),  "--genesis", genesis_file.string(),
            "--engine", "cometbft", "--cometbft", engine.string()};
        system::Process made("assayd", init, log, [](const std::string&) {});
        while (!made.exit_status()) {
            std::this_thread::sleep_for(kPollInterval);
        }
        if (*made.exit_status() != 0) {
            throw std::runtime_error("assayd init failed");
        }
        const std::vector<std::string> start{
            "/usr/bin/env",
            "ASSAY_COMETBFT_RPC_PORT=" + std::to_string(port_),
            "ASSAY_COMETBFT_P2P_PORT=" + std::to_string(free_port()),
            "ASSAY_RPC_PORT=0",
            "ASSAY_ENGINE_BLOCK_INTERVAL_MS=" + std::to_string(regime.block_interval_ms),
            "ASSAY_LOG_STATUS_INTERVAL_S=0",
            program,
            "start",
            "--home",
            home.string(),
            "--cometbft",
            engine.string()};
        process_ =
            std::make_unique<system::Process>("assayd", start, log, [this](const std::string&) { ready_ = true; });
        while (!ready_) {
            if (process_->exit_status()) {
                throw std::runtime_error("assayd did not start; its log is " + log.string());
            }
            std::this_thread::sleep_for(kPollInterval);
        }
        engine_pid_ = child_of(process_->pid());
    }
    double engine_cpu_s() override { return cpu_seconds_of(engine_pid_); }
    double application_cpu_s() override { return cpu_seconds_of(process_->pid()); }

  private:
    std::atomic<bool> ready_{false};
    std::unique_ptr<system::Process> process_;
    int engine_pid_ = -1;
};

std::uint64_t number_of(const json& text) { return std::stoull(text.get<std::string>()); }

/// Follows the commits of a chain.
class Watcher {
  public:
    struct Commit {
        Clock::time_point at;
        std::uint64_t txs;  ///< so far
    };

    explicit Watcher(const std::string& url) : rpc_(url), seen_(height()), thread_([this] { run(); }) {}
    ~Watcher() {
        stopping_ = true;
        thread_.join();
    }
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    /// Waits until `txs` transactions are committed.
    void await(std::uint64_t txs) {
        std::unique_lock lock(mutex_);
        const bool reached = changed_.wait_for(lock, kPatience, [&] { return !failure_.empty() || txs <= txs_; });
        if (!reached || !failure_.empty()) {
            throw std::runtime_error(failure_.empty() ? "no transaction is committed for a minute" : failure_);
        }
    }
    std::vector<Commit> commits() const {
        const std::lock_guard lock(mutex_);
        return commits_;
    }

  private:
    /// Of the application, which is later than that of the engine's blocks.
    std::uint64_t height() const {
        const json info = rpc_.call("abci_info").at("response");
        return info.contains("last_block_height") ? number_of(info.at("last_block_height")) : 0;
    }

    std::uint64_t txs_of(std::uint64_t height) const {
        const std::string text = std::to_string(height);
        const json metas = rpc_.call("blockchain", {{"minHeight", text}, {"maxHeight", text}}).at("block_metas");
        return number_of(metas.at(0).at("num_txs"));
    }

    void run() {
        try {
            while (!stopping_) {
                const std::uint64_t last = height();
                const auto now = Clock::now();
                for (; seen_ < last; ++seen_) {
                    const std::uint64_t txs = txs_of(seen_ + 1);
                    const std::lock_guard lock(mutex_);
                    txs_ += txs;
                    commits_.push_back({now, txs_});
                    changed_.notify_all();
                }
                std::this_thread::sleep_for(kPollInterval);
            }
        } catch (const std::exception& error) {
            const std::lock_guard lock(mutex_);
            failure_ = error.what();
            changed_.notify_all();
        }
    }

    const client::EngineRpc rpc_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Commit> commits_;
    std::uint64_t txs_ = 0;
    std::string failure_;
    std::uint64_t seen_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

/// Offers the transactions at `wanted`, and again those for which the mempool has no room yet.
void broadcast(const std::string& url, const std::vector<std::string>& txs, std::vector<std::size_t> wanted) {
    while (!wanted.empty()) {
        json requests = json::array();
        for (const std::size_t i : wanted) {
            requests.push_back(
                {{"jsonrpc", "2.0"}, {"id", i}, {"method", "broadcast_tx_async"}, {"params", {{"tx", txs[i]}}}}
            );
        }
        const auto response = http::http_post(url, requests.dump());
        const json answers = json::parse(response.body);
        wanted.clear();
        for (const json& answer : answers) {
            const std::string error = answer.contains("error") ? answer.at("error").dump() : "";
            if (error.find("mempool is full") != std::string::npos) {
                wanted.push_back(answer.at("id").get<std::size_t>());
            } else if (!error.empty()) {
                throw std::runtime_error("the engine did not take a transaction: " + error);
            }
        }
        if (!wanted.empty()) {
            std::this_thread::sleep_for(kPollInterval);
        }
    }
}

struct Measured {
    double tps = 0;
    double median_s = 0;
    double p95_s = 0;
    double engine_cpu_us = 0;
    double application_cpu_us = 0;

    double cpu_us() const { return engine_cpu_us + application_cpu_us; }
};

/// Puts `txs` (base64) through the chain, with at most `outstanding` under way.
Measured measure(Side& side, const std::vector<std::string>& txs, std::uint64_t outstanding) {
    Watcher watcher(side.url());
    std::vector<Clock::time_point> submitted;
    const double engine_cpu = side.engine_cpu_s();
    const double application_cpu = side.application_cpu_s();
    const auto start = Clock::now();
    for (std::size_t from = 0; from < txs.size();) {
        const std::size_t count = std::min(kRequestTxs, txs.size() - from);
        if (from + count > outstanding) {
            watcher.await(from + count - outstanding);
        }
        submitted.insert(submitted.end(), count, Clock::now());
        std::vector<std::size_t> wanted(count);
        std::iota(wanted.begin(), wanted.end(), from);
        broadcast(side.url(), txs, std::move(wanted));
        from += count;
    }
    watcher.await(txs.size());
    const auto count = static_cast<double>(txs.size());
    Measured out;
    out.engine_cpu_us = (side.engine_cpu_s() - engine_cpu) * 1e6 / count;
    out.application_cpu_us = (side.application_cpu_s() - application_cpu) * 1e6 / count;
    std::vector<double> latencies;
    for (const auto& commit : watcher.commits()) {
        // Its mempool is a queue: transactions are committed in the order in which they came.
        while (latencies.size() < commit.txs) {
            latencies.push_back(std::chrono::duration<double>(commit.at - submitted[latencies.size()]).count());
        }
        out.tps = count / std::chrono::duration<double>(commit.at - start).count();
        if (commit.txs == txs.size()) {
            break;
        }
    }
    std::sort(latencies.begin(), latencies.end());
    out.median_s = latencies[latencies.size() / 2];
    out.p95_s = latencies[latencies.size() * 95 / 100];
    return out;
}

/// Key-value pairs of the kvstore, all different, each of `size` bytes.
std::vector<std::string> make_pairs(std::uint64_t count, std::size_t size, std::uint64_t& number) {
    std::vector<std::string> out;
    for (std::uint64_t i = 0; i < count; ++i, ++number) {
        std::string text = to_hex(crypto::sha256(as_bytes(std::to_string(number))).view()) + "=";
        while (text.size() < size) {
            text += to_hex(crypto::sha256(as_bytes(text)).view());
        }
        text.resize(size);
        out.push_back(to_base64(as_bytes(text)));
    }
    return out;
}

/// The figures of one side over all pairs.
struct Figures {
    std::vector<double> tps, median_s, p95_s, engine_cpu_us, application_cpu_us;
    void add(const Measured& result) {
        tps.push_back(result.tps);
        median_s.push_back(result.median_s);
        p95_s.push_back(result.p95_s);
        engine_cpu_us.push_back(result.engine_cpu_us);
        application_cpu_us.push_back(result.application_cpu_us);
    }
    json to_json() const {
        const json cpu_us{{"engine", spread(engine_cpu_us)}, {"application", spread(application_cpu_us)}};
        return {
            {"transactions_per_s", spread(tps)},
            {"latency_s", {{"median", spread(median_s)}, {"p95", spread(p95_s)}}},
            {"cpu_us_per_transaction", cpu_us}};
    }
};

json run_regime(const ChainOptions& options, const std::filesystem::path& engine, const Regime& regime) {
    ::setenv("ASSAY_MEMPOOL_TXS_MAX", std::to_string(regime.mempool_txs).c_str(), 1);
    ::setenv("CMT_RPC_MAX_REQUEST_BATCH_SIZE", "0", 1);
    ::setenv("CMT_LOG_LEVEL", "error", 1);
    Load load(kChainCometSenders, kChainCometAccounts, 1);
    const Scratch scratch(options.scratch);
    Assayd assayd(options.assayd, engine, scratch.path() / "assayd", load.genesis(), regime);
    Kvstore kvstore(engine, scratch.path() / "kvstore", regime);
    std::this_thread::sleep_for(std::chrono::seconds(3));

    Figures ours;
    Figures theirs;
    std::vector<double> ratio;
    std::vector<double> latency_ratio;
    std::vector<double> cpu_ratio;
    std::uint64_t pairs_made = 0;
    std::size_t tx_bytes = 0;
    for (int pair = 0; pair < options.pairs; ++pair) {
        std::vector<std::string> transfers;
        const auto signed_txs = load.next(options.transfers);
        for (const Bytes& tx : signed_txs.front()) {
            tx_bytes = tx.size();
            transfers.push_back(to_base64(tx));
        }
        const auto key_values = make_pairs(options.transfers, tx_bytes, pairs_made);
        Measured our;
        Measured their;
        if (pair % 2 == 0) {
            our = measure(assayd, transfers, regime.outstanding);
            their = measure(kvstore, key_values, regime.outstanding);
        } else {
            their = measure(kvstore, key_values, regime.outstanding);
            our = measure(assayd, transfers, regime.outstanding);
        }
        ours.add(our);
        theirs.add(their);
        ratio.push_back(our.tps / their.tps);
        latency_ratio.push_back(our.median_s / their.median_s);
        cpu_ratio.push_back(our.cpu_us() / their.cpu_us());
    }
    return {
        {"regime", regime.name},
        {"block_interval_ms", regime.block_interval_ms},
        {"mempool_txs", regime.mempool_txs},
        {"outstanding_txs", regime.outstanding},
        {"transactions_per_pair", options.transfers},
        {"pairs", options.pairs},
        {"tx_bytes", tx_bytes},
        {"ratios",
         {{"assayd_over_kvstore", spread(ratio)},
          {"latency_over_kvstore", spread(latency_ratio)},
          {"cpu_over_kvstore", spread(cpu_ratio)}}},
        {"assayd", ours.to_json()},
        {"kvstore", theirs.to_json()},
    };
}

}  // namespace

json run_comet_bench(const ChainOptions& options) {
    std::filesystem::path engine;
    try {
        engine = cometbft::find_engine(options.cometbft);
    } catch (const cometbft::EngineError& error) {
        return {{"skipped", error.what()}};
    }
    json out = json::array();
    for (const Regime& regime : {kDefaults, kLarge}) {
        out.push_back(run_regime(options, engine, regime));
    }
    return out;
}

}  // namespace assay::bench
