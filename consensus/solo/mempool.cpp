// SPDX-License-Identifier: Apache-2.0
#include <consensus/solo/mempool.hpp>

#include <algorithm>

#include <contracts/chain/transaction.hpp>
#include <contracts/chain/tx_error.hpp>

namespace assay::solo {
namespace {

Unexpected<Refusal> reject(std::uint8_t code) {
    return Unexpected{Refusal{.reason = RefusalReason::kRejected, .code = code}};
}
Unexpected<Refusal> reject(contracts::TxError error) { return reject(static_cast<std::uint8_t>(error)); }
Unexpected<Refusal> refuse(RefusalReason reason) { return Unexpected{Refusal{.reason = reason, .code = 0}}; }

}  // namespace

Result<Hash256, Refusal> Mempool::add(Bytes tx) {
    const Hash256 hash = contracts::tx_hash(tx);
    std::uint64_t generation = 0;
    {
        const std::lock_guard lock(mutex_);
        if (hashes_.contains(hash)) {
            return refuse(RefusalReason::kAlreadyKnown);
        }
        if (waiting_.size() >= limits_.txs_max || bytes_ + tx.size() > limits_.bytes_max) {
            return refuse(RefusalReason::kFull);
        }
        generation = generation_;
    }
    // Signatures are checked outside the lock, so that submissions do not wait for each other.
    consensus::CheckResult check = state_.check(tx, hash, consensus::CheckKind::kNew);
    if (check.code != 0) {
        return reject(check.code);
    }
    const std::lock_guard lock(mutex_);
    if (generation != generation_) {
        check = state_.check(tx, hash, consensus::CheckKind::kRecheck);
        if (check.code != 0) {
            return reject(check.code);
        }
    }
    if (hashes_.contains(hash)) {
        return refuse(RefusalReason::kAlreadyKnown);
    }
    const auto known = senders_.find(check.sender);
    TRY(admit(check, known == senders_.end() ? nullptr : &known->second, tx.size()));
    bytes_ += tx.size();
    hashes_.insert(hash);
    SenderQueue& queue = known == senders_.end() ? senders_[check.sender] : known->second;
    queue.next_nonce = check.nonce + 1;
    ++queue.count;
    waiting_.push_back({.bytes = std::move(tx), .hash = hash, .sender = check.sender, .nonce = check.nonce});
    return hash;
}

Result<void, Refusal> Mempool::admit(
    const consensus::CheckResult& check, const SenderQueue* queue, std::size_t size_bytes
) const {
    if (waiting_.size() >= limits_.txs_max || bytes_ + size_bytes > limits_.bytes_max) {
        return refuse(RefusalReason::kFull);
    }
    const std::uint64_t expected = queue == nullptr ? check.state_nonce : queue->next_nonce;
    if (check.nonce < expected) {
        return reject(contracts::TxError::kNonceTooLow);
    }
    if (check.nonce > expected) {
        return reject(contracts::TxError::kNonceTooHigh);
    }
    if (queue != nullptr && queue->count >= limits_.sender_txs_max) {
        return refuse(RefusalReason::kFull);
    }
    return {};
}

std::vector<Bytes> Mempool::candidates(std::uint64_t bytes_max) const {
    const std::lock_guard lock(mutex_);
    std::vector<Bytes> out;
    std::uint64_t bytes = 0;
    for (const Waiting& waiting : waiting_) {
        bytes += waiting.bytes.size();
        if (bytes > bytes_max) {
            break;
        }
        out.push_back(waiting.bytes);
    }
    return out;
}

void Mempool::update(const std::vector<Bytes>& block_txs) {
    std::size_t dropped = 0;
    std::vector<const Waiting*> first;
    {
        const std::lock_guard lock(mutex_);
        ++generation_;
        dropped = drop_first(block_txs);
        first = first_of_senders();
    }
    // Submissions go on meanwhile: only update() takes transactions away, and what a deque holds stays where it is.
    const auto is_valid = [this](const Waiting* waiting) { return is_next(*waiting); };
    if (dropped == block_txs.size() && std::all_of(first.begin(), first.end(), is_valid)) {
        return;
    }
    const std::lock_guard lock(mutex_);
    drop_others(block_txs);
}

/// Drops the block's first transactions as long as they are those that have waited longest: all of a block made here.
/// Returns how many.
std::size_t Mempool::drop_first(const std::vector<Bytes>& block_txs) {
    std::size_t count = 0;
    for (; count < block_txs.size() && !waiting_.empty() && waiting_.front().bytes == block_txs[count]; ++count) {
        const Waiting& waiting = waiting_.front();
        const auto queue = senders_.find(waiting.sender);
        if (--queue->second.count == 0) {
            senders_.erase(queue);
        }
        forget(waiting);
        waiting_.pop_front();
    }
    return count;
}

std::vector<const Mempool::Waiting*> Mempool::first_of_senders() const {
    std::vector<const Waiting*> first;
    for (const Waiting& waiting : waiting_) {
        const SenderQueue& queue = senders_.at(waiting.sender);
        if (waiting.nonce + queue.count == queue.next_nonce) {
            first.push_back(&waiting);
        }
    }
    return first;
}

/// Drops what of the block still waits and what the state refuses, with all that follows it of its sender.
void Mempool::drop_others(const std::vector<Bytes>& block_txs) {
    consensus::HashSet in_block;
    for (const Bytes& tx : block_txs) {
        in_block.insert(contracts::tx_hash(tx));
    }
    senders_.clear();
    std::deque<Waiting> kept;
    for (Waiting& waiting : waiting_) {
        const auto queue = senders_.find(waiting.sender);
        const auto follows = [&] {
            return queue == senders_.end() ? is_next(waiting) : waiting.nonce == queue->second.next_nonce;
        };
        if (in_block.contains(waiting.hash) || !follows()) {
            forget(waiting);
            continue;
        }
        SenderQueue& of_sender = senders_[waiting.sender];
        of_sender.next_nonce = waiting.nonce + 1;
        ++of_sender.count;
        kept.push_back(std::move(waiting));
    }
    waiting_ = std::move(kept);
}

void Mempool::forget(const Waiting& waiting) {
    bytes_ -= waiting.bytes.size();
    hashes_.erase(waiting.hash);
}

/// Whether the state accepts it as the next of its sender.
bool Mempool::is_next(const Waiting& waiting) const {
    const auto check = state_.check(waiting.bytes, waiting.hash, consensus::CheckKind::kRecheck);
    return check.code == 0 && waiting.nonce == check.state_nonce;
}

Mempool::Size Mempool::size() const {
    const std::lock_guard lock(mutex_);
    return {.txs = waiting_.size(), .bytes = bytes_};
}

bool Mempool::contains(const Hash256& tx) const {
    const std::lock_guard lock(mutex_);
    return hashes_.contains(tx);
}

std::optional<std::uint64_t> Mempool::next_nonce(const AccountId& sender) const {
    const std::lock_guard lock(mutex_);
    const auto queue = senders_.find(sender);
    return queue == senders_.end() ? std::nullopt : std::optional(queue->second.next_nonce);
}

}  // namespace assay::solo
