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
#include <core/base/result.hpp>
#include <core/merkle/jmt.hpp>
#include <core/merkle/range.hpp>
#include <consensus/state_machine.hpp>
#include <contracts/chain/chain.hpp>
#include <contracts/state/state.hpp>
#include <node/daemon/signatures.hpp>
#include <node/state/state_cache.hpp>
#include <node/state/state_store.hpp>
#include <node/history/index.hpp>
#include <node/state/chunk.hpp>
#include <node/state/store.hpp>

namespace assay::node {

/// The state of one committed height, readable for as long as it is held.
class CommittedState final : public contracts::StateView {
  public:
    /// `cache` knows this height, or nothing of it.
    CommittedState(
        const Meta& meta, std::shared_ptr<const storage::Snapshot> snapshot, std::shared_ptr<StateCache> cache
    );
    std::optional<Bytes> get(const Bytes& key) const override;

    Height height() const { return meta_.height; }
    const Hash256& app_hash() const { return meta_.app_hash; }
    const std::string& chain_id() const { return meta_.chain_id; }
    const Hash256& genesis_app_hash() const { return meta_.genesis_app_hash; }
    /// States are kept from this height on, and what blocks did from this block on.
    Height first_state() const { return meta_.first_state; }
    Height first_block() const { return meta_.first_block; }
    Height first_history() const { return meta_.first_history; }
    const Meta& meta() const { return meta_; }
    const contracts::Params& params() const { return params_; }
    const storage::Snapshot& snapshot() const { return *snapshot_; }

  private:
    const Meta meta_;
    std::shared_ptr<const storage::Snapshot> snapshot_;
    std::shared_ptr<StateCache> cache_;
    contracts::Params params_;
};

/// The rules (contracts, pure) over the database. A block is executed in memory; commit() is the only write: state,
/// tree, history, height and app hash in one batch. Few of them are synced: the engine's log is, before each, and what a
/// crash takes from the database is executed again from there (ADR 26).
class Application final : public consensus::StateMachine {
  public:
    using Clock = std::function<std::uint64_t()>;  ///< nanoseconds of the calling thread; for timing the referee

    /// Continues from what the store holds. Both outlive the application. Throws StorageError. `keeps_blocks`: each
    /// block is stored with its state, for an engine that keeps no log of its own here. `keep`: of how many blocks before
    /// the last the states stay, and with keeps_blocks the blocks (CMT-14); 0: of all.
    Application(storage::Store& store, Clock clock, bool keeps_blocks = false, std::uint64_t keep = 0);

    consensus::Info info() const override;
    Hash256 init(const contracts::Genesis& genesis) override;
    consensus::CheckResult check(ByteView tx, const Hash256& hash, consensus::CheckKind kind) const override;
    std::vector<Bytes> prepare(std::vector<Bytes> candidates, std::uint64_t max_bytes) const override;
    Result<void, consensus::ProposalError> process(const consensus::FinalizeRequest& block) const override;
    consensus::FinalizeResult finalize(const consensus::FinalizeRequest& block) override;
    void commit() override;
    Height retain_height() const override;
    std::vector<contracts::ValidatorUpdate> validators() const override;
    consensus::QueryResult query(const consensus::QueryRequest& request) const override;

    /// A committed block, where blocks are kept. Throws HeightNotKept.
    history::KeptBlock kept_block(Height height) const;
    /// Of the state after block `height`. Throws HeightNotKept.
    Hash256 app_hash_at(Height height) const;

    /// Whether the state may be replaced by a snapshot's: no block was executed here.
    bool can_restore() const;
    /// Empties the database for a snapshot. Until finish_restore() it holds no state: a process that dies in between
    /// begins with the genesis, as does init(). Views of the state before stay as they are. No block can be executed.
    void begin_restore();
    /// Adds a part of the state of `height` that `builder` finds sound.
    Result<void, merkle::RangeError> restore(
        merkle::TreeBuilder& builder, Height height, const snapshot::Chunk& chunk
    );
    /// All parts are there: the state is that of `height`, durably.
    void finish_restore(Height height, const Hash256& app_hash);

    /// The last committed state. Not before init().
    std::shared_ptr<const CommittedState> committed() const;

  private:
    struct Pending {
        Meta meta;
        contracts::Changes changes;
    };
    void publish(const Meta& meta);
    void prune(Meta& meta, const storage::Snapshot& snapshot);

    storage::Store& store_;
    const Clock clock_;
    const bool keeps_blocks_;
    const std::uint64_t keep_;
    const std::shared_ptr<StateCache> cache_;
    merkle::NodeCache nodes_;  ///< of the tree of the last finalized block
    SignatureVerifier verifier_;
    mutable VerifiedSignatures verified_;  ///< of what no block has had
    mutable std::mutex mutex_;
    std::shared_ptr<const CommittedState> committed_;  ///< null before init
    std::optional<Pending> pending_;
    storage::Batch batch_;  ///< what commit() writes
    std::optional<Meta> before_restore_;  ///< while a snapshot is being restored
};

}  // namespace assay::node
