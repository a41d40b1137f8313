// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <consensus/state_machine.hpp>
#include <contracts/chain/chain.hpp>
#include <contracts/chain/state.hpp>
#include <node/app/signatures.hpp>
#include <node/app/state_cache.hpp>
#include <node/history/index.hpp>
#include <node/storage/store.hpp>

namespace assay::node {

/// The state of one committed height, readable for as long as it is held.
class CommittedState final : public contracts::StateView {
  public:
    /// `cache` knows this height, or nothing of it.
    CommittedState(
        Height height, Hash256 app_hash, std::string chain_id, std::shared_ptr<const storage::Snapshot> snapshot,
        std::shared_ptr<StateCache> cache
    );
    std::optional<Bytes> get(const Bytes& key) const override;

    Height height() const { return height_; }
    const Hash256& app_hash() const { return app_hash_; }
    const std::string& chain_id() const { return chain_id_; }
    const contracts::Params& params() const { return params_; }
    const storage::Snapshot& snapshot() const { return *snapshot_; }

  private:
    Height height_;
    Hash256 app_hash_;
    std::string chain_id_;
    std::shared_ptr<const storage::Snapshot> snapshot_;
    std::shared_ptr<StateCache> cache_;
    contracts::Params params_;
};

/// The rules (contracts, pure) over the database. A block is executed in memory; commit() is the only write: state,
/// tree, history, height and app hash in one batch. That batch is not synced: the engine's log is, before it, and what
/// a power cut takes from the database is replayed from there.
class Application final : public consensus::StateMachine {
  public:
    using Clock = std::function<std::uint64_t()>;  ///< nanoseconds of the calling thread; for timing the referee

    /// Continues from what the store holds. Both outlive the application. Throws StorageError. `keeps_blocks`: each
    /// block is stored with its state, for an engine that keeps no log of its own here.
    Application(storage::Store& store, Clock clock, bool keeps_blocks = false);

    consensus::Info info() const override;
    Hash256 init(const contracts::Genesis& genesis) override;
    consensus::CheckResult check(ByteView tx, consensus::CheckKind kind) const override;
    std::vector<Bytes> prepare(std::vector<Bytes> candidates, std::uint64_t max_bytes) const override;
    bool process(const consensus::FinalizeRequest& proposal) const override;
    consensus::FinalizeResult finalize(const consensus::FinalizeRequest& block) override;
    void commit() override;
    std::vector<contracts::ValidatorUpdate> validators() const override;
    /// Throws std::out_of_range for a height that is not kept.
    consensus::QueryResult query(const consensus::QueryRequest& request) const override;

    /// A committed block, where blocks are kept. Throws StorageError when it is not there.
    history::KeptBlock kept_block(Height height) const;
    /// Of the state after block `height`. Throws std::out_of_range for a height that is not kept.
    Hash256 app_hash_at(Height height) const;

    /// The last committed state. Not before init().
    std::shared_ptr<const CommittedState> committed() const;

  private:
    struct Pending {
        Height height;
        Hash256 app_hash;
        storage::Batch batch;
        contracts::Changes changes;
    };
    void publish(Height height, const Hash256& app_hash, const std::string& chain_id);

    storage::Store& store_;
    const Clock clock_;
    const bool keeps_blocks_;
    const std::shared_ptr<StateCache> cache_;
    mutable VerifiedSignatures verified_;  ///< by check, for finalize
    mutable std::mutex mutex_;
    std::shared_ptr<const CommittedState> committed_;  ///< null before init
    std::optional<Pending> pending_;
};

}  // namespace assay::node
