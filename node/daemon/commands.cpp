// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/commands.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>

#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <consensus/cometbft/supervisor.hpp>
#include <consensus/solo/engine.hpp>
#include <core/crypto/address.hpp>
#include <core/system/log/log.hpp>
#include <core/system/service_manager.hpp>
#include <node/daemon/application.hpp>
#include <node/daemon/config.hpp>
#include <node/api/genesis_file.hpp>
#include <node/daemon/node.hpp>
#include <node/rpc/host_names.hpp>
#include <node/rpc/server.hpp>

namespace assay::node {
namespace {

constexpr Amount kFirstStake{10'000 * kGrainsPerAsy};
constexpr Amount kFirstBalance{1'000'000 * kGrainsPerAsy};

/// SIGINT and SIGTERM as something to wait for. Threads started later do not get them.
class StopSignals {
  public:
    StopSignals() {
        sigemptyset(&set_);
        sigaddset(&set_, SIGINT);
        sigaddset(&set_, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &set_, nullptr);
        std::signal(SIGPIPE, SIG_IGN);
    }
    /// Whether one came within `timeout`.
    bool wait(std::chrono::milliseconds timeout) const {
        const timespec time{.tv_sec = timeout.count() / 1'000, .tv_nsec = timeout.count() % 1'000 * 1'000'000};
        return sigtimedwait(&set_, nullptr, &time) > 0;
    }
    /// From here on a signal ends the process at once: the second Ctrl-C.
    void let_kill() const { pthread_sigmask(SIG_UNBLOCK, &set_, nullptr); }

  private:
    sigset_t set_{};
};

/// A failure of the engine, told from its thread to the main one.
class Failure {
  public:
    void set(const std::string& what) {
        const std::lock_guard lock(mutex_);
        what_ = what;
    }
    std::optional<std::string> get() const {
        const std::lock_guard lock(mutex_);
        return what_;
    }

  private:
    mutable std::mutex mutex_;
    std::optional<std::string> what_;
};

const char* to_text(LastStop stop) {
    switch (stop) {
        case LastStop::kFirstStart:
            return "first start";
        case LastStop::kClean:
            return "clean";
        case LastStop::kUnclean:
            return "unclean";
    }
    return "unknown";
}

void report_start(const Node& node) {
    const NodeStatus status = node.status();
    log::info(std::string("last stop: ") + to_text(status.last_stop));
    for (const std::string& note : node.start_notes()) {
        log::info(note);
    }
}

void report_status(const Node& node) {
    const NodeStatus status = node.status();
    log::info(
        "status", {{"height", status.height.value},
                   {"app_hash", to_hex(status.app_hash.view())},
                   {"mempool_txs", std::uint64_t{status.mempool_txs}}}
    );
}

/// Ends the process: what is in the block log is on the disk, and the next start replays what the database lacks.
void end_with_disk(const std::string& what) {
    log::error("the database cannot be written: " + what);
    log::error("stopped; no block is lost. Make room on the disk and start again");
    std::_Exit(kExitFailure);
}

/// The engine that the settings name must be the one that the genesis is for: with another the home would fork its
/// chain.
void check_engine(const Home& home, EngineKind configured) {
    const auto meant = read_genesis_engine(home.genesis());
    if (meant && *meant != configured) {
        throw ConfigError(
            home.genesis().string() + " is for the engine \"" + to_string(*meant) + "\", and " +
            home.config().string() + " or --engine says \"" + to_string(configured) +
            "\": restore the settings of this home"
        );
    }
}

/// A directory of its own that goes with it.
class ScratchDirectory {
  public:
    ScratchDirectory() {
        std::string name = (std::filesystem::temp_directory_path() / "assayd-replay-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            throw HomeError("cannot make a temporary directory " + name);
        }
        path_ = name;
    }
    ~ScratchDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace

int run_init(const InitOptions& options) {
    const Home& home = options.home;
    for (const auto& file : {home.config(), home.genesis(), home.node_key()}) {
        if (std::filesystem::exists(file)) {
            throw HomeError(
                file.string() + " exists already: this home is initialised; start it, or give another --home"
            );
        }
    }
    std::filesystem::create_directories(home.data());
    const auto key = crypto::SecretKey::generate();
    contracts::Genesis genesis{.chain_id = options.chain_id, .params = {}, .balances = {}};
    if (options.genesis) {
        genesis = read_genesis(*options.genesis);
        const auto meant = read_genesis_engine(*options.genesis);
        if (meant && *meant != options.engine) {
            throw ConfigError(
                options.genesis->string() + " is for the engine \"" + to_string(*meant) + "\": give --engine " +
                to_string(*meant)
            );
        }
    } else {
        genesis.balances[key.account()] = kFirstBalance;
    }
    std::vector<cometbft::Validator> validators;
    if (options.engine == EngineKind::kCometBft) {
        const auto engine = cometbft::find_engine(options.cometbft_program);
        validators.push_back(cometbft::make_home(engine, home.cometbft()));
        if (!options.genesis) {
            genesis.validators.push_back(
                {.account = key.account(), .key = consensus_key(validators[0]), .stake = kFirstStake}
            );
        }
    }
    genesis = decode_genesis_json(to_genesis_json(genesis));  // with the checks of a file
    Config config;
    config.engine = options.engine;
    write_text(home.config(), to_config_toml(config));
    write_genesis(home.genesis(), genesis, options.engine);
    write_node_key(home.node_key(), key);
    if (options.engine == EngineKind::kCometBft) {
        cometbft::write_genesis(home.cometbft(), genesis.chain_id, utc_now(), validators, genesis.params);
    }
    const std::string address = crypto::to_address(key.account());
    if (options.json) {
        std::cout << nlohmann::ordered_json{{"home", home.root.string()},
                                            {"chain_id", genesis.chain_id},
                                            {"engine", to_string(options.engine)},
                                            {"proposer", address},
                                            {"funded_here", !options.genesis.has_value()}}
                         .dump()
                  << "\n";
        return kExitOk;
    }
    std::cout << "initialised " << home.root.string() << "\n  chain     " << genesis.chain_id << "\n  engine    "
              << to_string(options.engine) << "\n  "
              << (options.engine == EngineKind::kSolo ? "proposer  " : "account   ") << address << "\n";
    if (!options.genesis) {
        std::cout << "  funds     " << kFirstBalance.grains / kGrainsPerAsy << " ASY with this account; its key is in "
                  << home.node_key().string() << "\n";
    }
    std::cout << "next: assayd start --home " << home.root.string() << "\n";
    return kExitOk;
}

/// The settings of a home. What is inspected need have none: a genesis file and the data are enough.
static Config start_config(const StartOptions& options) {
    if (!options.only_inspects || std::filesystem::exists(options.home.config())) {
        return read_config(options.home.config(), process_environment());
    }
    Config config;
    config.engine = read_genesis_engine(options.home.genesis()).value_or(config.engine);
    return config;
}

int run_start(const StartOptions& options) {
    log::start(options.log);
    auto service = system::ServiceManager::of_this_process();
    const StopSignals signals;
    const Home& home = options.home;
    if (!std::filesystem::exists(home.genesis())) {
        throw ConfigError(home.root.string() + " is not initialised: run assayd init --home " + home.root.string());
    }
    Config config = start_config(options);
    config.engine = options.engine.value_or(config.engine);
    config.cometbft_program = options.cometbft_program.value_or(config.cometbft_program);
    config.rpc_address = options.rpc_address.value_or(config.rpc_address);
    config.rpc_port = options.rpc_port.value_or(config.rpc_port);
    config.block_interval_ms = options.block_interval_ms.value_or(config.block_interval_ms);
    config.create_empty_blocks = options.create_empty_blocks.value_or(config.create_empty_blocks);
    check_engine(home, config.engine);

    Failure failure;
    Node node({
        .home = home,
        .config = config,
        .genesis = read_genesis(home.genesis()),
        // Nothing is signed by a node that makes no blocks, so a copy of the data needs no key.
        .key = options.only_inspects ? crypto::SecretKey::generate() : read_node_key(home.node_key()),
        .only_inspects = options.only_inspects,
        .on_failure = [&failure](const std::string& what) { failure.set(what); },
        .on_note = [](const std::string& text) { log::info(text); },
        .on_disk_failure = end_with_disk,
    });
    report_start(node);
    rpc::RpcOptions rpc_options;
    rpc_options.address = config.rpc_address;
    rpc_options.port = config.rpc_port;
    rpc_options.connections_max = config.rpc_connections_max;
    rpc_options.connections_per_address = config.rpc_connections_per_address;
    rpc_options.hosts = rpc::decode_host_names(config.rpc_hosts);
    rpc::RpcServer server(rpc_options, node);
    node.start();
    const std::string url = "http://" + config.rpc_address + ":" + std::to_string(server.port());
    write_text(home.rpc_address(), url + "\n");
    const NodeStatus first = node.status();
    std::cout << "assayd ready: chain " << first.chain_id << ", height " << first.height.value << ", rpc " << url
              << std::endl;
    service.ready("chain " + first.chain_id + ", rpc " + url);
    auto report_at = std::chrono::steady_clock::now();
    Height reported{};
    while (!failure.get() && !signals.wait(std::chrono::milliseconds(50))) {
        const auto now = std::chrono::steady_clock::now();
        const Height height = node.status().height;
        if (config.status_interval_s > 0 && now >= report_at && height > reported) {
            reported = height;
            report_status(node);
            report_at = now + std::chrono::seconds(config.status_interval_s);
        }
        // Only when the status was given: where it waits for a lock for ever, the watchdog ends this process.
        service.alive(now);
    }
    service.stopping();
    signals.let_kill();
    std::error_code ignored;
    std::filesystem::remove(home.rpc_address(), ignored);
    node.stop();
    server.stop();
    if (const auto what = failure.get()) {
        log::error("stopped at height " + std::to_string(node.status().height.value) + ": " + *what);
        return kExitFailure;
    }
    log::info("stopped at height " + std::to_string(node.status().height.value));
    return kExitOk;
}

int run_replay(const ReplayOptions& options) {
    const Home& home = options.home;
    const auto genesis = read_genesis(home.genesis());
    const solo::BlockLog log(home.block_log(), solo::BlockLog::Mode::kReadOnly);
    const ScratchDirectory scratch;
    storage::Store store(scratch.path(), {.in_memory = false, .fault = {}});
    Application application(store, [] { return std::uint64_t{0}; });
    application.init(genesis);
    const auto started_at = std::chrono::steady_clock::now();
    auto report_at = started_at + std::chrono::seconds(2);
    const std::uint64_t blocks = solo::replay(application, log, genesis.chain_id, [&](Height height) {
        if (std::chrono::steady_clock::now() >= report_at) {
            std::cerr << "replayed " << height.value << " of " << log.height().value << "\n";
            report_at += std::chrono::seconds(2);
        }
    });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_at).count();
    const auto info = application.info();
    if (options.json) {
        std::cout << nlohmann::ordered_json{{"ok", true},
                                            {"chain_id", genesis.chain_id},
                                            {"blocks", blocks},
                                            {"height", info.height.value},
                                            {"app_hash", to_hex(info.app_hash.view())},
                                            {"seconds", seconds}}
                         .dump()
                  << "\n";
    } else {
        std::cout << "replayed " << blocks << " blocks of " << genesis.chain_id << " in " << seconds
                  << " s: the app hash is the stored one at every height; at " << info.height.value << " it is "
                  << to_hex(info.app_hash.view()) << "\n";
    }
    return kExitOk;
}

int run_show_validator(const Home& home, bool json) {
    const std::string key = to_hex(consensus_key(cometbft::read_validator(home.cometbft())).view());
    if (json) {
        std::cout << nlohmann::ordered_json{{"consensus_key", key}}.dump() << "\n";
    } else {
        std::cout << key << "\n";
    }
    return kExitOk;
}

int run_version(bool json) {
    if (json) {
        std::cout
            << nlohmann::ordered_json{{"name", "assayd"}, {"version", ASSAY_VERSION}, {"compiler", __VERSION__}}.dump()
            << "\n";
    } else {
        std::cout << "assayd " << ASSAY_VERSION << " (g++ " << __VERSION__ << ")\n";
    }
    return kExitOk;
}

}  // namespace assay::node
