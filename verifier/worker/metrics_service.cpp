// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/metrics_service.hpp>

#include <charconv>
#include <chrono>
#include <fstream>
#include <system_error>

#include <client/rpc_client.hpp>
#include <core/crypto/address.hpp>
#include <core/system/log/log.hpp>

namespace assay::worker {
namespace {

constexpr std::chrono::seconds kNodePatience{2};

/// Zero for anything that is no number: a scrape shows what there is.
Amount grains_in(const nlohmann::json& value) {
    const auto& text = value.get_ref<const std::string&>();
    std::uint64_t grains = 0;
    std::from_chars(text.data(), text.data() + text.size(), grains);
    return Amount{grains};
}

std::uint64_t size_of(const artifacts::ContentStore& store) {
    std::uint64_t out = 0;
    for (const auto& entry : store.entries()) {
        out += entry.size_bytes;
    }
    return out;
}

}  // namespace

WorkerReadings read_for_scrape(const MetricsSources& sources) {
    WorkerReadings out;
    try {
        client::RpcClient rpc(sources.node, kNodePatience);
        const nlohmann::json params = {{"account", crypto::to_address(sources.account)}};
        const auto stakes = rpc.call("stake_get", params);
        for (const auto& [role, stake] : stakes.at("roles").items()) {
            WorkerReadings::Stake& read = out.stakes[role];
            read.free = grains_in(stake.at("free"));
            read.locked = grains_in(stake.at("locked"));
            for (const auto& unbonding : stake.at("unbonding")) {
                read.unbonding.grains += grains_in(unbonding.at("amount")).grains;
            }
        }
        out.balance = grains_in(rpc.call("account_get", params).at("balance"));
    } catch (const std::exception&) {  // the worker's own thread reports a node that fails
        out.stakes.clear();
    }
    out.own_bytes = size_of(sources.own);
    out.fetched_bytes = size_of(sources.fetched);
    std::error_code error;
    const auto space = std::filesystem::space(sources.home, error);
    if (!error) {
        out.disk_free = space.available;
    }
    return out;
}

Metered::Metered(
    const WorkerOptions& options, const AccountId& account, Reporter& reporter, const artifacts::ContentStore& own,
    const artifacts::ContentStore& fetched
)
    : reporter_(reporter), address_file_(options.home / "metrics_address") {
    if (options.metrics_address.empty()) {
        return;
    }
    metrics_ = std::make_unique<WorkerMetrics>(options.mode, crypto::to_address(account), options.engine.device);
    reporter.observe([this](const nlohmann::ordered_json& event) { metrics_->on_event(event); });
    const MetricsSources sources{
        .node = options.node, .account = account, .home = options.home, .own = own, .fetched = fetched};
    server_ = std::make_unique<client::MetricsServer>(options.metrics_address, options.metrics_port, [this, sources] {
        return metrics_->scrape(read_for_scrape(sources));
    });
    std::ofstream(address_file_, std::ios::binary) << server_->url() << "\n";
    log::info("metrics are at " + server_->url());
}

Metered::~Metered() {
    if (server_) {
        server_->stop();
        reporter_.observe({});
        std::error_code ignored;
        std::filesystem::remove(address_file_, ignored);
    }
}

}  // namespace assay::worker
