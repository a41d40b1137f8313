// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/rpc/fake_node.hpp>

#include <algorithm>
#include <thread>

#include <core/codec/borsh.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/chain/duty.hpp>

namespace assay::rpc::test {

namespace {

template <class T>
node::Page<T> page_of(const std::vector<T>& all, std::uint64_t from, std::uint32_t limit) {
    node::Page<T> page{{}, std::nullopt};
    std::uint64_t at = from;
    for (; at < all.size() && page.items.size() < limit; ++at) {
        page.items.push_back(all[at]);
    }
    if (at < all.size()) {
        page.next = at;
    }
    return page;
}

/// `from` counts from the end that comes first.
template <class T>
node::Page<T> page_of(std::vector<T> all, std::uint64_t from, std::uint32_t limit, node::Order order) {
    if (order == node::Order::kNewest) {
        std::reverse(all.begin(), all.end());
    }
    return page_of(all, from, limit);
}

std::uint8_t code_of(contracts::TxError error) { return static_cast<std::uint8_t>(error); }

}  // namespace

crypto::SecretKey key(std::uint8_t seed) {
    Bytes bytes(32, 0);
    bytes.back() = seed;
    return *crypto::SecretKey::from_bytes(bytes);
}

FakeNode::FakeNode() = default;

node::NodeStatus FakeNode::status() const {
    const std::lock_guard lock(mutex_);
    node::NodeStatus out;
    out.chain_id = "fake-1";
    out.genesis_hash = id<Hash256>(6);
    out.engine = "solo";
    out.height = Height{height_};
    out.app_hash = id<Hash256>(9);
    out.time_ms = 1'234;
    out.proposer = key(1).account();
    out.mempool_txs = waiting_.size();
    out.block_interval_ms = 500;
    out.first_block = Height{first_block};
    out.first_history = Height{first_history};
    out.last_stop = node::LastStop::kUnclean;
    out.uptime_s = 3;
    return out;
}

Result<Hash256, consensus::Refusal> FakeNode::submit(Bytes tx) {
    if (refuse) {
        if (const auto error = refuse(tx)) {
            return Unexpected{*error};
        }
    }
    const auto decoded = codec::decode<contracts::Tx>(tx);
    if (!decoded) {
        return Unexpected{consensus::Refusal{.code = code_of(contracts::TxError::kUndecodable)}};
    }
    const std::uint64_t expected = next_nonce(decoded->body.sender);
    const std::lock_guard lock(mutex_);
    const auto has_nonce = [&](const Bytes& other) {
        const contracts::TxBody body = codec::decode<contracts::Tx>(other)->body;
        return body.sender == decoded->body.sender && body.nonce == decoded->body.nonce;
    };
    if (const auto old = std::find_if(waiting_.begin(), waiting_.end(), has_nonce); old != waiting_.end()) {
        *old = tx;  // a higher bid
        return contracts::tx_hash(tx);
    }
    if (contracts::is_answer(decoded->body)) {
        if (decoded->body.nonce != owed_at) {
            return Unexpected{consensus::Refusal{.code = code_of(contracts::TxError::kNotOwed)}};
        }
        waiting_.push_back(tx);
        return contracts::tx_hash(tx);
    }
    if (decoded->body.nonce != expected) {
        const auto error =
            decoded->body.nonce < expected ? contracts::TxError::kNonceTooLow : contracts::TxError::kNonceTooHigh;
        return Unexpected{consensus::Refusal{.code = code_of(error)}};
    }
    waiting_.push_back(tx);
    return contracts::tx_hash(tx);
}

void FakeNode::make_block() {
    ++height_;
    std::uint32_t index = 0;
    std::vector<Bytes> left_out;
    for (const Bytes& tx : waiting_) {
        const auto decoded = codec::decode<contracts::Tx>(tx);
        const bool is_answer = contracts::is_answer(decoded->body);
        if (is_answer ? answers_left_out > 0 : decoded->body.fee.grains < fee_least) {
            left_out.push_back(tx);
            answers_left_out -= is_answer ? 1 : 0;
            continue;
        }
        node::StoredTx stored;
        stored.bytes = tx;
        stored.height = Height{height_};
        stored.index = index++;
        stored.receipt.tx = contracts::tx_hash(tx);
        stored.receipt.code = receipt_code;
        stored.receipt.action = contracts::action_name(decoded->body.action);
        stored.receipt.sender = decoded->body.sender;
        stored.receipt.owner = decoded->body.owner;
        stored.receipt.gas = 77;
        stored.receipt.is_charged = true;
        executed_.push_back(stored);
        if (is_answer) {
            owed_at = 0;
        } else {
            ++nonces_[decoded->body.sender];
        }
    }
    waiting_ = std::move(left_out);
}

Height FakeNode::wait_for_block(Height after, std::chrono::milliseconds timeout) {
    if (before_block) {
        before_block();
    }
    {
        const std::lock_guard lock(mutex_);
        if (height_ > after.value) {
            return Height{height_};
        }
        if (makes_blocks && !waiting_.empty()) {
            make_block();
            return Height{height_};
        }
    }
    std::this_thread::sleep_for(std::min(timeout, std::chrono::milliseconds(20)));
    const std::lock_guard lock(mutex_);
    return Height{height_};
}

std::optional<node::StoredBlock> FakeNode::block(Height height) const {
    const std::lock_guard lock(mutex_);
    if (height.value == 0 || height.value > height_) {
        return std::nullopt;
    }
    solo::BlockHeader header;
    header.chain_id = "fake-1";
    header.height = height;
    header.time_ms = 1'000 + height.value;
    header.parent = id<Hash256>(3);
    header.app_hash = id<Hash256>(4);
    std::vector<Bytes> txs;
    node::StoredBlock out;
    for (const node::StoredTx& tx : executed_) {
        if (tx.height == height) {
            txs.push_back(tx.bytes);
            out.receipts.push_back(tx.receipt);
        }
    }
    out.signed_block = solo::sign_block(header, std::move(txs), key(1));
    const solo::BlockHeader& made = out.signed_block->header;
    out.height = made.height;
    out.hash = solo::block_hash(made);
    out.parent = made.parent;
    out.time_ms = made.time_ms;
    out.proposer = made.proposer;
    out.parent_app_hash = made.app_hash;
    out.app_hash = id<Hash256>(5);
    out.txs = out.signed_block->txs;
    return out;
}

std::optional<node::StoredTx> FakeNode::tx(const Hash256& hash) const {
    if (hidden_lookups > 0) {
        --hidden_lookups;
        return std::nullopt;
    }
    const std::lock_guard lock(mutex_);
    for (const node::StoredTx& tx : executed_) {
        if (tx.receipt.tx == hash) {
            return tx;
        }
    }
    return std::nullopt;
}

bool FakeNode::in_mempool(const Hash256& tx) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(waiting_.begin(), waiting_.end(), [&](const Bytes& bytes) {
        return contracts::tx_hash(bytes) == tx;
    });
}

