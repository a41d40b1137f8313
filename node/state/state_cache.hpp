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

/// Slots of the last committed state that were read or written lately. Of any other height it holds nothing, so what
/// it answers is what the database would. Thread-safe.
class StateCache {
  public:
    /// `bytes_max`: about how much it keeps.
    explicit StateCache(std::size_t bytes_max) : part_bytes_max_(bytes_max / kParts) {}

    /// The slot's value in the state of `height` (the inner nullopt: it is empty); nullopt when it is not held.
    std::optional<std::optional<Bytes>> find(Height height, const Bytes& key) const;
    /// Notes what the database said of `height`.
    void keep(Height height, const Bytes& key, const std::optional<Bytes>& value);
    /// From here on the last committed state is that of `height`: the one before it and `changes`. Nobody asks for
    /// `height` until this has returned.
    void advance(Height height, const contracts::Changes& changes);
    /// From here on it is that of `height`, and nothing of it is held.
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
