// SPDX-License-Identifier: Apache-2.0
#include <node/app/state_cache.hpp>

#include <utility>

namespace assay::node {
namespace {

/// What an entry takes besides its bytes.
constexpr std::size_t kEntryBytes = 128;

std::size_t size_of(const Bytes& key, const std::optional<Bytes>& value) {
    return kEntryBytes + key.size() + (value ? value->size() : 0);
}

}  // namespace

std::size_t StateCache::part_of(const Bytes& key) { return key.empty() ? 0 : key.back() % kParts; }

std::optional<std::optional<Bytes>> StateCache::find(Height height, const Bytes& key) const {
    const Part& part = parts_[part_of(key)];
    const std::lock_guard lock(part.mutex);
    if (part.height != height) {
        return std::nullopt;
    }
    const auto found = part.slots.find(key);
    if (found == part.slots.end()) {
        return std::nullopt;
    }
    return std::optional<std::optional<Bytes>>(std::in_place, found->second);
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
    if (part.bytes > part_bytes_max_) {
        part.slots.clear();
        part.bytes = 0;
    }
    const auto [at, added] = part.slots.try_emplace(key);
    part.bytes -= added ? 0 : size_of(key, at->second);
    part.bytes += size_of(key, value);
    at->second = value;
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
        part.bytes = 0;
    }
}

Height StateCache::height() const {
    const std::lock_guard lock(parts_.front().mutex);
    return parts_.front().height;
}

}  // namespace assay::node
