// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <contracts/chain/chain.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/state/task.hpp>
#include <core/system/metrics/registry.hpp>
#include <node/api/node_api.hpp>
#include <node/api/observer.hpp>

namespace assay::metrics {

/// The metrics that follow from blocks. What a block adds is kept until it is committed.
class ChainMetrics {
  public:
    /// `registry` must outlive this object.
    explicit ChainMetrics(Registry& registry);

    void on_executed(const contracts::BlockOutcome& outcome, std::size_t tx_count, std::chrono::nanoseconds time);
    void on_committed(const contracts::StateView& after, std::chrono::nanoseconds time);
    /// Replaces what is known of open tasks, open disputes and validators by what the node has.
    void seed(const node::NodeApi& api, const std::vector<contracts::ValidatorUpdate>& validators);
    /// Shows the open disputes of the watched accounts, as of the state at `height`.
    void show_accounts(const std::vector<node::WatchedAccount>& accounts, Height height);

  private:
    struct Added {
        Counter* counter = nullptr;
        Labels labels;
        std::uint64_t amount = 0;
    };
    /// What the last executed block will have added once it is committed.
    struct Pending {
        std::vector<Added> added;
        std::vector<std::pair<contracts::TaskId, contracts::TaskState>> tasks;
        std::vector<contracts::DisputeId> disputes;
        std::vector<contracts::ValidatorUpdate> validators;
        std::uint64_t gas = 0;      ///< of the transactions
        std::uint64_t end_gas = 0;  ///< of deadlines and draws
        std::size_t tx_count = 0;
        std::chrono::nanoseconds time{};
    };
    /// What is kept of an open dispute.
    struct OpenDispute {
        AccountId responder;
        AccountId challenger;
        bool is_awaiting = false;
        bool is_responders_turn = false;
        Height deadline;  ///< the last block in which the party to move can
    };

    void add(Pending& pending, Counter& counter, Labels labels, std::uint64_t amount = 1) const;
    void note_event(Pending& pending, const contracts::HistoryRecord& record);
    void note_task(const contracts::TaskId& task, contracts::TaskState state);
    void note_dispute(const contracts::DisputeId& id, const std::optional<contracts::Dispute>& dispute);
    void note_validators(const std::vector<contracts::ValidatorUpdate>& updates);
    void show_counts();

    Counter& blocks_;
    Histogram& execution_time_;
    Histogram& commit_time_;
    Gauge& block_gas_;
    Gauge& block_txs_;
    Counter& gas_;
    Counter& executed_;
    Counter& failed_;
    Counter& proofs_;
    Gauge& tasks_;
    Counter& task_changes_;
    Counter& tasks_submitted_;
    Counter& checkpoints_;
    Counter& verdicts_;
    Gauge& disputes_;
    Counter& disputes_opened_;
    Counter& dispute_moves_;
    Counter& disputes_ended_;
    Counter& payments_;
    Counter& paid_;
    Counter& slashes_;
    Counter& slashed_;
    Counter& burned_;
    Gauge& validators_;
    Gauge& power_;
    Gauge& account_disputes_;
    Gauge& account_blocks_left_;

    std::mutex mutex_;
    std::optional<Pending> pending_;
    std::map<contracts::TaskId, contracts::TaskState> open_tasks_;
    std::map<contracts::DisputeId, OpenDispute> open_disputes_;
    std::map<contracts::ConsensusKey, std::uint64_t> powers_;
};

}  // namespace assay::metrics
