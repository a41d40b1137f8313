// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <core/system/metrics/registry.hpp>
#include <node/api/node_api.hpp>
#include <node/api/observer.hpp>

namespace assay::metrics {

/// Figures of the JSON-RPC server.
struct ServerReadings {
    std::uint64_t connections = 0;  ///< WebSockets and event streams included
    std::uint64_t connections_max = 0;
    std::uint64_t subscribers = 0;  ///< connections that get events
};

/// The metrics that are read when somebody scrapes.
class GaugeMetrics {
  public:
    /// `registry` must outlive this object.
    explicit GaugeMetrics(Registry& registry);
    void set_status(const node::NodeStatus& status, const std::string& version, std::uint64_t now_ms);
    void set_readings(const node::NodeReadings& readings);
    void set_server(const ServerReadings& server);

  private:
    Gauge& info_;
    Gauge& height_;
    Gauge& block_time_;
    Gauge& block_age_;
    Gauge& block_interval_;
    Gauge& first_height_;
    Gauge& catching_up_;
    Gauge& base_fee_;
    Gauge& block_gas_max_;
    Gauge& mempool_txs_;
    Gauge& mempool_bytes_;
    Gauge& mempool_txs_max_;
    Gauge& mempool_bytes_max_;
    Counter& mempool_admitted_;
    Counter& mempool_refused_;
    Gauge& beacon_round_;
    Gauge& beacon_seats_;
    Gauge& own_power_;
    Gauge& own_missed_;
    Gauge& own_missed_max_;
    Gauge& own_jailed_;
    Gauge& own_banned_;
    Gauge& balance_;
    Gauge& database_;
    Gauge& block_log_;
    Gauge& disk_free_;
    Gauge& disk_size_;
    Gauge& connections_;
    Gauge& connections_max_;
    Gauge& subscribers_;
};

}  // namespace assay::metrics
