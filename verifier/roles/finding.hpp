// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <core/base/bytes.hpp>

namespace assay::roles {

/// What we know of one segment from our own replays. Kept by the worker, through restarts.
struct Replays {
    std::optional<Hash256> first;   ///< the state root of our first replay
    std::optional<Hash256> second;  ///< of the second, made only when the first contradicts the claim
    bool unable = false;            ///< our own failure: out of memory, device, a program that does not decode
    std::uint32_t fetch_failures = 0;  ///< in a row
    std::optional<std::uint32_t> missing_checkpoint;  ///< the one whose artifact could not be had
};

enum class Finding : std::uint8_t {
    kUnknown = 1,    ///< not replayed yet
    kDoubt = 2,      ///< contradicted once: to be replayed again
    kAccept = 3,
    kReject = 4,     ///< contradicted by two replays that agree
    kUnable = 5,     ///< no verdict: we failed, or our two replays differ from each other
    kMissing = 6,    ///< an artifact could not be had: to be tried again, for without it there is no verdict (AVL-1)
};

/// What the replays say about the claim `claimed`. Only kAccept and kReject are verdicts.
Finding finding_of(const Replays& replays, const Hash256& claimed) noexcept;

}  // namespace assay::roles
