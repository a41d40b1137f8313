// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <contracts/state/params.hpp>

/// Whether an action can answer a duty, and how large the answer may be (DTY-1).
namespace assay::contracts {

/// What a duty that an action answers is about.
enum class Owed : std::uint8_t {
    kNothing,     ///< the action answers no duty and always pays a fee
    kRound,       ///< the beacon's open round
    kMove,        ///< a move in the action's `dispute`
    kTask,        ///< the action's `task`
    kVerdict,     ///< the verdict on the action's `segment` of its `task`
    kDisclosure,  ///< the opening of that verdict
};

struct Answer {
    Owed owed = Owed::kNothing;
    std::size_t bytes_max = 0;  ///< maximum size of a transaction that answers the duty
};
inline constexpr Answer kNoAnswer{};

inline constexpr std::size_t kPlainAnswer = 1'024;       ///< names and hashes, and a location
inline constexpr std::size_t kOpeningAnswer = 6'144;     ///< with a tile and its paths, or with a report
inline constexpr std::size_t kChildrenAnswer = 9'216;    ///< with 256 hashes
inline constexpr std::size_t kProofAnswer = kMinTxSize;  ///< PAR-7: the largest transaction that somebody can owe

}  // namespace assay::contracts
