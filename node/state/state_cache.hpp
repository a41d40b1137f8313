// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include <contracts/state/state.hpp>
#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <node/state/slot_table.hpp>

namespace assay::node {

/// Recently read or written slots of the last committed state. It returns nothing for any other height, so its answers
/// are always those of the database. Thread-safe.
class StateCache {
  public:
    /// `bytes_max`: approximate limit of its size.
    explicit StateCache(std::size_t bytes_max) : part_bytes_max_(bytes_max / kParts) {}

    /// Returns a slot's value in the state of `height` (inner nullopt: the slot is empty), or nullopt if it is not
    /// cached.
    std::optional<std::optional<Bytes>> find(Height height, const Bytes& key) const;
    /// Caches a value that was read from the database at `height`. Ignored if the cache is at another height.
    void keep(Height height, const Bytes& key, const std::optional<Bytes>& value);
    /// Moves the cache to `height`, whose state is the previous one plus `changes`. Nobody may ask for `height` before
    /// this returns.
    void advance(Height height, const contracts::Changes& changes);
    /// Moves the cache to `height` and empties it.
    void reset(Height height);
    Height height() const;

  private:
    static constexpr std::size_t kParts = 64;
    struct Part {
        mutable std::mutex mutex;
        Height height;
        SlotTable slots;
    };
    static std::size_t part_of(const Bytes& key);
    void put(Part& part, const Bytes& key, const std::optional<Bytes>& value) const;

    const std::size_t part_bytes_max_;
    std::array<Part, kParts> parts_;
};

}  // namespace assay::node
