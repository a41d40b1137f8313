// SPDX-License-Identifier: Apache-2.0
#include <consensus/cometbft/outbox.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <consensus/cometbft/bundle.hpp>
#include <contracts/transaction/transaction.hpp>

namespace assay::cometbft {
void Outbox::push(const consensus::Admitted& tx) {
    const std::lock_guard lock(mutex_);
    if (!queued_.insert(tx.hash).second) {
        return;
    }
    const std::size_t size_bytes = tx.bytes->size() + kPartHeadBytes;
    queue_.push_back({.hash = tx.hash, .bytes = tx.bytes, .size_bytes = size_bytes});
    bytes_ += size_bytes;
    if (queue_.size() >= sweep_at_) {
        drop_gone();
    }
    changed_.notify_all();
}

bool Outbox::is_due(Clock::time_point due) const {
    return stopping_ || kBundleHeadBytes + bytes_ >= kBundleBytesMax || Clock::now() >= due;
}

bool Outbox::await(Clock::time_point due) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    changed_.wait_until(lock, due, [&] { return is_due(due); });
    return !queue_.empty();
}

std::optional<Outbox::Parcel> Outbox::take() {
    const std::lock_guard lock(mutex_);
    own_.reset();
    std::vector<std::shared_ptr<const Bytes>> parts;
    std::size_t size = kBundleHeadBytes;
    while (!queue_.empty()) {
        const Item& item = queue_.front();
        auto bytes = item.bytes.lock();
        if (bytes != nullptr && !parts.empty() && size + item.size_bytes > kBundleBytesMax) {
            break;
        }
        if (bytes != nullptr) {
            size += item.size_bytes;
            parts.push_back(std::move(bytes));
        }
        drop_front();
    }
    if (parts.empty()) {
        return std::nullopt;
    }
    Parcel out;
    out.bytes = parts.size() == 1 ? *parts.front() : encode_bundle(parts);
    out.hash = contracts::tx_hash(out.bytes);
    own_ = out.hash;
    return out;
}

void Outbox::finish() {
    const std::lock_guard lock(mutex_);
    own_.reset();
}

bool Outbox::is_own(const Hash256& parcel) const {
    const std::lock_guard lock(mutex_);
    return own_ == parcel;
}

void Outbox::stop() {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
}

void Outbox::clear() {
    const std::lock_guard lock(mutex_);
    queue_.clear();
    queued_.clear();
    bytes_ = 0;
}

std::size_t Outbox::size() const {
    const std::lock_guard lock(mutex_);
    return queue_.size();
}

void Outbox::drop_front() {
    bytes_ -= queue_.front().size_bytes;
    queued_.erase(queue_.front().hash);
    queue_.pop_front();
}

void Outbox::drop_gone() {
    std::deque<Item> kept;
    std::swap(kept, queue_);
    queued_.clear();
    bytes_ = 0;
    for (Item& item : kept) {
        if (!item.bytes.expired()) {
            bytes_ += item.size_bytes;
            queued_.insert(item.hash);
            queue_.push_back(std::move(item));
        }
    }
    sweep_at_ = std::max(kSweepMin, 2 * queue_.size());
}

}  // namespace assay::cometbft
