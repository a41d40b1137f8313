// SPDX-License-Identifier: Apache-2.0
#include <node/metrics/node_metrics.hpp>

#include <utility>

namespace assay::metrics {

NodeMetrics::NodeMetrics(const std::string& version)
    : version_(version),
      chain_(registry_),
      calls_(registry_.counter(
          {"assay_rpc_calls_total",
           "JSON-RPC calls, by method and by outcome: ok, or the name of the error.",
           {"method", "outcome"}}
      )),
      call_time_(registry_.histogram(
          {"assay_rpc_call_seconds",
           "Time in which a JSON-RPC call was worked on, without the wait of chain_wait.",
           {"method"}},
          second_bounds()
      )),
      gauges_(registry_),
      process_(registry_) {}

void NodeMetrics::on_executed(
    const consensus::FinalizeRequest& block, const contracts::BlockOutcome& outcome, std::chrono::nanoseconds time
) {
    chain_.on_executed(outcome, block.txs.size(), time);
}

void NodeMetrics::on_committed(const contracts::StateView& after, std::chrono::nanoseconds time) {
    chain_.on_committed(after, time);
}

void NodeMetrics::on_call(std::string_view method, std::string_view outcome, std::chrono::nanoseconds time) {
    // A name that no method has comes from outside and gets no series of its own.
    const std::string name(method.empty() ? "unknown" : method);
    calls_.add({name, std::string(outcome)});
    call_time_.observe({name}, std::chrono::duration<double>(time).count());
}

void NodeMetrics::seed(const node::NodeApi& api, const std::vector<contracts::ValidatorUpdate>& validators) {
    chain_.seed(api, validators);
}

std::string NodeMetrics::scrape(
    const node::NodeStatus& status, const node::NodeReadings& readings, const ServerReadings& server,
    std::uint64_t now_ms
) {
    const std::lock_guard lock(scraping_);
    gauges_.set_status(status, version_, now_ms);
    gauges_.set_readings(readings);
    gauges_.set_server(server);
    chain_.show_accounts(readings.accounts, status.height);
    process_.update();
    return registry_.render();
}

}  // namespace assay::metrics
