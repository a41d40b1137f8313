// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/relay_command.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include <client/metrics_server.hpp>
#include <core/command/exit_codes.hpp>
#include <core/crypto/address.hpp>
#include <core/system/metrics/process.hpp>
#include <core/system/metrics/registry.hpp>
#include <core/system/service_manager.hpp>
#include <verifier/worker/failure.hpp>
#include <verifier/worker/reporter.hpp>

namespace assay::worker {
namespace {

constexpr std::chrono::milliseconds kLookForStop{50};

/// What a relay shows to Prometheus (docs/operations/relay.md).
class RelayMetrics {
  public:
    explicit RelayMetrics(const relay::RelayServer& server) : server_(server) {}

    std::string scrape() {
        const relay::RelayFigures now = server_.figures();
        workers_.set(static_cast<double>(now.workers));
        tunnels_.set(static_cast<double>(now.tunnels));
        tunnels_total_.set_total({}, now.tunnels_total);
        bytes_total_.set_total({}, now.bytes_total);
        for (const auto& [reason, count] : now.refused) {
            refused_.set_total({reason}, count);
        }
        return registry_.render();
    }

  private:
    const relay::RelayServer& server_;
    metrics::Registry registry_;
    metrics::Gauge& workers_ =
        registry_.gauge({"assay_relay_workers", "Services of workers that are registered at the relay."});
    metrics::Gauge& tunnels_ = registry_.gauge({"assay_relay_tunnels", "Connections that are being forwarded."});
    metrics::Counter& tunnels_total_ =
        registry_.counter({"assay_relay_tunnels_total", "Connections that were forwarded."});
    metrics::Counter& bytes_total_ =
        registry_.counter({"assay_relay_bytes_total", "Bytes that were forwarded, in both directions."});
    metrics::Counter& refused_ =
        registry_.counter({"assay_relay_refused_total", "Registrations and connections that were refused.", {"reason"}}
        );
};

void add_limits(CLI::App& command, relay::RelayOptions& options) {
    command
        .add_option(
            "--max-workers", options.workers_max, "How many workers may be registered at a time, each in a role"
        )
        ->check(CLI::Range(1, 65'536))
        ->capture_default_str();
    command
        .add_option(
            "--max-workers-per-address", options.workers_per_address,
            "How many of them from one IPv4 address or IPv6 /64"
        )
        ->check(CLI::Range(1, 65'536))
        ->capture_default_str();
    command.add_option("--max-tunnels", options.tunnels_per_worker, "How many connections one worker gets at a time")
        ->check(CLI::Range(1, 4'096))
        ->capture_default_str();
    command
        .add_option(
            "--max-tunnels-per-address", options.tunnels_per_address,
            "How many connections one IPv4 address or IPv6 /64 gets at a time, to all workers together"
        )
        ->check(CLI::Range(1, 4'096))
        ->capture_default_str();
    command.add_option("--max-connections", options.connections_max, "How many connections the relay has at a time")
        ->check(CLI::Range(8, 1'000'000))
        ->capture_default_str();
    command
        .add_option(
            "--rate", options.bytes_per_s,
            "The most bytes in a second for all connections to one worker together, as in 10MB; 0: no limit"
        )
        ->transform(CLI::AsSizeValue(true))
        ->default_str("0");
}

}  // namespace

void add_relay_serving(CLI::App& command, RelayArguments& args) {
    command
        .add_option(
            "--name", args.serving.name,
            "HOST:PORT at which others reach the relay, as workers give it to --relay; default: where it listens"
        )
        ->check(CLI::Validator(
            [](const std::string& text) {
                return relay::is_relay_name(text) ? std::string()
                                                  : "\"" + text + "\" is no HOST:PORT, as in relay.example.org:4010";
            },
            "HOST:PORT"
        ));
    command
        .add_option_function<std::vector<std::string>>(
            "--allow",
            [&args](const std::vector<std::string>& texts) {
                for (const std::string& text : texts) {
                    args.serving.allowed.insert(crypto::decode_address(text).value());
                }
            },
            "An account whose workers may register; may be given several times; default: everybody's"
        )
        ->check(CLI::Validator(
            [](const std::string& text) {
                return crypto::decode_address(text) ? std::string() : std::string("an address (assay1...) is needed");
            },
            "ADDRESS"
        ));
    add_limits(command, args.serving);
}

int run_relay(
    const RelayArguments& args, const WorkerOptions& options, bool json_progress, const std::atomic<bool>& stop
) {
    relay::RelayOptions serving = args.serving;
    serving.address = options.listen_address;
    serving.port = options.listen_port;
    if (serving.name.empty() && (serving.address == "0.0.0.0" || serving.address == "::")) {
        throw UsageError(
            "--listen " + serving.address + " is no address that others could be told: give --name HOST:PORT as well"
        );
    }
    Reporter reporter(json_progress);
    relay::RelayServer server(serving, [&reporter](std::string_view what, const relay::Service& service) {
        const std::string host = relay::to_host(service);
        reporter.notice(host + ": " + std::string(what), {{"event", "relay"}, {"what", what}, {"worker", host}});
    });
    std::optional<RelayMetrics> metrics;
    std::optional<client::MetricsServer> scraped;
    if (!options.metrics_address.empty()) {
        metrics.emplace(server);
        scraped.emplace(options.metrics_address, options.metrics_port, [&metrics] { return metrics->scrape(); });
        reporter.line("metrics at " + scraped->url());
    }
    reporter.line("assay-worker ready: relay " + server.name());
    const auto service = system::ServiceManager::of_this_process();
    service.ready("relay " + server.name());
    while (!stop) {
        std::this_thread::sleep_for(kLookForStop);
    }
    service.stopping();
    server.stop();
    const relay::RelayFigures figures = server.figures();
    reporter.event({{"event", "stopping"}, {"tunnels", figures.tunnels_total}, {"bytes", figures.bytes_total}});
    return command::kExitOk;
}

}  // namespace assay::worker
