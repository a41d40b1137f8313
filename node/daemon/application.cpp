// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/application.hpp>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/merkle/jmt.hpp>
#include <contracts/chain/envelope.hpp>
#include <contracts/params/gas.hpp>
#include <contracts/state/overlay.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/chain/duty.hpp>
#include <contracts/validators/validators.hpp>
#include <node/daemon/config.hpp>
#include <node/state/state_store.hpp>
#include <node/history/index.hpp>
#include <node/history/names.hpp>
#include <core/dispute/one_step_verifier.hpp>

namespace assay::node {
namespace {

constexpr std::size_t kCacheBytes = 64U << 20U;
constexpr std::size_t kCachedNodes = 25'000;  // about as much

std::optional<consensus::ProvenKey> prove_leaf(
    const storage::Snapshot& snapshot, Height height, const std::optional<merkle::LeafHashes>& leaf
) {
    if (!leaf) {
        return std::nullopt;
    }
    auto slot = read_slot_at(snapshot, leaf->key_hash, height).value();
    merkle::JmtProof proof = merkle::prove(TreeReader(snapshot), height.value, slot.key);
    return consensus::ProvenKey{.key = std::move(slot.key), .value = std::move(slot.value), .proof = std::move(proof)};
}

/// How much one block erases at most beyond what a height has, and what a height counts for itself.
constexpr std::size_t kPruneWork = 10'000;
constexpr std::size_t kPruneHeightWork = 10;

/// The state after a block that is not committed.
class ChangedView final : public contracts::StateView {
  public:
    ChangedView(const contracts::StateView& base, const contracts::Changes& changes) : base_(base), changes_(changes) {}
    std::optional<Bytes> get(const Bytes& key) const override {
        const auto it = changes_.find(key);
        return it != changes_.end() ? it->second : base_.get(key);
    }

  private:
    const contracts::StateView& base_;
    const contracts::Changes& changes_;
};

/// Judges every proof of the block once more, with a clock beside it: the rules themselves have none.
std::vector<history::OneStepTime> time_one_step(
    const contracts::StateView& before, const std::vector<contracts::BlockEntry>& entries,
    const contracts::BlockOutcome& outcome, const Application::Clock& clock
) {
    std::vector<history::OneStepTime> out;
    const ChangedView after(before, outcome.changes);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (outcome.receipts[i].code != 0) {
            continue;
        }
        const auto* move = std::get_if<contracts::ProveMove>(&(*entries[i].decoded)->tx.body.action);
        const auto dispute = move != nullptr ? contracts::find_dispute(after, move->dispute) : std::nullopt;
        if (!dispute) {
            continue;
        }
        const std::uint64_t start = clock();
        const auto ruling = dispute::judge(dispute->claim, dispute->position, move->proof);
        const std::uint64_t end = clock();
        if (ruling) {
            out.push_back({.dispute = move->dispute, .nanoseconds = end - start});
        }
    }
    return out;
}

void require_state(const CommittedState& state, Height height) {
    if (height < state.first_state() || height > state.height()) {
        throw consensus::HeightNotKept("the state", height, state.first_state(), state.height());
    }
}

const char* to_text(contracts::GenesisError error) {
    switch (error) {
        case contracts::GenesisError::kChainId:
            return "the chain id must be 1 to 48 characters of a-z, 0-9 and -";
        case contracts::GenesisError::kSupplyOverflow:
            return "the balances exceed the largest amount";
        case contracts::GenesisError::kParams:
            return "the parameters contradict each other";
        case contracts::GenesisError::kValidators:
            return "the validators are not sound";
    }
    return "not valid";
}

}  // namespace

CommittedState::CommittedState(
    const Meta& meta, std::shared_ptr<const storage::Snapshot> snapshot, std::shared_ptr<StateCache> cache
)
    : meta_(meta), snapshot_(std::move(snapshot)), cache_(std::move(cache)), params_(contracts::get_params(*this)) {}

std::optional<Bytes> CommittedState::get(const Bytes& key) const {
    if (auto held = cache_->find(meta_.height, key)) {
        return *std::move(held);
    }
    auto value = read_slot(*snapshot_, key);
    cache_->keep(meta_.height, key, value);
    return value;
}

