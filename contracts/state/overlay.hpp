// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>

#include <core/base/assert.hpp>
#include <core/base/bytes.hpp>
#include <core/codec/borsh.hpp>
#include <contracts/state/state.hpp>

namespace assay::contracts {

/// A set of writes on top of a read-only view; each slot of the view is read at most once. Overlays stack: a block's
/// overlay on the committed state, and a transaction's overlay on the block's (STA-3).
class Overlay final : public StateView {
  public:
    /// Returns an empty overlay on `base`, which must outlive it. A factory, because a constructor taking another
    /// overlay would be the copy constructor.
    static Overlay over(const StateView& base) { return Overlay(&base); }
    Overlay(const Overlay&) = delete;
    Overlay& operator=(const Overlay&) = delete;

    std::optional<Bytes> get(const Bytes& key) const override;
    void put(const Bytes& key, Bytes value);
    void erase(const Bytes& key);

    /// All writes, including those that did not change a value.
    Changes changes() const;
    /// Applies the changes of an overlay that was stacked on this one.
    void absorb(Changes&& changes);
    /// Only the writes that differ from the base.
    Changes net_changes() const;

  private:
    struct Slot {
        std::optional<Bytes> before;  ///< the value in the base, once read
        std::optional<Bytes> after;   ///< the value written
        bool is_read = false;
        bool is_written = false;
    };
    explicit Overlay(const StateView* base) : base_(*base) {}
    void write(const Bytes& key, std::optional<Bytes> value);

    const StateView& base_;
    mutable std::map<Bytes, Slot> slots_;
};

/// The record at `key`, or nullopt if the slot is empty. Aborts if the stored bytes do not decode.
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
