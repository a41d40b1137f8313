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
    const std::vector<consensus::CheckResult> checks = check_again(block_txs);
    const std::lock_guard lock(mutex_);
    const std::size_t first = count_first_of(block_txs);
    consensus::HashSet in_block;
    for (std::size_t i = first; i < block_txs.size(); ++i) {
        in_block.insert(contracts::tx_hash(block_txs[i]));
    }
    senders_.clear();
    std::deque<Waiting> kept;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
        Waiting& waiting = waiting_[i];
        const auto is_valid = [&] {
            return is_still_valid(waiting, i < first + checks.size() ? checks[i - first] : recheck(waiting));
        };
        if (i < first || in_block.contains(waiting.hash) || !is_valid()) {
            bytes_ -= waiting.bytes.size();
            hashes_.erase(waiting.hash);
            continue;
        }
        SenderQueue& queue = senders_[waiting.sender];
        queue.next_nonce = waiting.nonce + 1;
        ++queue.count;
        kept.push_back(std::move(waiting));
    }
    waiting_ = std::move(kept);
}

/// Of those that wait behind the block's. Submissions go on meanwhile: only update() takes transactions away, and what a
/// deque holds stays where it is.
std::vector<consensus::CheckResult> Mempool::check_again(const std::vector<Bytes>& block_txs) {
    std::vector<const Waiting*> waiting;
    {
        const std::lock_guard lock(mutex_);
        ++generation_;
        for (std::size_t i = count_first_of(block_txs); i < waiting_.size(); ++i) {
            waiting.push_back(&waiting_[i]);
        }
    }
    std::vector<consensus::CheckResult> checks;
    checks.reserve(waiting.size());
    for (const Waiting* one : waiting) {
        checks.push_back(recheck(*one));
    }
    return checks;
}

/// How many of the block's first transactions are those that have waited longest: all of a block made here.
std::size_t Mempool::count_first_of(const std::vector<Bytes>& block_txs) const {
    std::size_t count = 0;
    while (count < block_txs.size() && count < waiting_.size() && waiting_[count].bytes == block_txs[count]) {
        ++count;
    }
    return count;
}

consensus::CheckResult Mempool::recheck(const Waiting& waiting) const {
    return state_.check(waiting.bytes, consensus::CheckKind::kRecheck);
}

bool Mempool::is_still_valid(const Waiting& waiting, const consensus::CheckResult& check) const {
    const auto queue = senders_.find(waiting.sender);
    return check.code == 0 &&
           waiting.nonce == (queue == senders_.end() ? check.state_nonce : queue->second.next_nonce);
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
