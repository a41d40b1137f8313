// SPDX-License-Identifier: Apache-2.0
#include <node/state/slot_table.hpp>

#include <algorithm>
#include <utility>

#include <consensus/seeded_hash.hpp>
#include <core/base/assert.hpp>

namespace assay::node {
namespace {

constexpr std::size_t kFirstPlaces = 16;
/// A record is the key's length, whether there is a value, the key and the value.
constexpr std::size_t kKeyAt = 2;

void write_record(Bytes& record, ByteView key, const std::optional<Bytes>& value) {
    ASSERT(std::in_range<std::uint8_t>(key.size()));
    record.clear();
    record.reserve(kKeyAt + key.size() + (value ? value->size() : 0));
    record.push_back(static_cast<std::uint8_t>(key.size()));
    record.push_back(value ? 1 : 0);
    append(record, key);
    append(record, value ? ByteView(*value) : ByteView());
}

ByteView key_of(const Bytes& record) { return ByteView(record).subspan(kKeyAt, record.front()); }

std::optional<Bytes> value_of(const Bytes& record) {
    const ByteView value = ByteView(record).subspan(kKeyAt + record.front());
    return record[1] == 0 ? std::nullopt : std::optional<Bytes>(std::in_place, value.begin(), value.end());
}

}  // namespace

/// Where the key is, or the free place where it would be.
std::size_t SlotTable::place_of(std::uint64_t hash, ByteView key) const {
    const std::size_t mask = places_.size() - 1;
    std::size_t at = hash & mask;
    while (!places_[at].record.empty() &&
           (places_[at].hash != hash || !std::ranges::equal(key_of(places_[at].record), key))) {
        at = (at + 1) & mask;
    }
    return at;
}

std::optional<std::optional<Bytes>> SlotTable::find(ByteView key) const {
    if (places_.empty()) {
        return std::nullopt;
    }
    const Bytes& record = places_[place_of(consensus::SeededHash{}(key), key)].record;
    if (record.empty()) {
        return std::nullopt;
    }
    return std::optional<std::optional<Bytes>>(std::in_place, value_of(record));
}

void SlotTable::put(ByteView key, const std::optional<Bytes>& value) {
    if (2 * count_ >= places_.size()) {
        grow();
    }
    const std::uint64_t hash = consensus::SeededHash{}(key);
    Place& place = places_[place_of(hash, key)];
    count_ += place.record.empty() ? 1U : 0U;
    bytes_ -= place.record.size();
    place.hash = hash;
    write_record(place.record, key, value);
    bytes_ += place.record.size();
}

void SlotTable::grow() {
    auto before = std::exchange(places_, std::vector<Place>(std::max(kFirstPlaces, 2 * places_.size())));
    for (Place& place : before) {
        if (!place.record.empty()) {
            places_[place_of(place.hash, key_of(place.record))] = std::move(place);
        }
    }
}

void SlotTable::clear() { *this = {}; }

}  // namespace assay::node
