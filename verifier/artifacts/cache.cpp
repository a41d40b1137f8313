// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/cache.hpp>

#include <algorithm>
#include <utility>

namespace assay::artifacts {

Cache::Cache(std::filesystem::path directory, CacheLimits limits) : store_(std::move(directory)), limits_(limits) {}

bool Cache::put(ByteView bytes, Urgency urgency) {
    const std::lock_guard lock(mutex_);  // over the writing too: room that was found is still there
    if (!make_room_locked(bytes.size(), urgency)) {
        return false;
    }
    store_.put(bytes);
    return true;
}

bool Cache::make_room(std::uint64_t size_bytes, Urgency urgency) {
    const std::lock_guard lock(mutex_);
    return make_room_locked(size_bytes, urgency);
}

bool Cache::make_room_locked(std::uint64_t size_bytes, Urgency urgency) {
    const std::vector<ContentStore::Entry> entries = store_.entries();
    std::uint64_t used = 0;
    for (const ContentStore::Entry& entry : entries) {
        used += entry.size_bytes;
    }
    const bool for_dispute = urgency == Urgency::kDispute;
    const std::uint64_t quota = urgency == Urgency::kOffer ? limits_.quota_bytes / 2 : limits_.quota_bytes;
    const std::uint64_t kept_free = for_dispute ? 0 : limits_.reserve_bytes;
    const auto fits = [&] {
        std::error_code error;
        const auto space = std::filesystem::space(store_.directory(), error);
        const bool has_disk = !error && space.available >= kept_free && space.available - kept_free >= size_bytes;
        const bool has_quota = used <= quota && quota - used >= size_bytes;
        return has_disk && (has_quota || for_dispute);
    };
    auto oldest = entries.begin();
    while (!fits()) {
        oldest = std::find_if(oldest, entries.end(), [this](const auto& entry) { return !is_pinned(entry.hash); });
        if (oldest == entries.end()) {
            return false;
        }
        store_.remove(oldest->hash);
        used -= oldest->size_bytes;
        ++oldest;
    }
    return true;
}

bool Cache::is_pinned(const Hash256& artifact) const {
    return std::any_of(pins_.begin(), pins_.end(), [&](const auto& pin) { return pin.second.contains(artifact); });
}

void Cache::pin(const contracts::TaskId& task, const Hash256& artifact) {
    const std::lock_guard lock(mutex_);
    pins_[task].insert(artifact);
}

void Cache::unpin(const contracts::TaskId& task) {
    const std::lock_guard lock(mutex_);
    pins_.erase(task);
}

}  // namespace assay::artifacts
