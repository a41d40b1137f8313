// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace assay::worker {

/// What the operator says of the chain before the home has pinned it, and the most that one transaction may cost in fees.
struct Pins {
    std::string chain_id;      ///< empty: the node's word at first, then what is pinned
    std::string genesis_hash;  ///< 64 hex digits; empty: likewise
    std::uint64_t fee_max_grains = 100'000'000;
};

}  // namespace assay::worker
