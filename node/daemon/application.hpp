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
#include <node/api/observer.hpp>
#include <node/daemon/program_rules.hpp>
#include <node/daemon/signatures.hpp>
#include <node/state/state_cache.hpp>
#include <node/state/state_store.hpp>
#include <node/history/index.hpp>
#include <node/state/chunk.hpp>
#include <node/state/store.hpp>

namespace assay::node {

/// The state of one committed height. It stays readable for as long as this object exists.
class CommittedState final : public contracts::StateView {
  public:
    /// `cache` is used while it holds this height; for any other height it returns nothing.
    CommittedState(
        const Meta& meta, std::shared_ptr<const storage::Snapshot> snapshot, std::shared_ptr<StateCache> cache
    );
    std::optional<Bytes> get(const Bytes& key) const override;

    Height height() const { return meta_.height; }
    const Hash256& app_hash() const { return meta_.app_hash; }
    const std::string& chain_id() const { return meta_.chain_id; }
    const Hash256& genesis_app_hash() const { return meta_.genesis_app_hash; }
    /// States are available from first_state() on, blocks from first_block() on, the history of tasks and disputes from
    /// first_history() on.
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

/// The state machine: the rules (contracts, pure functions) over the database. A block is executed in memory. commit()
/// is the only write: state, tree, history, height and app hash in one batch. Most batches are not synced to disk: the
/// engine syncs its log before each commit, and blocks that a crash takes from the database are executed again from
/// that log (ADR 26).
class Application final : public consensus::StateMachine {
  public:
    using Clock =
        std::function<std::uint64_t()>;  ///< nanoseconds of the calling thread; used to time the one-step verifier

    /// Continues from the state in the store, if there is one. `store` must outlive the application. Throws
    /// StorageError. `keeps_blocks`: store each block with its state, for an engine whose log this node cannot read.
    /// `keep`: number of blocks before the last one whose states (with keeps_blocks, also the blocks) are kept
    /// (CMT-14); 0: all.
    Application(
        storage::Store& store, Clock clock, bool keeps_blocks = false, std::uint64_t keep = 0,
        const ProgramRules& program = {}
    );

    /// Has `observer` told of every block from now on; it must outlive the application. nullptr: nobody is.
    void observe(Observer* observer) { observer_ = observer; }

    consensus::Info info() const override;
    Hash256 init(const contracts::Genesis& genesis) override;
    consensus::CheckResult check(ByteView tx, const Hash256& hash, consensus::CheckKind kind) const override;
    std::vector<Bytes> prepare(std::vector<Bytes> candidates, std::uint64_t max_bytes) const override;
    std::optional<std::string> why_halted() const override;
    Result<void, consensus::ProposalError> process(const consensus::FinalizeRequest& block) const override;
    consensus::FinalizeResult finalize(const consensus::FinalizeRequest& block) override;
    void commit() override;
    Height retain_height() const override;
    std::vector<contracts::ValidatorUpdate> validators() const override;
    consensus::QueryResult query(const consensus::QueryRequest& request) const override;

    /// Returns a committed block; only with keeps_blocks. Throws HeightNotKept.
    history::KeptBlock kept_block(Height height) const;
    /// Returns the app hash of the state after block `height`. Throws HeightNotKept.
    Hash256 app_hash_at(Height height) const;

    /// Erases what is stored of blocks before `first`, which a pruned log no longer has. The history of tasks stays.
    /// Durable when it returns; a process that dies in it has erased a part, and the next call the rest.
    void forget_blocks(Height first);

    /// Returns true if a snapshot may replace the state: no block was executed here, or a restore is in progress.
    bool can_restore() const;
    /// Empties the database for a snapshot; can_restore() must be true. Until finish_restore() the database holds no
    /// state: if the process dies, the next one starts from genesis, and so does init(). Existing views of the old
    /// state stay valid. No block can be executed meanwhile.
    void begin_restore();
    /// Adds a chunk of the state at `height` after `builder` has verified it. Returns the builder's error if it is not
    /// valid.
    Result<void, merkle::RangeError> restore(merkle::TreeBuilder& builder, Height height, const snapshot::Chunk& chunk);
    /// Call when all chunks are added. The committed state is then that of `height`, durably.
    void finish_restore(Height height, const Hash256& app_hash);

    /// Returns the last committed state. init() must have been called.
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
    const ProgramRules program_;
    const std::shared_ptr<StateCache> cache_;
    merkle::NodeCache nodes_;  ///< of the tree after the last finalized block
    Observer* observer_ = nullptr;
    SignatureVerifier verifier_;
    mutable DecodedTxs decoded_;  ///< transactions that are not in a block yet
    mutable std::mutex mutex_;
    std::shared_ptr<const CommittedState> committed_;  ///< null before init()
    std::optional<Pending> pending_;
    storage::Batch batch_;                ///< the changes that commit() writes
    std::optional<Meta> before_restore_;  ///< set while a snapshot is being restored
};

}  // namespace assay::node
