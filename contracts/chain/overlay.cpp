// SPDX-License-Identifier: Apache-2.0
#include <contracts/chain/overlay.hpp>

#include <utility>

namespace assay::contracts {

std::optional<Bytes> Overlay::get(const Bytes& key) const {
    const auto found = changes_.find(key);
    return found != changes_.end() ? found->second : base_.get(key);
}

void Overlay::put(const Bytes& key, Bytes value) { changes_.insert_or_assign(key, std::move(value)); }

void Overlay::erase(const Bytes& key) { changes_.insert_or_assign(key, std::nullopt); }

void Overlay::absorb(const Changes& changes) {
    for (const auto& [key, value] : changes) {
        changes_.insert_or_assign(key, value);
    }
}

Changes Overlay::net_changes() const {
    Changes net;
    for (const auto& [key, value] : changes_) {
        if (base_.get(key) != value) {
            net.emplace_hint(net.end(), key, value);
        }
    }
    return net;
}

}  // namespace assay::contracts
