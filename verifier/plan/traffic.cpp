// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include <core/base/assert.hpp>
#include <verifier/plan/message.hpp>
#include <verifier/plan/node_rules.hpp>
#include <verifier/plan/plan.hpp>

// What crosses between ranks.
namespace assay::plan {

using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Source;

namespace {

constexpr std::uint32_t kWholeAccumulator = 8;

// The precision to which an operand was quantised, through any views; 0 if it was not.
std::uint32_t precision_of(const canonical::Graph& graph, Input input) {
    while (input.source == Source::kNode && graph[input.index].op == Op::kView) {
        if (graph[input.index].attributes[0] != 0) {
            return 0;  // a fill that may be larger
        }
        input = graph[input.index].inputs[0];
    }
    if (input.source != Source::kNode || graph[input.index].op != Op::kQuantise) {
        return 0;
    }
    return graph[input.index].attributes[0];
}

std::uint32_t bytes_for(std::uint32_t magnitude_bits, std::uint64_t terms) {
    const auto bits = magnitude_bits + static_cast<std::uint32_t>(std::bit_width(terms)) + 1;
    return std::min((bits + 7) / 8, kWholeAccumulator);
}

}  // namespace

std::uint32_t accumulator_bytes(const canonical::Graph& graph, std::uint32_t node) {
    const Node& n = graph[node];
    if (n.op == Op::kRowExponent || n.op == Op::kRowMax) {
        return 4;
    }
    const std::uint32_t first = precision_of(graph, n.inputs[0]);
    if (n.op != Op::kContract) {
        const std::uint64_t terms = n.op == Op::kRowSum ? n.inputs[0].shape.cols : n.inputs[1].shape.element_count();
        return first == 0 ? kWholeAccumulator : bytes_for(first, terms);
    }
    const std::uint32_t second = precision_of(graph, n.inputs[2]);
    const std::uint64_t terms = std::min(n.attributes[1], n.inputs[0].shape.cols);
    return first == 0 || second == 0 ? kWholeAccumulator : bytes_for(first + second, terms);
}

std::vector<std::uint32_t> chunks_of_part(const Node& node, const IndexSet& depth) {
    if (node.op != Op::kContract) {
        return depth.is_empty() ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{0};
    }
    std::vector<std::uint32_t> out;
    for (const IndexSet::Range& range : depth.ranges()) {
        for (std::uint32_t chunk = range.begin / node.attributes[1];
             chunk * std::uint64_t{node.attributes[1]} < range.end; ++chunk) {
            if (out.empty() || out.back() < chunk) {
                out.push_back(chunk);
            }
        }
    }
    return out;
}

std::uint64_t state_bytes(const Plan& plan, const program::Program& program, std::uint32_t rank) {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < plan.state.size(); ++i) {
        out += plan.state[i][rank].element_count() * canonical::size_of(program.state[i].type.dtype);
    }
    return out;
}

std::vector<bool> forward_nodes(const program::Program& program) {
    std::vector<bool> out(program.step.size());
    out[program.loss_node] = true;
    for (std::size_t i = program.loss_node + std::size_t{1}; i-- > 0;) {
        for (const Input& input : program.step[i].inputs) {
            if (out[i] && input.source == Source::kNode) {
                out[input.index] = true;
            }
        }
    }
    return out;
}

std::vector<bool> parameters_of(const program::Program& program) {
    const std::vector<bool> is_forward = forward_nodes(program);
    std::vector<bool> out(program.state.size());
    for (std::size_t i = 0; i < program.step.size(); ++i) {
        for (const Input& input : program.step[i].inputs) {
            if (is_forward[i] && input.source == Source::kState) {
                out[input.index] = true;
            }
        }
    }
    return out;
}

std::uint64_t zero_state_bytes(const program::Program& program, const Layout& layout) {
    const std::vector<bool> is_parameter = parameters_of(program);
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < program.state.size(); ++i) {
        const canonical::TensorType& type = program.state[i].type;
        const std::uint64_t bytes = type.shape.element_count() * canonical::size_of(type.dtype);
        const Zero from = is_parameter[i] ? Zero::kParameters : Zero::kOptimizer;
        out += layout.zero >= from ? bytes / layout.data : bytes;
    }
    return out;
}

Traffic traffic_of(const Plan& plan, const canonical::Graph& graph, std::uint32_t rank, bool is_stated) {
    Traffic out;
    const auto add = [&](const std::vector<Transfer>& all, canonical::DType dtype) {
        for (const Transfer& transfer : all) {
            out.values += transfer.from == rank ? transfer.block.element_count() * canonical::size_of(dtype) : 0;
        }
    };
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        const NodePlan& node = plan.nodes[i];
        for (const Item& item : items_of(plan, graph, i)) {
            const auto all = input_transfers(plan, graph, item);
            for (std::size_t k = 0; k < all.size(); ++k) {
                add(all[k], graph[i].inputs[k].dtype);
            }
            add(output_transfers(plan, graph, item), graph[i].dtype);
        }
        if (!node.is_divided) {
            continue;
        }
        const std::uint64_t slices = slices_of_part(graph[i], node.depth[rank], is_stated).size();
        for (std::uint32_t to = 0; to < node.finished.size(); ++to) {
            if (to != rank && node.work[to] == node.work[rank]) {
                const bool is_maximum = graph[i].op == Op::kRowExponent || graph[i].op == Op::kRowMax;
                (is_maximum ? out.maxima : out.sums) +=
                    slices * node.finished[to].element_count() * accumulator_bytes(graph, i);
            }
        }
    }
    return out;
}

}  // namespace assay::plan
