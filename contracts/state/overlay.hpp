// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>

#include <core/base/assert.hpp>
#include <core/base/bytes.hpp>
#include <core/codec/borsh.hpp>
#include <contracts/state/state.hpp>

namespace assay::contracts {

/// A state being changed: what was written here, and below it a view that stays as it is, of which each slot is read
/// once. Overlays stack: a block's over the committed state, a transaction's over the block's (STA-3).
class Overlay final : public StateView {
  public:
    /// An empty overlay on `base`, which outlives it. Not a constructor: on another overlay, that would be a copy.
    static Overlay over(const StateView& base) { return Overlay(&base); }
    Overlay(const Overlay&) = delete;
    Overlay& operator=(const Overlay&) = delete;

    std::optional<Bytes> get(const Bytes& key) const override;
    void put(const Bytes& key, Bytes value);
    void erase(const Bytes& key);

    /// Everything written, equal values included.
    Changes changes() const;
    /// Takes over the changes of an overlay above this one.
    void absorb(Changes changes);
    /// The changes that differ from the base.
    Changes net_changes() const;

  private:
    struct Slot {
        std::optional<Bytes> before;  ///< what the base has, once it was read
        std::optional<Bytes> after;   ///< what was written
        bool is_read = false;
        bool is_written = false;
    };
    explicit Overlay(const StateView* base) : base_(*base) {}
    void write(const Bytes& key, std::optional<Bytes> value);

    const StateView& base_;
    mutable std::map<Bytes, Slot> slots_;
};

/// The record at `key`, or nullopt when the slot is empty. State that does not decode is a bug of ours.
template <class T>
std::optional<T> read_slot(const StateView& view, const Bytes& key) {
    const auto bytes = view.get(key);
    if (!bytes) {
        return std::nullopt;
    }
    auto decoded = codec::decode<T>(*bytes);
    ASSERT(decoded.has_value());
    return *std::move(decoded);
}

template <class T>
void write_slot(Overlay& state, const Bytes& key, const T& record) {
    state.put(key, codec::encode(record));
}

}  // namespace assay::contracts