Application::Application(
    storage::Store& store, Clock clock, bool keeps_blocks, std::uint64_t keep, const ProgramRules& program
)
    : store_(store),
      clock_(std::move(clock)),
      keeps_blocks_(keeps_blocks),
      keep_(keep),
      program_(program),
      cache_(std::make_shared<StateCache>(kCacheBytes)),
      nodes_(kCachedNodes) {
    const auto snapshot = store_.snapshot();
    if (is_restoring(*snapshot)) {
        return;  // what is there is half a snapshot: init() begins anew
    }
    if (const auto meta = read_meta(*snapshot)) {
        publish(*meta);
    }
}

void Application::publish(const Meta& meta) {
    if (cache_->height() != meta.height) {
        cache_->reset(meta.height);
    }
    auto state = std::make_shared<const CommittedState>(meta, store_.snapshot(), cache_);
    const std::lock_guard lock(mutex_);
    committed_ = std::move(state);
}

std::shared_ptr<const CommittedState> Application::committed() const {
    const std::lock_guard lock(mutex_);
    ASSERT(committed_ != nullptr);
    return committed_;
}

consensus::Info Application::info() const {
    const std::lock_guard lock(mutex_);
    return committed_ ? consensus::Info{
                            .height = committed_->height(),
                            .app_hash = committed_->app_hash(),
                            .protocol_version = committed_->params().protocol_version}
                      : consensus::Info{};
}

Hash256 Application::init(const contracts::Genesis& genesis) {
    if (is_restoring(*store_.snapshot())) {
        erase_all(store_);
        before_restore_.reset();
    }
    const auto snapshot = store_.snapshot();
    const Hash256 digest = crypto::sha256(codec::encode(genesis));
    if (const auto meta = read_meta(*snapshot)) {
        if (meta->genesis != digest) {
            throw std::runtime_error(
                "the database was made from another genesis file: restore the genesis.json of the first start"
            );
        }
        return meta->genesis_app_hash;
    }
    auto changes = contracts::make_genesis(genesis);
    if (!changes) {
        throw std::runtime_error(std::string("the genesis file is not valid: ") + to_text(changes.error()));
    }
    storage::Batch batch;
    const Hash256 app_hash = write_state(batch, *snapshot, std::nullopt, Height{0}, *changes);
    history::index_names(batch, *changes);
    const Meta meta{
        .format = kMetaFormat,
        .height = Height{0},
        .app_hash = app_hash,
        .chain_id = genesis.chain_id,
        .genesis = digest,
        .genesis_app_hash = app_hash,
        .first_state = Height{0},
        .first_block = Height{1},
        .first_history = Height{1}};
    write_meta(batch, meta);
    unmark_restoring(batch);
    store_.write(batch, true);
    publish(meta);
    return app_hash;
}

consensus::CheckResult Application::check(ByteView tx, const Hash256& hash, consensus::CheckKind kind) const {
    const auto state = committed();
    const auto view = contracts::Overlay::over(*state);  // reads the sender once
    const Height next{state->height().value + 1};
    const auto code_of = [](contracts::TxError error) { return static_cast<std::uint8_t>(error); };
    consensus::CheckResult out;
    contracts::DecodedTxPtr decoded = decoded_.find(hash);
    if (decoded == nullptr) {
        auto entry = contracts::decode_tx(tx, hash, state->params());
        if (!entry) {
            out.code = code_of(entry.error());
            return out;
        }
        if (kind == consensus::CheckKind::kNew) {
            if (const auto checked = contracts::check_stateless(*entry, state->chain_id(), std::cref(verifier_));
                !checked) {
                out.code = code_of(checked.error());
                return out;
            }
            entry->is_signed = true;
            entry->is_checked = true;
        }
        decoded = std::make_shared<const contracts::DecodedTx>(*std::move(entry));
        if (decoded->is_signed) {
            decoded_.add(decoded);
        }
    } else if (kind == consensus::CheckKind::kNew) {
        // It is known from a proposal, whose checks may have ended before the action's.
        if (const auto checked = contracts::check_stateless(*decoded, state->chain_id()); !checked) {
            out.code = code_of(checked.error());
            return out;
        }
    }
    const contracts::TxBody& body = decoded->tx.body;
    out.sender = body.sender;
    out.nonce = body.nonce;
    const contracts::Account sender = contracts::get_account(view, out.sender);
    out.state_nonce = sender.nonce;
    out.balance = sender.balance;
    out.gas = decoded->gas;
    out.fee = body.fee;
    out.reserve = contracts::reserve_of(body, state->params());
    if (contracts::is_answer(body)) {
        const auto duty = contracts::check_answer(view, state->params(), body, decoded->size_bytes, next);
        out.code = duty ? std::uint8_t{0} : code_of(duty.error());
        if (duty) {
            out.duty = *duty;
        }
        return out;
    }
    // Nonces beyond the state's are the mempool's matter: it knows what waits before them.
    const auto checked =
        contracts::check_tx(view, state->params(), *decoded, std::max(out.nonce, out.state_nonce), next);
    out.code = checked ? std::uint8_t{0} : code_of(checked.error());
    return out;
}

