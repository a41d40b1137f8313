// SPDX-License-Identifier: Apache-2.0
#include <node/metrics/gauges.hpp>

#include <algorithm>

#include <contracts/state/tx_error.hpp>
#include <core/crypto/address.hpp>

namespace assay::metrics {
namespace {

using consensus::RefusalReason;

double to_double(std::uint64_t value) { return static_cast<double>(value); }

/// The refusal's reason as a label: the transaction's error, or what hindered the node.
const char* reason_of(RefusalReason reason, std::uint8_t code) {
    switch (reason) {
        case RefusalReason::kRejected:
            return contracts::to_string(contracts::TxError{code});
        case RefusalReason::kFull:
            return "full";
        case RefusalReason::kAlreadyKnown:
            return "already_known";
        case RefusalReason::kStopping:
            return "stopping";
        case RefusalReason::kUnreachable:
            return "unreachable";
        case RefusalReason::kReadOnly:
            return "read_only";
    }
    return "unknown";
}

}  // namespace

GaugeMetrics::GaugeMetrics(Registry& r)
    : info_(r.gauge(
          {"assay_node_info",
           "Version, chain and engine of the node; the value is 1.",
           {"version", "chain_id", "engine"}}
      )),
      height_(r.gauge({"assay_node_height", "Height of the last committed block."})),
      block_time_(r.gauge({"assay_node_block_time_seconds", "Unix time in the header of the last committed block."})),
      block_age_(r.gauge(
          {"assay_node_block_age_seconds", "Seconds between the time of the last committed block and this scrape."}
      )),
      block_interval_(r.gauge({"assay_node_block_interval_seconds", "The configured time between two blocks."})),
      first_height_(r.gauge(
          {"assay_node_first_height",
           "The first height of which the node has the state, the block, or the history.",
           {"kind"}}
      )),
      catching_up_(
          r.gauge({"assay_node_catching_up", "1 while the engine fetches blocks that others have already decided."})
      ),
      base_fee_(r.gauge({"assay_base_fee_grains", "Price of a unit of gas in the next block."})),
      block_gas_max_(r.gauge({"assay_block_gas_max", "The most gas that the transactions of a block may use."})),
      mempool_txs_(r.gauge({"assay_mempool_transactions", "Number of transactions that wait for a block."})),
      mempool_bytes_(r.gauge({"assay_mempool_bytes", "Size of the transactions that wait for a block."})),
      mempool_txs_max_(r.gauge({"assay_mempool_transactions_max", "Number of transactions with a fee that may wait."})),
      mempool_bytes_max_(r.gauge({"assay_mempool_bytes_max", "Size of the transactions with a fee that may wait."})),
      mempool_admitted_(r.counter({"assay_mempool_admitted_total", "Transactions that entered the mempool."})),
      mempool_refused_(
          r.counter({"assay_mempool_refused_total", "Transactions that the mempool refused, by reason.", {"reason"}})
      ),
      beacon_round_(r.gauge({"assay_beacon_round", "Number of rounds of the beacon that were closed since genesis."})),
      beacon_seats_(r.gauge({"assay_beacon_seats", "Number of contributors that have a seat in the beacon."})),
      own_power_(r.gauge(
          {"assay_validator_own_power", "Voting power of the validator that this node runs; absent if it runs none."}
      )),
      own_missed_(r.gauge(
          {"assay_validator_own_missed_blocks", "Consecutive blocks without the vote of this node's validator."}
      )),
      own_missed_max_(r.gauge(
          {"assay_validator_own_missed_blocks_max",
           "The number of consecutive missed blocks at which a validator is jailed."}
      )),
      own_jailed_(r.gauge({"assay_validator_own_jailed", "1 while this node's validator is jailed."})),
      own_banned_(r.gauge({"assay_validator_own_banned", "1 if this node's validator was banned for signing twice."})),
      balance_(r.gauge({"assay_account_balance_grains", "Balance of a watched account.", {"account"}})),
      database_(r.gauge({"assay_database_bytes", "Size of the files of the database."})),
      block_log_(r.gauge({"assay_block_log_bytes", "Size of the block log; 0 under CometBFT."})),
      disk_free_(r.gauge({"assay_disk_free_bytes", "Space that is left to the node on the file system of its data."})),
      disk_size_(r.gauge({"assay_disk_size_bytes", "Size of the file system of the node's data."})),
      connections_(r.gauge({"assay_rpc_connections", "Open connections to the JSON-RPC server."})),
      connections_max_(
          r.gauge({"assay_rpc_connections_max", "The most connections that the JSON-RPC server keeps open."})
      ),
      subscribers_(r.gauge({"assay_rpc_subscribers", "Connections that subscribe to events."})) {}

void GaugeMetrics::set_status(const node::NodeStatus& status, const std::string& version, std::uint64_t now_ms) {
    info_.set({version, status.chain_id, status.engine}, 1);
    height_.set(to_double(status.height.value));
    block_interval_.set(to_double(status.block_interval_ms) / 1'000);
    first_height_.set({"state"}, to_double(status.first_state.value));
    first_height_.set({"block"}, to_double(status.first_block.value));
    first_height_.set({"history"}, to_double(status.first_history.value));
    mempool_txs_.set(to_double(status.mempool_txs));
    mempool_bytes_.set(to_double(status.mempool_bytes));
    block_time_.clear();
    block_age_.clear();
    if (status.time_ms != 0) {  // genesis has no time
        block_time_.set(to_double(status.time_ms) / 1'000);
        block_age_.set(to_double(std::max(now_ms, status.time_ms) - status.time_ms) / 1'000);
    }
}

void GaugeMetrics::set_readings(const node::NodeReadings& readings) {
    base_fee_.set(to_double(readings.base_fee.grains));
    block_gas_max_.set(to_double(readings.block_gas_max));
    mempool_txs_max_.set(to_double(readings.mempool_txs_max));
    mempool_bytes_max_.set(to_double(readings.mempool_bytes_max));
    mempool_admitted_.set_total({}, readings.mempool_admitted);
    for (const auto& [refusal, count] : readings.mempool_refused) {
        mempool_refused_.set_total({reason_of(refusal.first, refusal.second)}, count);
    }
    beacon_round_.set(to_double(readings.beacon_rounds));
    beacon_seats_.set(to_double(readings.beacon_seats));
    catching_up_.clear();
    if (readings.is_catching_up) {
        catching_up_.set(*readings.is_catching_up ? 1 : 0);
    }
    for (Gauge* const gauge : {&own_power_, &own_missed_, &own_missed_max_, &own_jailed_, &own_banned_}) {
        gauge->clear();
    }
    if (const auto& own = readings.validator) {
        own_power_.set(to_double(own->power));
        own_missed_.set(own->missed);
        own_missed_max_.set(own->missed_max);
        own_jailed_.set(own->is_jailed ? 1 : 0);
        own_banned_.set(own->is_banned ? 1 : 0);
    }
    for (const auto& [account, balance] : readings.accounts) {
        balance_.set({crypto::to_address(account)}, to_double(balance.grains));
    }
    database_.set(to_double(readings.database_bytes));
    block_log_.set(to_double(readings.block_log_bytes));
    disk_free_.set(to_double(readings.disk_free_bytes));
    disk_size_.set(to_double(readings.disk_size_bytes));
}

void GaugeMetrics::set_server(const ServerReadings& server) {
    connections_.set(to_double(server.connections));
    connections_max_.set(to_double(server.connections_max));
    subscribers_.set(to_double(server.subscribers));
}

}  // namespace assay::metrics
