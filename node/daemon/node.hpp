// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <contracts/chain/chain.hpp>
#include <node/daemon/application.hpp>
#include <node/daemon/config.hpp>
#include <node/daemon/driver.hpp>
#include <node/daemon/home.hpp>
#include <node/api/node_api.hpp>
#include <node/api/observer.hpp>
#include <node/history/index.hpp>
#include <node/state/store.hpp>

namespace assay::node {

struct NodeOptions {
    Home home;
    Config config;
    contracts::Genesis genesis;
    crypto::SecretKey key;
    /// Makes no blocks and takes no transactions.
    bool only_inspects = false;
    /// Called once, on a thread of the engine, when the node cannot continue.
    std::function<void(const std::string&)> on_failure;
    /// Messages for the operator, one line each, about events other than blocks. Called on any thread. May be empty.
    std::function<void(const std::string&)> on_note{};
    /// Called when a write to the database fails, for example on a full disk. Called on any thread; may end the
    /// process, which loses no block.
    std::function<void(const std::string&)> on_disk_failure{};
    /// Is told of every block, those replayed by the constructor too. Must outlive the node. nullptr: nobody is.
    Observer* observer = nullptr;
    /// Accounts in readings(), besides the node key's.
    std::vector<AccountId> watched{};
    ProgramRules program{};
};

struct EngineProgress {
    std::optional<bool> is_catching_up{};  ///< nullopt: the engine cannot be asked
    bool is_restoring = false;             ///< has taken no state from its peers' snapshots yet, and means to
};

/// A whole node except its RPC server: home, database, block log, rules and engine.
class Node final : public NodeApi {
  public:
    /// Locks the home, opens everything and, with the embedded engine, replays the block log into the database. Throws
    /// HomeError, ConfigError, storage::StorageError, solo::BlockLogError, solo::HandshakeError, cometbft::EngineError,
    /// consensus::HaltError, and std::runtime_error for a bad genesis or address.
    explicit Node(NodeOptions options);
    ~Node() override;

    void start() { driver_->start(); }
    /// Stops making blocks, wakes waiting callers and refuses further transactions; then records a clean stop unless
    /// the engine has failed. Idempotent.
    void stop();

    /// Returns what an operator should know about the start, one line each.
    std::vector<std::string> start_notes() const { return driver_->start_notes(); }
    /// GOV-8: why this program does not go on with the next block, in words for an operator; nullopt: it does.
    std::optional<std::string> why_halted() const { return application_.why_halted(); }

    /// Returns figures for the operator. Asks the engine and the file system, which may take milliseconds.
    NodeReadings readings() const;
    /// Returns what the engine does now. Asks it, which may take seconds where it does not answer.
    EngineProgress progress() const;
    /// Returns the validators of the last committed state.
    std::vector<contracts::ValidatorUpdate> validators() const { return application_.validators(); }

    NodeStatus status() const override;
    contracts::Params params() const override;
    Result<Hash256, consensus::Refusal> submit(Bytes tx) override;
    Height wait_for_block(Height after, std::chrono::milliseconds timeout) override;
    std::optional<StoredBlock> block(Height height) const override;
    std::optional<Bytes> light_block(Height height) const override;
    std::optional<StoredTx> tx(const Hash256& hash) const override;
    bool in_mempool(const Hash256& tx) const override;
    std::optional<Bytes> state(const Bytes& key) const override;
    consensus::QueryResult prove(const Bytes& key, std::optional<Height> height) const override;
    std::uint64_t next_nonce(const AccountId& account) const override;
    Page<contracts::HistoryRecord> task_history(const contracts::TaskId& task, std::uint64_t from, std::uint32_t limit)
        const override;
    Page<contracts::TaskId> tasks(std::uint64_t from, std::uint32_t limit, Order order) const override;
    Page<StoredTx> account_history(const AccountId& account, std::uint64_t from, std::uint32_t limit) const override;
    Page<contracts::DisputeId> disputes(
        const std::optional<contracts::TaskId>& task, std::uint64_t from, std::uint32_t limit, Order order
    ) const override;
    std::vector<DisputeMove> dispute_moves(const contracts::DisputeId& dispute) const override;
    std::optional<double> one_step_us(const contracts::DisputeId& dispute) const override;
    Page<contracts::HistoryRecord> events(
        const std::optional<AccountId>& account, std::uint64_t from, std::uint32_t limit, Order order
    ) const override;
    std::vector<contracts::HistoryRecord> events_of(Height height) const override;
    Page<Payment> payments(const AccountId& account, std::uint64_t from, std::uint32_t limit, Order order)
        const override;
    Page<ValidatorChange> validator_changes(
        const std::optional<AccountId>& account, std::uint64_t from, std::uint32_t limit
    ) const override;
    Page<ValidatorPenalty> validator_penalties(
        const std::optional<AccountId>& account, std::uint64_t from, std::uint32_t limit, Order order
    ) const override;
    std::vector<BlockFees> fees(Height last, std::uint32_t count) const override;
    std::vector<Named> search(const IdPrefix& prefix, std::uint32_t limit) const override;
    std::vector<Named> tasks_titled(const std::string& beginning, std::uint32_t limit) const override;

  private:
    std::unique_ptr<Driver> make_driver();
    void fail(const std::string& what);
    std::optional<OwnValidator> own_validator(const contracts::StateView& view) const;
    StoredTx stored_tx(const storage::Snapshot& snapshot, const history::TxPlace& place) const;

    const NodeOptions options_;
    const HomeLock lock_;
    const LastStop last_stop_;
    const std::chrono::steady_clock::time_point started_at_;
    const std::optional<contracts::ConsensusAddress> consensus_address_;  ///< of the engine that this node runs
    storage::Store store_;
    Application application_;
    std::atomic<bool> failed_ = false;
    std::atomic<bool> stopped_ = false;
    const std::unique_ptr<Driver> driver_;
};

}  // namespace assay::node
