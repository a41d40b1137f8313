// SPDX-License-Identifier: Apache-2.0
#include <consensus/solo/mempool.hpp>

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
    consensus::CheckResult check = state_.check(tx, consensus::CheckKind::kNew);
    if (check.code != 0) {
        return reject(check.code);
    }
    const std::lock_guard lock(mutex_);
    if (generation != generation_) {
        check = state_.check(tx, consensus::CheckKind::kRecheck);
        if (check.code != 0) {
            return reject(check.code);
        }
    }
    if (hashes_.contains(hash)) {
        return refuse(RefusalReason::kAlreadyKnown);
    }
    TRY(admit(check, tx.size()));
    bytes_ += tx.size();
    hashes_.insert(hash);
    SenderQueue& queue = senders_[check.sender];
    queue.next_nonce = check.nonce + 1;
    ++queue.count;
    waiting_.emplace(
        arrivals_++, Waiting{.bytes = std::move(tx), .hash = hash, .sender = check.sender, .nonce = check.nonce}
    );
    return hash;
}

Result<void, Refusal> Mempool::admit(const consensus::CheckResult& check, std::size_t size_bytes) const {
    if (waiting_.size() >= limits_.txs_max || bytes_ + size_bytes > limits_.bytes_max) {
        return refuse(RefusalReason::kFull);
    }
    const auto queue = senders_.find(check.sender);
    const std::uint64_t expected = queue == senders_.end() ? check.state_nonce : queue->second.next_nonce;
    if (check.nonce < expected) {
        return reject(contracts::TxError::kNonceTooLow);
    }
    if (check.nonce > expected) {
        return reject(contracts::TxError::kNonceTooHigh);
    }
    if (queue != senders_.end() && queue->second.count >= limits_.sender_txs_max) {
        return refuse(RefusalReason::kFull);
    }
    return {};
}

std::vector<Bytes> Mempool::candidates(std::uint64_t bytes_max) const {
    const std::lock_guard lock(mutex_);
    std::vector<Bytes> out;
    std::uint64_t bytes = 0;
    for (const auto& [arrival, waiting] : waiting_) {
        bytes += waiting.bytes.size();
        if (bytes > bytes_max) {
            break;
        }
        out.push_back(waiting.bytes);
    }
    return out;
}

void Mempool::update(const std::vector<Bytes>& block_txs) {
    consensus::HashSet in_block;
    for (const Bytes& tx : block_txs) {
        in_block.insert(contracts::tx_hash(tx));
    }
    const std::lock_guard lock(mutex_);
    ++generation_;
    senders_.clear();
    for (auto it = waiting_.begin(); it != waiting_.end();) {
        const Waiting& waiting = it->second;
        bool keep = !in_block.contains(waiting.hash);
        if (keep) {
            const auto check = state_.check(waiting.bytes, consensus::CheckKind::kRecheck);
            const auto queue = senders_.find(waiting.sender);
            keep = check.code == 0 &&
                   waiting.nonce == (queue == senders_.end() ? check.state_nonce : queue->second.next_nonce);
        }
        if (keep) {
            SenderQueue& queue = senders_[waiting.sender];
            queue.next_nonce = waiting.nonce + 1;
            ++queue.count;
            ++it;
        } else {
            bytes_ -= waiting.bytes.size();
            hashes_.erase(waiting.hash);
            it = waiting_.erase(it);
        }
    }
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
