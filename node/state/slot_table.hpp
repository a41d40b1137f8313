// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>

namespace assay::node {

/// Values by key, none or one for each. A search reads two places of memory, where a map of byte strings would read
/// five: most of what is searched has left the processor's caches. Keys are searched from their hash's place onwards.
class SlotTable {
  public:
    /// The inner nullopt: the slot is empty; the outer: it is not here.
    std::optional<std::optional<Bytes>> find(ByteView key) const;
    void put(ByteView key, const std::optional<Bytes>& value);
    void clear();
    std::size_t size_bytes() const { return bytes_ + places_.size() * sizeof(Place); }

  private:
    struct Place {
        std::uint64_t hash = 0;
        Bytes record;  ///< empty: nothing is here
    };
    std::size_t place_of(std::uint64_t hash, ByteView key) const;
    void grow();

    std::vector<Place> places_;  ///< a power of two, at least half of them free
    std::size_t count_ = 0;
    std::size_t bytes_ = 0;  ///< of records
};

}  // namespace assay::node