std::optional<Bytes> FakeNode::state(const Bytes& slot) const {
    const std::lock_guard lock(mutex_);
    const auto found = state_.find(slot);
    return found == state_.end() ? std::nullopt : std::optional(found->second);
}

consensus::QueryResult FakeNode::prove(const Bytes& slot, std::optional<Height> height) const {
    if (height && height->value < oldest_height) {
        throw consensus::HeightNotKept("the state", *height, Height{oldest_height}, status().height);
    }
    consensus::QueryResult out;
    out.height = height.value_or(status().height);
    out.app_hash = id<Hash256>(9);
    out.value = state(slot);
    out.proof = merkle::JmtProof{.leaf = std::nullopt, .siblings = {id<Hash256>(4)}};
    return out;
}

std::uint64_t FakeNode::next_nonce(const AccountId& account) const {
    const std::lock_guard lock(mutex_);
    const auto found = nonces_.find(account);
    std::uint64_t nonce = found == nonces_.end() ? 0 : found->second;
    for (const Bytes& tx : waiting_) {
        nonce += codec::decode<contracts::Tx>(tx)->body.sender == account ? 1U : 0U;
    }
    return nonce;
}

node::Page<contracts::HistoryRecord> FakeNode::task_history(
    const contracts::TaskId&, std::uint64_t from, std::uint32_t limit
) const {
    return page_of(history, from, limit);
}

