// SPDX-License-Identifier: Apache-2.0
#include <core/dispute/work.hpp>

#include <algorithm>
#include <limits>
#include <vector>

#include <core/base/integers.hpp>

namespace assay::dispute {
namespace {

using canonical::Graph;
using canonical::Input;
using canonical::Node;
using canonical::Op;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
/// WRK-1: reading or writing an element takes as long as so many multiply-adds of a contraction.
constexpr std::uint64_t kWorkPerElement = 8;

std::uint64_t add_up(std::uint64_t a, std::uint64_t b) {
    const auto sum = checked_add(a, b);
    return sum ? *sum : kMost;
}

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
    const auto product = checked_mul(a, b);
    return product ? *product : kMost;
}

std::uint64_t bytes_of(canonical::DType dtype, const canonical::Shape& shape) {
    return multiply(shape.element_count(), size_of(dtype));
}

/// For each node the last one that reads it; itself where none does.
std::vector<std::uint32_t> last_readers(const Graph& graph) {
    std::vector<std::uint32_t> last(graph.size());
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        last[i] = i;
        for (const Input& input : graph[i].inputs) {
            if (input.source == canonical::Source::kNode) {
                last[input.index] = i;
            }
        }
    }
    return last;
}

/// Of the tensors of the state that the graph reads, each once.
std::uint64_t state_bytes(const Graph& graph) {
    std::vector<bool> is_counted(canonical::kMaxTensorsBefore);
    std::uint64_t sum = 0;
    for (const Node& node : graph) {
        for (const Input& input : node.inputs) {
            if (input.source == canonical::Source::kState && !is_counted[input.index]) {
                is_counted[input.index] = true;
                sum = add_up(sum, bytes_of(input.dtype, input.shape));
            }
        }
    }
    return sum;
}

}  // namespace

std::uint64_t work_of(const Node& node) noexcept {
    std::uint64_t elements = node.shape.element_count();
    for (const Input& input : node.inputs) {
        elements = add_up(elements, input.shape.element_count());
    }
    const std::uint64_t products =
        node.op == Op::kContract ? multiply(node.shape.element_count(), node.inputs[0].shape.cols) : 0;
    return add_up(products, multiply(elements, kWorkPerElement));
}

std::uint64_t work_of(const Graph& graph) noexcept {
    std::uint64_t sum = 0;
    for (const Node& node : graph) {
        sum = add_up(sum, work_of(node));
    }
    return sum;
}

std::uint64_t outputs_of(const Graph& graph) noexcept {
    std::uint64_t sum = 0;
    for (const Node& node : graph) {
        sum = add_up(sum, node.op == Op::kCommit ? 0 : bytes_of(node.dtype, node.shape));
    }
    return sum;
}

std::uint64_t memory_of(const Graph& graph) {
    const auto last = last_readers(graph);
    std::vector<std::uint64_t> freed(graph.size());  // after each node; what it reads last, and itself if nobody does
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        freed[last[i]] = add_up(freed[last[i]], bytes_of(graph[i].dtype, graph[i].shape));
    }
    std::uint64_t alive = state_bytes(graph);
    std::uint64_t most = alive;
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        alive = add_up(alive, bytes_of(graph[i].dtype, graph[i].shape));
        if (alive == kMost) {
            return kMost;
        }
        most = std::max(most, alive);
        alive -= freed[i];
    }
    return most;
}

}  // namespace assay::dispute
