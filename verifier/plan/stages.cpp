// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include <core/dispute/work.hpp>
#include <verifier/plan/planner.hpp>

// Which stage of a pipeline executes which node.
namespace assay::plan {

using canonical::Graph;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Source;

namespace {

// Between two stages, a quarter of the smaller one's work may be moved if less crosses then.
constexpr std::uint64_t kSlackDivisor = 4;

// The stages that have a value.
struct Range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
};

std::uint64_t multiply_adds(const Node& node) {
    return node.op == Op::kContract ? node.shape.element_count() * node.inputs[0].shape.cols : 0;
}

// For each forward node the last forward one that reads it.
std::vector<std::uint32_t> last_readers(const Graph& graph, std::uint32_t loss_node) {
    std::vector<std::uint32_t> out(graph.size());
    for (std::uint32_t i = 0; i <= loss_node; ++i) {
        for (const Input& input : graph[i].inputs) {
            if (input.source == Source::kNode) {
                out[input.index] = i;
            }
        }
    }
    return out;
}

// For each forward node the bytes that are computed before it and read by it or after it. What every rank can compute
// by itself, such as masks, does not count.
std::vector<std::uint64_t> crossing_bytes(const Graph& graph, std::uint32_t loss_node) {
    const std::vector<std::uint32_t> readers = last_readers(graph, loss_node);
    std::vector<std::uint64_t> out(loss_node + std::size_t{2});
    std::vector<bool> is_free(graph.size());
    for (std::uint32_t i = 0; i <= loss_node; ++i) {
        const auto& inputs = graph[i].inputs;
        is_free[i] =
            graph[i].op != Op::kBatchRows && std::all_of(inputs.begin(), inputs.end(), [&](const Input& input) {
                return input.source == Source::kNode && is_free[input.index];
            });
        const std::uint64_t bytes = graph[i].shape.element_count() * canonical::size_of(graph[i].dtype);
        if (readers[i] > i && !is_free[i] && graph[i].op != Op::kBatchRows) {
            out[i + 1] += bytes;
            out[readers[i] + std::size_t{1}] -= bytes;  // modulo 2^64
        }
    }
    std::partial_sum(out.begin(), out.end(), out.begin());
    return out;
}

// Where a backward node can be without moving what it reads; if nowhere, in the first stage that has some of it, where
// the gradient goes next.
Range range_of(const Node& node, const std::vector<Range>& ranges, std::uint32_t last_stage) {
    const auto is_tensor = [](const Input& input) {
        return input.source == Source::kNode && input.shape.element_count() > 1;
    };
    const bool has_tensor = std::any_of(node.inputs.begin(), node.inputs.end(), is_tensor);
    Range out{0, last_stage};
    std::uint32_t least = last_stage;
    for (const Input& input : node.inputs) {
        if (input.source == Source::kNode && (is_tensor(input) || !has_tensor)) {
            const Range& from = ranges[input.index];
            out = {std::max(out.first, from.first), std::min(out.last, from.last)};
            least = std::min(least, from.last);
        }
    }
    return out.first <= out.last ? out : Range{least, least};
}

// The stage of every node, for those of the forward ones. Of several stages a backward node takes that of who reads it,
// since it is of use there alone.
std::vector<std::uint32_t> extended(
    const program::Program& program, std::vector<std::uint32_t> out, std::uint32_t last_stage
) {
    const Graph& graph = program.step;
    const auto size = static_cast<std::uint32_t>(graph.size());
    out.resize(size);
    std::vector<Range> ranges(size);
    const std::vector<std::uint32_t> readers = last_readers(graph, program.loss_node);
    for (std::uint32_t i = 0; i < size; ++i) {
        ranges[i] = i <= program.loss_node ? Range{out[i], std::max(out[i], out[readers[i]])}
                                           : range_of(graph[i], ranges, last_stage);
    }
    std::vector<std::uint32_t> wanted(size, 0);
    for (std::uint32_t i = size; i-- > program.loss_node + 1;) {
        out[i] = std::clamp(wanted[i], ranges[i].first, ranges[i].last);
        for (const Input& input : graph[i].inputs) {
            if (input.source == Source::kNode) {
                wanted[input.index] = std::max(wanted[input.index], out[i]);
            }
        }
    }
    return out;
}

// For each forward node the work that goes where it goes: if each were a stage of its own.
std::vector<std::uint64_t> work_by_node(const program::Program& program) {
    std::vector<std::uint32_t> each(program.loss_node + std::size_t{1});
    std::iota(each.begin(), each.end(), 0U);
    const std::vector<std::uint32_t> nodes = extended(program, std::move(each), program.loss_node);
    std::vector<std::uint64_t> out(program.loss_node + std::size_t{1});
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
        out[nodes[i]] += dispute::work_of(program.step[i]);
    }
    return out;
}

// By which stages are cut. Alike ones count forward products alone.
std::vector<std::uint64_t> weights_of(const program::Program& program, const std::vector<std::uint32_t>& shares) {
    if (std::adjacent_find(shares.begin(), shares.end(), std::not_equal_to<>()) != shares.end()) {
        return work_by_node(program);
    }
    std::vector<std::uint64_t> out;
    for (std::uint32_t i = 0; i <= program.loss_node; ++i) {
        out.push_back(multiply_adds(program.step[i]));
    }
    return out;
}

// The first node of each stage but the first.
std::vector<std::uint32_t> cuts_of(const program::Program& program, const Layout& layout) {
    const std::uint32_t loss_node = program.loss_node;
    const std::vector<std::uint32_t> shares = layout.shares_of_stages();
    std::vector<std::uint64_t> before = weights_of(program, shares);
    const std::uint64_t total = std::accumulate(before.begin(), before.end(), std::uint64_t{0});
    std::exclusive_scan(before.begin(), before.end(), before.begin(), std::uint64_t{0});
    const std::vector<std::uint64_t> crossing = crossing_bytes(program.step, loss_node);
    const std::uint64_t sum = std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
    std::uint64_t of_stages = 0;
    std::vector<std::uint32_t> out;
    for (std::uint32_t stage = 1; stage < layout.stages; ++stage) {
        of_stages += shares[stage - 1];
        const std::uint64_t wanted = proportion(total, of_stages, sum);
        const std::uint64_t slack = proportion(total, std::min(shares[stage - 1], shares[stage]), sum) / kSlackDivisor;
        const auto distance = [&](std::uint32_t node) {
            return before[node] > wanted ? before[node] - wanted : wanted - before[node];
        };
        const std::uint32_t first = std::min(out.empty() ? 1 : out.back() + 1, loss_node);
        std::uint32_t best = first;
        for (std::uint32_t node = first; node <= loss_node; ++node) {
            const auto key = [&](std::uint32_t at) {
                const bool is_far = distance(at) > slack;
                return std::tuple(is_far ? distance(at) : 0, crossing[at], distance(at));
            };
            best = key(node) < key(best) ? node : best;
        }
        out.push_back(best);
    }
    return out;
}

}  // namespace

std::vector<std::uint32_t> stages_of(const program::Program& program, const Layout& layout) {
    if (layout.stages == 1) {
        return std::vector<std::uint32_t>(program.step.size());
    }
    const std::vector<std::uint32_t> cuts = cuts_of(program, layout);
    std::vector<std::uint32_t> forward;
    for (std::uint32_t i = 0; i <= program.loss_node; ++i) {
        forward.push_back(static_cast<std::uint32_t>(std::upper_bound(cuts.begin(), cuts.end(), i) - cuts.begin()));
    }
    return extended(program, std::move(forward), layout.stages - 1);
}

}  // namespace assay::plan
