// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <contracts/chain/chain.hpp>
#include <contracts/state/dispute.hpp>
#include <core/system/metrics/process.hpp>
#include <core/system/metrics/registry.hpp>
#include <node/api/node_api.hpp>
#include <node/api/observer.hpp>
#include <node/metrics/chain_metrics.hpp>
#include <node/metrics/gauges.hpp>

namespace assay::metrics {

/// A node's metrics (docs/operations/metrics.md). Counters begin with the process and count the blocks that it
/// executes, those that it replays at its start too. Thread-safe.
class NodeMetrics final : public node::Observer {
  public:
    explicit NodeMetrics(const std::string& version);

    void on_executed(
        const consensus::FinalizeRequest& block, const contracts::BlockOutcome& outcome, std::chrono::nanoseconds time
    ) override;
    void on_committed(const contracts::StateView& after, std::chrono::nanoseconds time) override;

    /// A JSON-RPC call was answered. `method` is empty if there is no such method; `outcome` is "ok" or the error's
    /// name.
    void on_call(std::string_view method, std::string_view outcome, std::chrono::nanoseconds time);

    /// Reads which tasks and disputes are open at the last committed height. Reads the record of every task and
    /// dispute, so it is called once, before the node makes blocks. Throws storage::StorageError.
    void seed(const node::NodeApi& api, const std::vector<contracts::ValidatorUpdate>& validators);

    /// Returns the text of a scrape. `now_ms` is Unix time. Throws nothing of its own.
    std::string scrape(
        const node::NodeStatus& status, const node::NodeReadings& readings, const ServerReadings& server,
        std::uint64_t now_ms
    );

  private:
    Registry registry_;
    const std::string version_;
    ChainMetrics chain_;
    Counter& calls_;
    Histogram& call_time_;
    std::mutex scraping_;  ///< one scrape at a time sets the gauges
    GaugeMetrics gauges_;
    ProcessMetrics process_;
};

}  // namespace assay::metrics
