// SPDX-License-Identifier: Apache-2.0
#include <contracts/state/overlay.hpp>

#include <utility>

namespace assay::contracts {

std::optional<Bytes> Overlay::get(const Bytes& key) const {
    Slot& slot = slots_[key];
    if (!slot.is_read && !slot.is_written) {
        slot.before = base_.get(key);
        slot.is_read = true;
    }
    return slot.is_written ? slot.after : slot.before;
}

void Overlay::write(const Bytes& key, std::optional<Bytes> value) {
    Slot& slot = slots_[key];
    slot.after = std::move(value);
    slot.is_written = true;
}

void Overlay::put(const Bytes& key, Bytes value) { write(key, std::move(value)); }

void Overlay::erase(const Bytes& key) { write(key, std::nullopt); }

void Overlay::absorb(Changes&& changes) {
    for (auto& [key, value] : changes) {
        write(key, std::move(value));
    }
}

Changes Overlay::changes() const {
    Changes all;
    for (const auto& [key, slot] : slots_) {
        if (slot.is_written) {
            all.emplace_hint(all.end(), key, slot.after);
        }
    }
    return all;
}

Changes Overlay::net_changes() const {
    Changes net;
    for (const auto& [key, slot] : slots_) {
        if (slot.is_written && (slot.is_read ? slot.before : base_.get(key)) != slot.after) {
            net.emplace_hint(net.end(), key, slot.after);
        }
    }
    return net;
}

}  // namespace assay::contracts
