// SPDX-License-Identifier: Apache-2.0
#include <node/state/state_cache.hpp>

namespace assay::node {
std::size_t StateCache::part_of(const Bytes& key) { return key.empty() ? 0 : key.back() % kParts; }

std::optional<std::optional<Bytes>> StateCache::find(Height height, const Bytes& key) const {
    const Part& part = parts_[part_of(key)];
    const std::lock_guard lock(part.mutex);
    return part.height == height ? part.slots.find(key) : std::nullopt;
}

void StateCache::keep(Height height, const Bytes& key, const std::optional<Bytes>& value) {
    Part& part = parts_[part_of(key)];
    const std::lock_guard lock(part.mutex);
    // A reader of an older state may be late: what it read may have changed since.
    if (part.height == height) {
        put(part, key, value);
    }
}

void StateCache::put(Part& part, const Bytes& key, const std::optional<Bytes>& value) const {
    if (part.slots.size_bytes() > part_bytes_max_) {
        part.slots.clear();
    }
    part.slots.put(key, value);
}

void StateCache::advance(Height height, const contracts::Changes& changes) {
    for (Part& part : parts_) {
        const std::lock_guard lock(part.mutex);
        part.height = height;
    }
    for (const auto& [key, value] : changes) {
        Part& part = parts_[part_of(key)];
        const std::lock_guard lock(part.mutex);
        put(part, key, value);
    }
}

void StateCache::reset(Height height) {
    for (Part& part : parts_) {
        const std::lock_guard lock(part.mutex);
        part.height = height;
        part.slots.clear();
    }
}

Height StateCache::height() const {
    const std::lock_guard lock(parts_.front().mutex);
    return parts_.front().height;
}

}  // namespace assay::node
