// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/ordering.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <core/base/assert.hpp>

namespace assay::engine::fused {

std::vector<std::vector<std::size_t>> in_order(const std::map<std::size_t, UnorderedStage>& stages) {
    std::map<std::size_t, std::size_t> missing;  // readers without a place
    for (const auto& [key, stage] : stages) {
        for (const std::size_t source : stage.sources) {
            ++missing[source];
        }
    }
    std::set<std::pair<std::size_t, std::size_t>> ready;  // last node, key
    for (const auto& [key, stage] : stages) {
        if (!missing.contains(key)) {
            ready.emplace(stage.nodes.back(), key);
        }
    }
    std::vector<std::vector<std::size_t>> out;
    while (!ready.empty()) {
        const UnorderedStage& stage = stages.at(ready.rbegin()->second);
        ready.erase(std::prev(ready.end()));
        out.push_back(stage.nodes);
        for (const std::size_t source : stage.sources) {
            if (--missing[source] == 0) {
                ready.emplace(stages.at(source).nodes.back(), source);
            }
        }
    }
    ASSERT(out.size() == stages.size());
    std::reverse(out.begin(), out.end());
    return out;
}

}  // namespace assay::engine::fused