std::optional<std::string> Application::why_halted() const {
    return node::why_halted(program_, *committed(), info().height);
}

std::vector<Bytes> Application::prepare(std::vector<Bytes> candidates, std::uint64_t max_bytes) const {
    if (why_halted()) {
        return {};
    }
    const auto state = committed();
    const auto entries =
        decode_block(candidates, contracts::tx_hashes(candidates), state->params(), verifier_, decoded_);
    contracts::BlockProposal proposal(*state, state->chain_id(), state->params(), Height{state->height().value + 1});
    std::vector<Bytes> chosen;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const auto use = proposal.open(entries[i]);
        if (!use || !use->fits_lane(state->params())) {
            continue;  // FEE-4; DTY-4: an answer waits for its lane, and no other transaction waits for it
        }
        // GAS-7: the first that does not fit ends the block. One behind it may follow it in nonce, and none overtakes
        // it.
        if (use->bytes() > max_bytes || !use->fits_size(state->params()) || !use->fits_gas(state->params())) {
            break;
        }
        proposal.take();
        chosen.push_back(std::move(candidates[i]));
    }
    return chosen;
}

Result<void, consensus::ProposalError> Application::process(const consensus::FinalizeRequest& block) const {
    using consensus::ProposalError;
    const auto state = committed();
    if (block.height.value != state->height().value + 1) {
        return Unexpected{ProposalError::kHeight};
    }
    if (why_halted()) {
        return Unexpected{ProposalError::kHalted};
    }
    std::uint64_t size_bytes = 0;
    for (const Bytes& tx : block.txs) {
        size_bytes += tx.size();
    }
    if (size_bytes > state->params().block_size_max) {
        return Unexpected{ProposalError::kTooLarge};
    }
    const auto hashes = block.tx_hashes.empty() ? contracts::tx_hashes(block.txs) : block.tx_hashes;
    const auto entries = decode_block(block.txs, hashes, state->params(), verifier_, decoded_);
    contracts::BlockProposal proposal(*state, state->chain_id(), state->params(), block.height);
    for (const contracts::BlockEntry& entry : entries) {
        if (!proposal.open(entry)) {
            return Unexpected{ProposalError::kUnpaid};
        }
        proposal.take();
    }
    if (!proposal.use().fits_gas(state->params())) {
        return Unexpected{ProposalError::kTooMuchGas};
    }
    if (!proposal.use().fits_lane(state->params())) {
        return Unexpected{ProposalError::kLane};
    }
    return {};
}

consensus::FinalizeResult Application::finalize(const consensus::FinalizeRequest& block) {
    const auto state = committed();
    ASSERT(block.height.value == state->height().value + 1);
    const auto started_at = std::chrono::steady_clock::now();
    if (before_restore_) {
        throw std::runtime_error("a snapshot is being restored: no block can be executed");
    }
    if (const auto why = why_halted()) {
        throw consensus::HaltError(*why);
    }
    const contracts::BlockContext context{
        .height = block.height,
        .time_ms = block.time_ms,
        .block_hash = block.block_hash,
        .proposer = block.proposer,
        .misbehaviour = block.misbehaviour,
        .absent = block.absent};
    const auto hashes = block.tx_hashes.empty() ? contracts::tx_hashes(block.txs) : block.tx_hashes;
    const auto entries = decode_block(block.txs, hashes, state->params(), verifier_, decoded_);
    auto outcome = contracts::apply_block(*state, state->chain_id(), context, entries);
    decoded_.forget(hashes);
    batch_.clear();
    Meta meta = state->meta();
    meta.app_hash =
        write_state(batch_, state->snapshot(), state->height().value, block.height, outcome.changes, &nodes_);
    meta.height = block.height;
    history::index_block(batch_, state->snapshot(), block, outcome, time_one_step(*state, entries, outcome, clock_));
    if (keeps_blocks_) {
        history::keep_block(batch_, block);
    }
    prune(meta, state->snapshot());
    write_meta(batch_, meta);
    if (observer_ != nullptr) {
        observer_->on_executed(block, outcome, std::chrono::steady_clock::now() - started_at);
    }

    consensus::FinalizeResult result{
        .app_hash = meta.app_hash,
        .receipts = std::move(outcome.receipts),
        .validator_updates = std::move(outcome.validator_updates),
        .protocol_version = outcome.protocol_version};
    pending_ = Pending{.meta = std::move(meta), .changes = std::move(outcome.changes)};
    return result;
}

