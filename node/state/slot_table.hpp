// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>

namespace assay::node {

/// A hash table from keys to values, where a value may be "empty". A lookup reads two memory locations, where a map of
/// byte strings reads five; most of them are cache misses. Collisions are resolved by linear probing.
class SlotTable {
  public:
    /// Returns the value of a key. Outer nullopt: the key is not in the table; inner nullopt: the slot is known to be
    /// empty.
    std::optional<std::optional<Bytes>> find(ByteView key) const;
    void put(ByteView key, const std::optional<Bytes>& value);
    void clear();
    std::size_t size_bytes() const { return bytes_ + places_.size() * sizeof(Place); }

  private:
    struct Place {
        std::uint64_t hash = 0;
        Bytes record;  ///< empty: this place is free
    };
    std::size_t place_of(std::uint64_t hash, ByteView key) const;
    void grow();

    std::vector<Place> places_;  ///< the size is a power of two; at least half are free
    std::size_t count_ = 0;
    std::size_t bytes_ = 0;  ///< of all records
};

}  // namespace assay::node
