// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <core/base/bytes.hpp>

namespace assay::roles {

/// Results of our own replays of one segment. The worker persists the roots across restarts.
struct Replays {
    std::optional<Hash256> first;      ///< state root of our first replay
    std::optional<Hash256> second;     ///< state root of the second, made only if the first contradicts the claim
    bool unable = false;               ///< our own failure: memory, device, or a program that does not decode
    std::uint32_t fetch_failures = 0;  ///< consecutive failures
    std::optional<std::uint32_t> missing_checkpoint;  ///< the checkpoint whose artifact is not available
};

enum class Finding : std::uint8_t {
    kUnknown = 1,  ///< not replayed yet
    kDoubt = 2,    ///< contradicted by one replay: replay again
    kAccept = 3,
    kReject = 4,   ///< contradicted by two replays that agree
    kUnable = 5,   ///< no verdict: we failed, or our two replays differ
    kMissing = 6,  ///< an artifact is not available: try again, since there is no verdict without it (AVL-1)
};

/// Returns what the replays say about the claimed root. Only kAccept and kReject are verdicts.
Finding finding_of(const Replays& replays, const Hash256& claimed) noexcept;

}  // namespace assay::roles