// CMT-14
void Application::prune(Meta& meta, const storage::Snapshot& snapshot) {
    std::size_t work = 0;
    // What is due after one block is erased with it; what an earlier setting left takes some blocks more.
    while (keep_ != 0 && meta.first_state.value + keep_ < meta.height.value && work < kPruneWork) {
        work += kPruneHeightWork + prune_state(batch_, snapshot, meta.first_state);
        meta.first_state = Height{meta.first_state.value + 1};
        while (keeps_blocks_ && meta.first_block <= meta.first_state) {
            work += history::prune_block(batch_, snapshot, meta.first_block);
            meta.first_block = Height{meta.first_block.value + 1};
        }
    }
}

Height Application::retain_height() const {
    return keep_ != 0 && keeps_blocks_ ? committed()->first_block() : Height{0};
}

void Application::commit() {
    ASSERT(pending_.has_value());
    const auto started_at = std::chrono::steady_clock::now();
    store_.write(batch_, pending_->meta.height.value % kSyncBlocks == 0);
    cache_->advance(pending_->meta.height, pending_->changes);
    publish(pending_->meta);
    pending_.reset();
    if (observer_ != nullptr) {
        observer_->on_committed(*committed(), std::chrono::steady_clock::now() - started_at);
    }
}

std::vector<contracts::ValidatorUpdate> Application::validators() const {
    return contracts::current_validators(*committed());
}

history::KeptBlock Application::kept_block(Height height) const {
    const auto state = committed();
    if (height < state->first_block() || height > state->height()) {
        throw consensus::HeightNotKept("the block", height, state->first_block(), state->height());
    }
    auto block = history::Reader(state->snapshot()).kept_block(height);
    if (!block) {
        throw storage::StorageError("database: block " + std::to_string(height.value) + " is not kept");
    }
    return *std::move(block);
}

Hash256 Application::app_hash_at(Height height) const {
    const auto state = committed();
    require_state(*state, height);
    return merkle::root_at(TreeReader(state->snapshot()), height.value);
}

consensus::QueryResult Application::query(const consensus::QueryRequest& request) const {
    const auto state = committed();
    const Height height = request.height.value_or(state->height());
    require_state(*state, height);
    const TreeReader reader(state->snapshot());
    consensus::QueryResult out{
        .height = height,
        .app_hash = merkle::root_at(reader, height.value),
        .value = std::nullopt,
        .proof = merkle::prove(reader, height.value, request.key),
    };
    const Hash256 slot_hash = crypto::sha256(request.key);
    if (auto slot = read_slot_at(state->snapshot(), slot_hash, height)) {
        out.value = std::move(slot->value);
    }
    if (request.with_neighbours && !out.value) {
        const auto neighbours = merkle::find_neighbours(reader, height.value, slot_hash);
        out.left = prove_leaf(state->snapshot(), height, neighbours.left);
        out.right = prove_leaf(state->snapshot(), height, neighbours.right);
    }
    return out;
}

void Application::forget_blocks(Height first) {
    ASSERT(!pending_.has_value());
    Meta meta = committed()->meta();
    while (meta.first_block < first) {
        storage::Batch batch;
        const auto snapshot = store_.snapshot();
        for (std::size_t work = 0; meta.first_block < first && work < kPruneWork;) {
            work += history::prune_block(batch, *snapshot, meta.first_block);
            meta.first_block = Height{meta.first_block.value + 1};
        }
        write_meta(batch, meta);
        store_.write(batch, meta.first_block == first);
        publish(meta);
    }
}

}  // namespace assay::node
