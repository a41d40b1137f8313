// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/cache.hpp>

#include <algorithm>
#include <utility>

namespace assay::artifacts {

Cache::Cache(std::filesystem::path directory, CacheLimits limits) : store_(std::move(directory)), limits_(limits) {}

bool Cache::reserve(const Hash256& hash, std::uint64_t size_bytes, Urgency urgency) {
    const std::lock_guard lock(mutex_);
    while (!has_room(hash, size_bytes, urgency)) {
        if (!evict_one()) {
            return false;
        }
    }
    reserved_[hash] = size_bytes;
    return true;
}

void Cache::settle(const Hash256& hash) {
    const std::lock_guard lock(mutex_);
    reserved_.erase(hash);
}

bool Cache::has_room(const Hash256& hash, std::uint64_t size_bytes, Urgency urgency) const {
    std::uint64_t used = 0;              // of the quota
    std::uint64_t to_come = size_bytes;  // to the disk, from this download and those that run
    for (const ContentStore::Entry& entry : store_.entries()) {
        used += entry.size_bytes;
    }
    for (const auto& [running, size] : reserved_) {
        used += size;
        to_come += size;
    }
    for (const ContentStore::Entry& partial : store_.partials()) {
        if (partial.hash == hash || reserved_.contains(partial.hash)) {
            to_come -= std::min(to_come, partial.size_bytes);
        } else {
            used += partial.size_bytes;
        }
    }
    const bool for_dispute = urgency == Urgency::kDispute;
    const std::uint64_t quota = urgency == Urgency::kOffer ? limits_.quota_bytes / 2 : limits_.quota_bytes;
    const std::uint64_t kept_free = for_dispute ? 0 : limits_.reserve_bytes;
    std::error_code error;
    const auto space = std::filesystem::space(store_.directory(), error);
    const bool has_disk = !error && space.available >= kept_free && space.available - kept_free >= to_come;
    const bool has_quota = used <= quota && quota - used >= size_bytes;
    return has_disk && (has_quota || for_dispute);
}

bool Cache::evict_one() {
    const auto is_free = [this](const auto& entry) {
        return !is_pinned(entry.hash) && !reserved_.contains(entry.hash);
    };
    const std::vector<ContentStore::Entry> partials = store_.partials();
    if (const auto found = std::find_if(partials.begin(), partials.end(), is_free); found != partials.end()) {
        store_.remove_partials(found->hash);
        return true;
    }
    const std::vector<ContentStore::Entry> entries = store_.entries();
    if (const auto oldest = std::find_if(entries.begin(), entries.end(), is_free); oldest != entries.end()) {
        store_.remove(oldest->hash);
        return true;
    }
    return false;
}

bool Cache::is_pinned(const Hash256& artifact) const {
    return std::any_of(pins_.begin(), pins_.end(), [&](const auto& pin) { return pin.second.contains(artifact); });
}

void Cache::pin(const contracts::TaskId& task, const Hash256& artifact) {
    const std::lock_guard lock(mutex_);
    pins_[task].insert(artifact);
}

std::set<Hash256> Cache::pinned(const contracts::TaskId& task) const {
    const std::lock_guard lock(mutex_);
    const auto found = pins_.find(task);
    return found == pins_.end() ? std::set<Hash256>{} : found->second;
}

void Cache::unpin(const contracts::TaskId& task) {
    const std::lock_guard lock(mutex_);
    const auto found = pins_.extract(task);
    for (const Hash256& artifact : found ? found.mapped() : std::set<Hash256>{}) {
        if (!is_pinned(artifact) && !reserved_.contains(artifact)) {
            store_.remove_partials(artifact);
        }
    }
}

}  // namespace assay::artifacts
