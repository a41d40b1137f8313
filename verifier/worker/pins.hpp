// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace assay::worker {

/// The chain identity that the operator expects before the home has pinned one, and the highest fee per transaction.
struct Pins {
    std::string chain_id;      ///< empty: trust the node at first, then the pinned value
    std::string genesis_hash;  ///< 64 hex digits; empty: same
    std::uint64_t fee_max_grains = 100'000'000;
};

}  // namespace assay::worker
