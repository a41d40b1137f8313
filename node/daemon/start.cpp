// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/commands.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>

#include <signal.h>

#include <client/metrics_server.hpp>
#include <core/crypto/address.hpp>
#include <core/system/log/log.hpp>
#include <core/system/service_manager.hpp>
#include <node/api/genesis_file.hpp>
#include <node/daemon/config.hpp>
#include <node/daemon/node.hpp>
#include <node/daemon/node_key.hpp>
#include <node/daemon/serving.hpp>
#include <node/metrics/node_metrics.hpp>
#include <node/rpc/server.hpp>

namespace assay::node {
namespace {

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

/// The addresses in metrics.accounts. Throws ConfigError.
std::vector<AccountId> watched_accounts(const Config& config) {
    std::vector<AccountId> out;
    std::istringstream list(config.metrics_accounts);
    for (std::string text; std::getline(list, text, ',');) {
        const auto account = crypto::decode_address(text);
        if (!account) {
            throw ConfigError("metrics.accounts: \"" + text + "\" is not an address");
        }
        out.push_back(*account);
    }
    return out;
}

ProgramRules program_rules(const StartOptions& options) {
    ProgramRules out{.protocol_version = options.protocol_version, .resume_at = {}};
    if (options.resume_at) {
        out.resume_at = Height{*options.resume_at};
    }
    return out;
}

std::uint64_t unix_ms_now() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count()
    );
}

/// Serves the metrics of a node. Everything given must outlive the server.
std::unique_ptr<client::MetricsServer> serve_metrics(
    const Config& config, metrics::NodeMetrics& metrics, const Node& node, const rpc::RpcServer& server
) {
    metrics.seed(node, node.validators());
    auto out = std::make_unique<client::MetricsServer>(
        config.metrics_address, config.metrics_port,
        [&metrics, &node, &server, connections_max = config.rpc_connections_max] {
            return metrics.scrape(
                node.status(), node.readings(),
                {.connections = server.connections(),
                 .connections_max = connections_max,
                 .subscribers = server.subscribers()},
                unix_ms_now()
            );
        }
    );
    log::info("metrics are at " + out->url());
    return out;
}

/// Waits for a signal or for the node's failure. Logs the status now and then and answers the watchdog.
void run_until_stopped(
    const Config& config, const Node& node, const StopSignals& signals, const Failure& failure,
    system::ServiceManager& service
) {
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
}

void warn_of_settings(const Config& config) {
    for (const std::string& text : unknown_variables(environment_names())) {
        log::warning(text);
    }
    for (const std::string& text : rpc_warnings(config)) {
        log::warning(text);
    }
}

rpc::EngineState engine_state(const Node& node, const Config& config, bool is_inspected) {
    const EngineProgress progress = node.progress();
    return {
        .is_restoring = progress.is_restoring,
        .is_catching_up = progress.is_catching_up,
        .makes_empty_blocks = config.create_empty_blocks,
        .is_inspected = is_inspected};
}

void note_tls_files(const std::string& trouble) {
    if (trouble.empty()) {
        log::info("rpc: new connections get the certificate that is in rpc.tls_certificate now");
    } else {
        log::warning("rpc: " + trouble + "; new connections still get the certificate that was read before");
    }
}

std::string rpc_url(const Config& config, std::uint16_t port) {
    const std::string scheme = config.rpc_tls_certificate.empty() ? "http://" : "https://";
    return scheme + config.rpc_address + ":" + std::to_string(port);
}

}  // namespace

int run_start(const StartOptions& options) {
    log::start(options.log);
    auto service = system::ServiceManager::of_this_process();
    const StopSignals signals;
    const Home& home = options.home;
    if (!std::filesystem::exists(home.genesis())) {
        throw ConfigError(home.root.string() + " is not initialised: run assayd init --home " + home.root.string());
    }
    const Config config = read_settings(options);
    check_engine(home, config.engine);
    warn_of_settings(config);

    Failure failure;
    const bool has_metrics = !config.metrics_address.empty();
    metrics::NodeMetrics metrics(ASSAY_VERSION);
    Node node({
        .home = home,
        .config = config,
        .genesis = read_genesis(home.genesis()),
        // Nothing is signed by a node that makes no blocks, so a copy of the data needs no key.
        .key = options.only_inspects ? crypto::SecretKey::generate() : open_node_key(home),
        .only_inspects = options.only_inspects,
        .on_failure = [&failure](const std::string& what) { failure.set(what); },
        .on_note = [](const std::string& text) { log::info(text); },
        .on_disk_failure = end_with_disk,
        .observer = has_metrics ? &metrics : nullptr,
        .watched = watched_accounts(config),
        .program = program_rules(options),
    });
    report_start(node);
    rpc::RpcOptions server_options = rpc_options(config, home);
    server_options.engine_state = [&] { return engine_state(node, config, options.only_inspects); };
    if (has_metrics) {
        server_options.on_call = [&metrics](auto... report) { metrics.on_call(report...); };
    }
    server_options.on_tls_files = note_tls_files;
    rpc::RpcServer server(server_options, node);
    std::unique_ptr<client::MetricsServer> metrics_server;
    if (has_metrics) {
        metrics_server = serve_metrics(config, metrics, node, server);
        write_text(home.metrics_address(), metrics_server->url() + "\n");
    }
    node.start();
    const std::string url = rpc_url(config, server.port());
    write_text(home.rpc_address(), url + "\n");
    const NodeStatus first = node.status();
    std::cout << "assayd ready: chain " << first.chain_id << ", height " << first.height.value << ", rpc " << url
              << std::endl;
    service.ready("chain " + first.chain_id + ", rpc " + url);

    run_until_stopped(config, node, signals, failure, service);
    service.stopping();
    signals.let_kill();
    std::error_code ignored;
    std::filesystem::remove(home.rpc_address(), ignored);
    std::filesystem::remove(home.metrics_address(), ignored);
    metrics_server.reset();
    node.stop();
    server.stop();
    if (const auto why = node.why_halted()) {
        log::warning("halted after block " + std::to_string(node.status().height.value) + ": " + *why);
        return kExitHalted;
    }
    if (const auto what = failure.get()) {
        log::error("stopped at height " + std::to_string(node.status().height.value) + ": " + *what);
        return kExitFailure;
    }
    log::info("stopped at height " + std::to_string(node.status().height.value));
    return kExitOk;
}

}  // namespace assay::node
