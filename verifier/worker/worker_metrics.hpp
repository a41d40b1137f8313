// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <client/earnings.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/state/task.hpp>
#include <core/system/metrics/process.hpp>
#include <core/system/metrics/registry.hpp>
#include <verifier/roles/idle.hpp>
#include <verifier/worker/options.hpp>

namespace assay::worker {

/// What is read when somebody scrapes: of the account from the node, and of the disk.
struct WorkerReadings {
    struct Stake {
        Amount free;
        Amount locked;
        Amount unbonding;
    };
    std::optional<Amount> balance{};      ///< nullopt, and no stakes: the node did not answer
    std::map<std::string, Stake> stakes;  ///< by role
    std::uint64_t own_bytes = 0;          ///< of the artifacts that the worker made
    std::uint64_t fetched_bytes = 0;
    std::optional<std::uint64_t> disk_free{};
};

/// A worker's metrics (docs/operations/metrics.md). Counters begin with the process. Thread-safe.
class WorkerMetrics {
  public:
    WorkerMetrics(Mode mode, const std::string& account, const std::string& device);

    /// Counts what is reported as an event: verdicts, checkpoints, transactions that were refused.
    void on_event(const nlohmann::ordered_json& event);
    void add_trained(std::chrono::duration<double> spent);   ///< a segment
    void add_replayed(std::chrono::duration<double> spent);  ///< a segment, or the beginning of one up to a probe
    /// Why there is nothing to do; nullopt while there is.
    void set_idle(std::optional<roles::Idle> reason);
    /// `tasks` are those that have not ended, as of `height`.
    void set_tasks(
        const std::map<contracts::TaskId, contracts::Task>& tasks, const AccountId& self, contracts::Role role,
        std::uint64_t height
    );
    /// `open` are the disputes of which the account is a party.
    void set_disputes(const std::vector<contracts::Dispute>& open, const AccountId& self, std::uint64_t height);
    void set_breaker(bool is_open);
    void set_relay(const std::string& relay, bool is_registered);
    void set_earnings(const client::Earnings& earnings);
    /// Counts a call to the node that failed: "unreachable", or the name of the error that it answered.
    void add_node_error(const std::string& kind);
    void add_freed(std::uint64_t bytes);

    /// Returns the text of a scrape.
    std::string scrape(const WorkerReadings& readings);

  private:
    void set_readings(const WorkerReadings& readings);

    metrics::Registry registry_;
    metrics::Gauge& idle_;
    metrics::Gauge& tasks_;
    metrics::Histogram& segment_time_;
    metrics::Counter& checkpoints_;
    metrics::Counter& verdicts_;
    metrics::Gauge& disputes_;
    metrics::Gauge& dispute_blocks_left_;
    metrics::Gauge& breaker_;
    metrics::Gauge& relay_;
    metrics::Gauge& balance_;
    metrics::Gauge& stake_;
    metrics::Counter& paid_;
    metrics::Counter& slashed_;
    metrics::Counter& fees_;
    metrics::Gauge& store_;
    metrics::Gauge& disk_free_;
    metrics::Counter& freed_;
    metrics::Gauge& height_;
    metrics::Gauge& block_age_;
    metrics::Counter& node_errors_;
    metrics::Counter& refused_;
    metrics::ProcessMetrics process_;

    std::mutex mutex_;  ///< of what follows, and one scrape at a time
    std::uint64_t height_seen_ = 0;
    std::optional<std::chrono::steady_clock::time_point> seen_at_{};  ///< when the height last grew
};

}  // namespace assay::worker
