// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/planning.hpp>

#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <verifier/engine/fused/recompute.hpp>

namespace assay::engine::fused {

using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Source;

namespace {

/// What elementwise operations take at most, one after another, until there is a product or a value that was kept.
constexpr std::uint64_t kElementwiseWork = 64;

/// Where the input's nodes are in a graph.
struct Places {
    std::map<std::uint32_t, std::uint32_t> kept;
    std::vector<std::uint32_t> observed;
};

/// Plans `rewritten`, which was made of the graph with these places.
std::optional<Plan> plan_rewritten(const PlanInput& input, const Rewritten& rewritten, const Places& before) {
    auto [kept, observed] = before;
    std::vector<std::uint32_t> places;
    for (auto& [node, place] : kept) {
        place = rewritten.nodes[place];
        places.push_back(place);
    }
    for (std::uint32_t& place : observed) {
        place = rewritten.nodes[place];
    }
    std::optional<Plan> plan = plan_graph(
        {.graph = rewritten.graph,
         .state = input.state,
         .kept = places,
         .threads = input.threads,
         .is_observed = input.is_observed,
         .wall = rewritten.wall}
    );
    if (plan) {
        plan->kept = std::move(kept);
        plan->observed = std::move(observed);
    }
    return plan;
}

}  // namespace

std::set<std::uint64_t> work_limits(const canonical::Graph& graph) {
    std::set<std::uint64_t> out{kElementwiseWork};
    for (const Node& node : graph) {
        if (node.op == Op::kContract) {
            out.insert(work_per_element(node) + kElementwiseWork);
        }
    }
    return out;
}

std::optional<std::vector<canonical::TensorType>> steady_state(const canonical::Graph& graph) {
    std::vector<canonical::TensorType> types;
    for (const Input& input : graph.back().inputs) {
        types.push_back({input.dtype, input.shape});
    }
    for (const Node& node : graph) {
        for (const Input& input : node.inputs) {
            const bool is_other =
                input.source == Source::kState &&
                (input.index >= types.size() || types[input.index] != canonical::TensorType{input.dtype, input.shape});
            if (is_other) {
                return std::nullopt;
            }
        }
    }
    return types;
}

std::optional<Plan> make_plan(const PlanInput& input, std::size_t memory_bytes) {
    Places all;
    for (const std::uint32_t node : input.kept) {
        all.kept.emplace(node, node);
    }
    if (input.is_observed) {
        all.observed.resize(input.graph.size() - 1);
        std::iota(all.observed.begin(), all.observed.end(), 0U);
    }
    std::optional<Plan> plain = plan_rewritten(input, copy_sources(input.graph), all);
    if (!plain || memory_bytes == 0 || plain->memory_bytes() <= memory_bytes) {
        return plain;
    }
    std::optional<Plan> least;
    for (const std::uint64_t work : work_limits(plain->graph)) {
        std::optional<Plan> plan = make_recomputing_plan(input, *plain, work);
        if (!plan) {
            continue;
        }
        if (plan->memory_bytes() <= memory_bytes) {
            return plan;
        }
        if (!least || plan->memory_bytes() < least->memory_bytes()) {
            least = std::move(plan);
        }
    }
    return least && least->memory_bytes() < plain->memory_bytes() ? least : plain;
}

std::optional<Plan> make_recomputing_plan(const PlanInput& input, const Plan& plan, std::uint64_t work_max) {
    return plan_rewritten(input, recompute(plan, work_max), {.kept = plan.kept, .observed = plan.observed});
}

}  // namespace assay::engine::fused
