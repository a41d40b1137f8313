// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/shared_replays.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include <core/codec/borsh.hpp>

namespace assay::worker {

std::shared_ptr<EngineReplay> SharedReplays::of(const contracts::Dispute& dispute, const Make& make) {
    if (const auto found = replays_.find(dispute.id); found != replays_.end()) {
        rest_all_but(found->second.replay);
        return found->second.replay;
    }
    const auto same = std::find_if(replays_.begin(), replays_.end(), [&](const auto& other) {
        return other.second.task == dispute.task &&
               codec::encode(other.second.replay->claim()) == codec::encode(dispute.claim);
    });
    rest_all_but(same != replays_.end() ? same->second.replay : nullptr);
    auto replay = same != replays_.end() ? same->second.replay : make();
    if (replay != nullptr) {
        replays_.emplace(dispute.id, Replaying{.task = dispute.task, .replay = replay});
    }
    return replay;
}

std::size_t SharedReplays::count() const {
    std::set<const EngineReplay*> replays;
    for (const auto& [dispute, replaying] : replays_) {
        replays.insert(replaying.replay.get());
    }
    return replays.size();
}

void SharedReplays::rest_all_but(const std::shared_ptr<EngineReplay>& replay) {
    for (const auto& [dispute, other] : replays_) {
        if (other.replay != replay) {
            other.replay->rest();
        }
    }
}

}  // namespace assay::worker
