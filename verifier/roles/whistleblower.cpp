// SPDX-License-Identifier: Apache-2.0
#include <verifier/roles/whistleblower.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/state/members.hpp>

namespace assay::roles {
namespace {

using contracts::TaskState;

/// A contested window has no deadline while disputes of a finished window run on (DSP-39).
bool is_window_open(const contracts::Task& task) {
    return task.state >= TaskState::kCompleted && task.state <= TaskState::kChallenge &&
           !(task.state == TaskState::kChallenge && task.deadline.value == 0);
}

Intent bonded(const WatchView& view, Intent intent) {
    return view.free_stake < view.challenger_bond ? Intent{Wait::kNoStake} : intent;
}

}  // namespace

std::vector<std::uint32_t> checking_order(std::uint64_t seed, const TaskId& task, std::uint32_t count) {
    static const crypto::TaggedHash kTag("assay/checking-order");
    std::vector<std::pair<Hash256, std::uint32_t>> keyed;
    keyed.reserve(count);
    for (std::uint32_t segment = 0; segment < count; ++segment) {
        Bytes place = codec::encode(seed);
        append(place, codec::encode(segment));
        keyed.emplace_back(kTag(task.view(), place), segment);
    }
    std::sort(keyed.begin(), keyed.end());
    std::vector<std::uint32_t> order;
    order.reserve(count);
    for (const auto& [key, segment] : keyed) {
        order.push_back(segment);
    }
    return order;
}

Intent decide_whistleblower(const WatchView& view) {
    ASSERT(view.claimed.size() == view.replays.size());
    if (contracts::is_member(view.task, view.self) || !is_window_open(view.task)) {
        return Wait::kNothingDue;
    }
    if (view.is_breaker_open) {
        return Wait::kBreaker;
    }
    if (view.has_disputed) {
        return Wait::kOtherParty;
    }
    const auto order = checking_order(view.seed, view.task.id, static_cast<std::uint32_t>(view.claimed.size()));
    std::optional<Intent> next;
    std::optional<Intent> retry;
    for (const std::uint32_t segment : order) {
        const Finding finding = finding_of(view.replays[segment], view.claimed[segment]);
        // LIN-2: the chain itself has established it; DSP-44: what was said of it is its verdicts'.
        if (segment < contracts::first_segment(view.task.spec) || !contracts::is_exact(view.task, segment)) {
            continue;
        }
        switch (finding) {
            case Finding::kReject:
                return bonded(view, intent::OpenDispute{view.task.id, segment});
            case Finding::kDoubt:
                return intent::Replay{view.task.id, segment};
            case Finding::kUnknown:
                if (!next) {
                    next = intent::Replay{view.task.id, segment};
                }
                break;
            case Finding::kMissing:
                if (!retry) {
                    retry = intent::Replay{view.task.id, segment};
                }
                break;
            case Finding::kAccept:
            case Finding::kUnable:
                break;
        }
    }
    if (next) {
        return *next;
    }
    return retry.value_or(Wait::kNothingDue);
}

}  // namespace assay::roles
