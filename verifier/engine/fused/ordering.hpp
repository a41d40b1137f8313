// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace assay::engine::fused {

/// A stage before it has a place among the others.
struct UnorderedStage {
    std::vector<std::size_t> nodes;  ///< ascending
    std::set<std::size_t> sources;   ///< keys of the stages that it reads from
};

/// Returns the stages' nodes in an order of execution. The order is made from the end to the beginning, and of what may
/// come next the latest in the program is taken: what is computed for later is computed late.
std::vector<std::vector<std::size_t>> in_order(const std::map<std::size_t, UnorderedStage>& stages);

}  // namespace assay::engine::fused
