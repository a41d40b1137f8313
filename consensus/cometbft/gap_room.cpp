// SPDX-License-Identifier: Apache-2.0
#include <consensus/cometbft/gap_room.hpp>

#include <iterator>

namespace assay::cometbft {

void GapRoom::hold(const AccountId& sender, std::uint64_t nonce, Bytes tx) {
    if (count_ >= kTxsMax || bytes_ + tx.size() > kBytesMax) {
        return;
    }
    const auto known = senders_.find(sender);
    if (known != senders_.end() && (known->second.size() >= kSenderTxsMax || known->second.contains(nonce))) {
        return;
    }
    ++count_;
    bytes_ += tx.size();
    senders_[sender].emplace(nonce, Held{.tx = std::move(tx), .since = blocks_});
}

std::optional<Bytes> GapRoom::take(const AccountId& sender, std::uint64_t nonce) {
    const auto known = senders_.find(sender);
    if (known == senders_.end()) {
        return std::nullopt;
    }
    const auto held = known->second.find(nonce);
    if (held == known->second.end()) {
        return std::nullopt;
    }
    Bytes out = remove(known->second, held);
    if (known->second.empty()) {
        senders_.erase(known);
    }
    return out;
}

std::vector<GapRoom::First> GapRoom::firsts() const {
    std::vector<First> out;
    out.reserve(senders_.size());
    for (const auto& [sender, queue] : senders_) {
        const auto& [nonce, held] = *queue.begin();
        out.push_back({.sender = sender, .nonce = nonce, .tx = held.tx});
    }
    return out;
}

void GapRoom::note_block() {
    ++blocks_;
    for (auto& [sender, queue] : senders_) {
        for (auto held = queue.begin(); held != queue.end();) {
            const auto next = std::next(held);
            if (blocks_ - held->second.since > kBlocksMax) {
                remove(queue, held);
            }
            held = next;
        }
    }
    std::erase_if(senders_, [](const auto& entry) { return entry.second.empty(); });
}

Bytes GapRoom::remove(Queue& queue, Queue::iterator held) {
    Bytes out = std::move(held->second.tx);
    --count_;
    bytes_ -= out.size();
    queue.erase(held);
    return out;
}

}  // namespace assay::cometbft
