// SPDX-License-Identifier: Apache-2.0
#include <tests/simulation/damage.hpp>

#include <algorithm>

namespace assay::simulation {
namespace {

crypto::SecretKey strangers_key() {
    std::array<std::uint8_t, 32> secret{};
    secret[0] = 2;
    return crypto::SecretKey::from_bytes(secret).value();
}

Bytes garbage(Events& events) {
    Bytes bytes(1 + events.below(300));
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::uint8_t>(events.below(256)); });
    return bytes;
}

}  // namespace

void spoil(Events& events, solo::BlockHeader& header, std::vector<Bytes>& txs) {
    switch (events.below(6)) {
        case 0:
            std::reverse(txs.begin(), txs.end());
            break;
        case 1:
            txs.insert(txs.begin(), garbage(events));
            break;
        case 2:
            if (!txs.empty()) {
                txs.push_back(events.chance(50) ? damaged(events, txs.front()) : txs.front());
            }
            break;
        case 3:
            header.app_hash.data[0] ^= 1U;
            break;
        case 4:
            header.parent.data[0] ^= 1U;
            break;
        default:
            header.time_ms = 0;
            break;
    }
}

solo::Block damaged(Events& events, solo::Block block) {
    switch (events.below(block.txs.empty() ? 3 : 5)) {
        case 0:
            block.signature = {};
            break;
        case 1:
            block.header.app_hash.data[0] ^= 1U;
            break;
        case 2:
            block = solo::sign_block(block.header, block.txs, strangers_key());
            break;
        case 3:
            block.txs.back() = damaged(events, block.txs.back());
            break;
        default:
            block.txs.pop_back();
            break;
    }
    return block;
}

Bytes damaged(Events& events, Bytes bytes) {
    bytes.at(events.below(bytes.size())) ^= static_cast<std::uint8_t>(1U << events.below(8));
    return bytes;
}

}  // namespace assay::simulation