node::Page<contracts::TaskId> FakeNode::tasks(std::uint64_t from, std::uint32_t limit, node::Order order) const {
    return page_of(task_ids, from, limit, order);
}

node::Page<node::StoredTx> FakeNode::account_history(const AccountId& account, std::uint64_t from, std::uint32_t limit)
    const {
    const std::lock_guard lock(mutex_);
    std::vector<node::StoredTx> own;
    for (const node::StoredTx& tx : executed_) {
        if (tx.receipt.sender == account || tx.receipt.owner == account) {
            own.push_back(tx);
        }
    }
    return page_of(own, from, limit);
}

node::Page<contracts::DisputeId> FakeNode::disputes(
    const std::optional<contracts::TaskId>&, std::uint64_t from, std::uint32_t limit, node::Order order
) const {
    return page_of(dispute_ids, from, limit, order);
}

std::vector<node::DisputeMove> FakeNode::dispute_moves(const contracts::DisputeId&) const { return moves; }

std::optional<double> FakeNode::one_step_us(const contracts::DisputeId&) const { return 12.5; }

node::Page<contracts::HistoryRecord> FakeNode::events(
    const std::optional<AccountId>&, std::uint64_t from, std::uint32_t limit, node::Order order
) const {
    return page_of(history, from, limit, order);
}

std::vector<contracts::HistoryRecord> FakeNode::events_of(Height height) const {
    std::vector<contracts::HistoryRecord> out;
    for (const contracts::HistoryRecord& record : history) {
        if (record.height == height) {
            out.push_back(record);
        }
    }
    return out;
}

node::Page<node::Payment> FakeNode::payments(
    const AccountId&, std::uint64_t from, std::uint32_t limit, node::Order order
) const {
    return page_of(paid, from, limit, order);
}

node::Page<node::ValidatorChange> FakeNode::validator_changes(
    const std::optional<AccountId>&, std::uint64_t from, std::uint32_t limit
) const {
    return page_of(changes, from, limit);
}

node::Page<node::ValidatorPenalty> FakeNode::validator_penalties(
    const std::optional<AccountId>&, std::uint64_t from, std::uint32_t limit, node::Order order
) const {
    return page_of(penalties, from, limit, order);
}

std::vector<node::BlockFees> FakeNode::fees(Height last, std::uint32_t count) const {
    std::vector<node::BlockFees> out;
    for (std::uint64_t height = last.value; height != 0 && out.size() < count; --height) {
        out.push_back({.height = Height{height}, .base_fee = std::nullopt, .gas = 10 * height});
    }
    return out;
}

std::vector<node::Named> FakeNode::search(const node::IdPrefix& prefix, std::uint32_t limit) const {
    searched = prefix;
    return {names.begin(), names.begin() + std::min<std::ptrdiff_t>(limit, std::ssize(names))};
}

std::vector<node::Named> FakeNode::tasks_titled(const std::string& beginning, std::uint32_t limit) const {
    searched_title = beginning;
    return {titled.begin(), titled.begin() + std::min<std::ptrdiff_t>(limit, std::ssize(titled))};
}

void FakeNode::put(const Bytes& slot, Bytes value) {
    const std::lock_guard lock(mutex_);
    state_[slot] = std::move(value);
}

void FakeNode::take_nonce(const AccountId& sender) {
    const std::lock_guard lock(mutex_);
    ++nonces_[sender];
    const contracts::Account account{Amount{1}, nonces_[sender]};
    state_[contracts::keys::account(sender)] = codec::encode(account);
}

Amount FakeNode::moved() const {
    const std::lock_guard lock(mutex_);
    std::uint64_t grains = 0;
    for (const node::StoredTx& tx : executed_) {
        const auto decoded = codec::decode<contracts::Tx>(tx.bytes);
        if (const auto* transfer = std::get_if<contracts::Transfer>(&decoded->body.action)) {
            grains += transfer->amount.grains;
        }
    }
    return Amount{grains};
}

void FakeNode::drop_mempool() {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
}

}  // namespace assay::rpc::test
