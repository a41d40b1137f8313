// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include <core/canonical/node.hpp>
#include <verifier/plan/plan.hpp>

/// Internal to verifier/plan.
namespace assay::plan {

/// What each rank has of a node that is executed at once, and sends for it, in bytes. Empty stands for nothing on any
/// rank.
struct NodeBytes {
    std::vector<std::uint64_t> received{};  ///< what others sent of its inputs, until it is computed
    std::vector<std::uint64_t>
        computed{};  ///< the parts of a divided reduction until they are exchanged, or the output
    std::vector<std::uint64_t> finished{};     ///< what is put together of them, or the output
    std::vector<std::uint64_t> held{};         ///< of the output afterwards
    std::vector<std::uint64_t> sent_inputs{};  ///< that the rank sends others, for them to compute it
    std::vector<std::uint64_t> sent_parts{};
    std::vector<std::uint64_t> sent_output{};
};
/// Of a node that has no pieces.
NodeBytes bytes_of(const Plan& plan, const canonical::Graph& graph, std::uint32_t node);

/// Calls f(node) once for each node that this one reads.
template <class F>
void for_each_read(const canonical::Node& node, F f) {
    std::set<std::uint32_t> read;
    for (const canonical::Input& input : node.inputs) {
        if (input.source == canonical::Source::kNode && read.insert(input.index).second) {
            f(input.index);
        }
    }
}

}  // namespace assay::plan
