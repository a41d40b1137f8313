// SPDX-License-Identifier: Apache-2.0
#include <node/app/application.hpp>

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/merkle/jmt.hpp>
#include <contracts/chain/slots.hpp>
#include <contracts/validators/validators.hpp>
#include <node/history/index.hpp>
#include <verifier/trace/referee.hpp>

namespace assay::node {
namespace {

using storage::Column;

/// What the meta column says of the state.
struct Meta {
    std::uint32_t format = 0;
    Height height;
    Hash256 app_hash;
    std::string chain_id;
    Hash256 genesis;  ///< SHA-256 of Borsh(Genesis)
    Hash256 genesis_app_hash;
    static constexpr auto fields() {
        return std::tuple{
            &Meta::format, &Meta::height, &Meta::app_hash, &Meta::chain_id, &Meta::genesis, &Meta::genesis_app_hash};
    }
};
constexpr std::uint32_t kFormat = 1;

constexpr std::size_t kCacheBytes = 64U << 20U;

const Bytes& meta_key() {
    static const Bytes kKey{'m', 'e', 't', 'a'};
    return kKey;
}

std::optional<Meta> read_meta(const storage::Snapshot& snapshot) {
    const auto bytes = snapshot.get(Column::kMeta, meta_key());
    if (!bytes) {
        return std::nullopt;
    }
    auto meta = codec::decode<Meta>(*bytes);
    if (!meta || meta->format != kFormat) {
        throw storage::StorageError("database: written by another version; delete the db directory to rebuild it");
    }
    return *std::move(meta);
}

void append_big_endian(Bytes& out, std::uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8) {
        out.push_back(static_cast<std::uint8_t>(number >> static_cast<unsigned>(shift)));
    }
}

Bytes value_prefix(const Bytes& slot) {
    const Hash256 hash = crypto::sha256(slot);
    return Bytes(hash.data.begin(), hash.data.end());
}

Bytes value_key(const Bytes& slot, Height height) {
    Bytes key = value_prefix(slot);
    append_big_endian(key, height.value);
    return key;
}

class TreeReader final : public merkle::NodeReader {
  public:
    explicit TreeReader(const storage::Snapshot& snapshot) : snapshot_(snapshot) {}
    std::optional<Bytes> read_node(const merkle::NodeKey& key) const override {
        return snapshot_.get(Column::kTree, merkle::to_key(key));
    }

