// SPDX-License-Identifier: Apache-2.0
#include <verifier/program/footprint.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace assay::program {
namespace {

using canonical::Graph;
using canonical::Node;
using canonical::Op;

std::uint64_t bytes_of(const Node& node) {
    return node.op == Op::kCommit ? 0 : node.shape.element_count() * size_of(node.dtype);
}

}  // namespace

std::uint64_t peak_bytes(const Graph& graph) {
    std::vector<std::size_t> last_use(graph.size());
    for (std::size_t i = 0; i < graph.size(); ++i) {
        last_use[i] = i;
        for (const canonical::Input& input : graph[i].inputs) {
            if (input.source == canonical::Source::kNode) {
                last_use[input.index] = i;
            }
        }
    }
    std::vector<std::uint64_t> freed_after(graph.size());
    for (std::size_t i = 0; i < graph.size(); ++i) {
        freed_after[last_use[i]] += bytes_of(graph[i]);
    }
    std::uint64_t alive = 0;
    std::uint64_t peak = 0;
    for (std::size_t i = 0; i < graph.size(); ++i) {
        alive += bytes_of(graph[i]);
        peak = std::max(peak, alive);
        alive -= freed_after[i];
    }
    return peak;
}

std::uint64_t output_bytes(const Graph& graph) {
    std::uint64_t bytes = 0;
    for (const Node& node : graph) {
        bytes += bytes_of(node);
    }
    return bytes;
}

std::uint64_t work_of(const Graph& graph) {
    std::uint64_t work = 0;
    for (const Node& node : graph) {
        const std::uint64_t depth = node.op == Op::kContract ? node.inputs[0].shape.cols : 1;
        work += node.op == Op::kCommit ? 0 : node.shape.element_count() * depth;
    }
    return work;
}

}  // namespace assay::program