  private:
    const storage::Snapshot& snapshot_;
};

/// Adds the state's changes of `height` to `batch` and returns the app hash.
Hash256 write_state(
    storage::Batch& batch,
    const storage::Snapshot& snapshot,
    std::optional<std::uint64_t> base,
    Height height,
    const contracts::Changes& changes
) {
    auto update = merkle::update_tree(TreeReader(snapshot), base, height.value, changes);
    for (auto& [key, node] : update.nodes) {
        batch.put(Column::kTree, merkle::to_key(key), std::move(node));
    }
    for (const merkle::NodeKey& stale : update.stale) {
        Bytes key;
        append_big_endian(key, height.value);
        append(key, merkle::to_key(stale));
        batch.put(Column::kStale, std::move(key), {});
    }
    for (const auto& [slot, value] : changes) {
        batch.put(Column::kValues, value_key(slot, height), codec::encode(value));
        if (value) {
            batch.put(Column::kState, slot, *value);
        } else {
            batch.erase(Column::kState, slot);
        }
    }
    return update.root;
}

void write_meta(storage::Batch& batch, const Meta& meta) { batch.put(Column::kMeta, meta_key(), codec::encode(meta)); }

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
std::vector<history::RefereeTime> time_referee(
    const contracts::StateView& before,
    const std::vector<Bytes>& txs,
    const contracts::BlockOutcome& outcome,
    const Application::Clock& clock
) {
    std::vector<history::RefereeTime> out;
    const ChangedView after(before, outcome.changes);
    static const std::string kProof = contracts::action_name(contracts::ProveMove{});
    for (std::size_t i = 0; i < txs.size(); ++i) {
        if (outcome.receipts[i].code != 0 || outcome.receipts[i].action != kProof) {
            continue;
        }
        const auto tx = codec::decode<contracts::Tx>(txs[i]);
        const auto* move = tx ? std::get_if<contracts::ProveMove>(&tx->body.action) : nullptr;
        const auto dispute = move != nullptr ? contracts::find_dispute(after, move->dispute) : std::nullopt;
        if (!dispute) {
            continue;
        }
        const std::uint64_t start = clock();
        const auto ruling = trace::judge(dispute->claim, dispute->position, move->proof);
        const std::uint64_t end = clock();
        if (ruling) {
            out.push_back({.dispute = move->dispute, .nanoseconds = end - start});
        }
    }
    return out;
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
    Height height, Hash256 app_hash, std::string chain_id, std::shared_ptr<const storage::Snapshot> snapshot,
    std::shared_ptr<StateCache> cache
)
    : height_(height),
      app_hash_(app_hash),
      chain_id_(std::move(chain_id)),
      snapshot_(std::move(snapshot)),
      cache_(std::move(cache)),
      params_(contracts::get_params(*this)) {}

std::optional<Bytes> CommittedState::get(const Bytes& key) const {
    if (auto held = cache_->find(height_, key)) {
        return *std::move(held);
    }
    auto value = snapshot_->get(Column::kState, key);
    cache_->keep(height_, key, value);
    return value;
}

Application::Application(storage::Store& store, Clock clock, bool keeps_blocks)
    : store_(store),
      clock_(std::move(clock)),
      keeps_blocks_(keeps_blocks),
      cache_(std::make_shared<StateCache>(kCacheBytes)) {
    if (const auto meta = read_meta(*store_.snapshot())) {
        publish(meta->height, meta->app_hash, meta->chain_id);
    }
}

void Application::publish(Height height, const Hash256& app_hash, const std::string& chain_id) {
    if (cache_->height() != height) {
        cache_->reset(height);
    }
    auto state = std::make_shared<const CommittedState>(height, app_hash, chain_id, store_.snapshot(), cache_);
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
    return committed_ ? consensus::Info{.height = committed_->height(), .app_hash = committed_->app_hash()}
                      : consensus::Info{};
}

Hash256 Application::init(const contracts::Genesis& genesis) {
    const auto snapshot = store_.snapshot();
    const Hash256 digest = crypto::sha256(codec::encode(genesis));
    if (const auto meta = read_meta(*snapshot)) {
        if (meta->genesis != digest) {
            throw std::runtime_error("the database was made from another genesis file");
        }
        return meta->genesis_app_hash;
    }
    auto changes = contracts::make_genesis(genesis);
    if (!changes) {
        throw std::runtime_error(std::string("the genesis file is not valid: ") + to_text(changes.error()));
    }
    storage::Batch batch;
    const Hash256 app_hash = write_state(batch, *snapshot, std::nullopt, Height{0}, *changes);
    write_meta(
        batch,
        {.format = kFormat,
         .height = Height{0},
         .app_hash = app_hash,
         .chain_id = genesis.chain_id,
         .genesis = digest,
         .genesis_app_hash = app_hash}
    );
    store_.write(batch, true);
    publish(Height{0}, app_hash, genesis.chain_id);
    return app_hash;
}

consensus::CheckResult Application::check(ByteView tx, consensus::CheckKind kind) const {
    const auto state = committed();
    const auto code_of = [](contracts::TxError error) { return static_cast<std::uint8_t>(error); };
    consensus::CheckResult out;
    const auto use = [&](const contracts::Tx& decoded) {
        out.sender = decoded.body.sender;
        out.nonce = decoded.body.nonce;
        out.state_nonce = contracts::get_account(*state, out.sender).nonce;
        // Nonces beyond the state's are the mempool's matter: it knows what waits before them.
        const auto checked =
            contracts::check_tx(*state, state->params(), decoded, tx.size(), std::max(out.nonce, out.state_nonce));
        out.code = checked ? std::uint8_t{0} : code_of(checked.error());
    };
    if (kind == consensus::CheckKind::kRecheck) {
        const auto decoded = codec::decode<contracts::Tx>(tx);
        if (!decoded) {
            out.code = code_of(contracts::TxError::kUndecodable);
            return out;
        }
        use(*decoded);
        return out;
    }
    const auto decoded = contracts::check_stateless(tx, state->chain_id(), state->params());
    if (!decoded) {
        out.code = code_of(decoded.error());
        return out;
    }
    verified_.add(contracts::tx_hash(tx));
    use(*decoded);
    return out;
}

std::vector<Bytes> Application::prepare(std::vector<Bytes> candidates, std::uint64_t max_bytes) const {
    const std::uint64_t limit = std::min<std::uint64_t>(max_bytes, committed()->params().block_size_max);
    std::uint64_t bytes = 0;
    std::size_t count = 0;
    // The first that does not fit ends the block: one behind it may follow it in nonce.
    while (count < candidates.size() && bytes + candidates[count].size() <= limit) {
        bytes += candidates[count].size();
        ++count;
    }
    candidates.resize(count);
    return candidates;
}

// BLK-17
bool Application::process(const consensus::FinalizeRequest& proposal) const {
    const auto state = committed();
    std::uint64_t bytes = 0;
    for (const Bytes& tx : proposal.txs) {
        bytes += tx.size();
    }
    return proposal.height.value == state->height().value + 1 && bytes <= state->params().block_size_max;
}

consensus::FinalizeResult Application::finalize(const consensus::FinalizeRequest& block) {
    const auto state = committed();
    ASSERT(block.height.value == state->height().value + 1);
    const contracts::BlockContext context{
        .height = block.height, .time_ms = block.time_ms, .block_hash = block.block_hash, .proposer = block.proposer,
        .misbehaviour = block.misbehaviour,
        .absent = block.absent};
    auto outcome = contracts::apply_block(
        *state, state->chain_id(), context, block.txs, find_signed(block.txs, state->params(), verified_)
    );
    auto meta = read_meta(state->snapshot());
    ASSERT(meta.has_value());

    Pending pending{.height = block.height, .app_hash = {}, .batch = {}, .changes = {}};
    pending.app_hash =
        write_state(pending.batch, state->snapshot(), state->height().value, block.height, outcome.changes);
    history::index_block(pending.batch, block, outcome, time_referee(*state, block.txs, outcome, clock_));
    if (keeps_blocks_) {
        history::keep_block(pending.batch, block);
    }
    meta->height = block.height;
    meta->app_hash = pending.app_hash;
    write_meta(pending.batch, *meta);

    consensus::FinalizeResult result{
        .app_hash = pending.app_hash,
        .receipts = std::move(outcome.receipts),
        .validator_updates = std::move(outcome.validator_updates)};
    pending.changes = std::move(outcome.changes);
    pending_ = std::move(pending);
    return result;
}

void Application::commit() {
    ASSERT(pending_.has_value());
    store_.write(pending_->batch, false);
    cache_->advance(pending_->height, pending_->changes);
    publish(pending_->height, pending_->app_hash, committed()->chain_id());
    pending_.reset();
}

std::vector<contracts::ValidatorUpdate> Application::validators() const {
    return contracts::current_validators(*committed());
}

history::KeptBlock Application::kept_block(Height height) const {
    auto block = history::Reader(committed()->snapshot()).kept_block(height);
    if (!block) {
        throw storage::StorageError("database: block " + std::to_string(height.value) + " is not kept");
    }
    return *std::move(block);
}

Hash256 Application::app_hash_at(Height height) const {
    const auto state = committed();
    if (height > state->height()) {
        throw std::out_of_range("height is not kept");
    }
    return merkle::root_at(TreeReader(state->snapshot()), height.value);
}

consensus::QueryResult Application::query(const consensus::QueryRequest& request) const {
    const auto state = committed();
    const Height height = request.height.value_or(state->height());
    if (height > state->height()) {
        throw std::out_of_range("height is not kept");
    }
    const TreeReader reader(state->snapshot());
    consensus::QueryResult out{
        .height = height,
        .app_hash = merkle::root_at(reader, height.value),
        .value = std::nullopt,
        .proof = codec::encode(merkle::prove(reader, height.value, request.key)),
    };
    const auto entry =
        state->snapshot().last_until(Column::kValues, value_prefix(request.key), value_key(request.key, height));
    if (entry) {
        auto value = codec::decode<std::optional<Bytes>>(entry->value);
        if (!value) {
            throw storage::StorageError("database: a value does not decode");
        }
        out.value = *std::move(value);
    }
    return out;
}

}  // namespace assay::node
