// SPDX-License-Identifier: Apache-2.0
#include <core/base/assert.hpp>
#include <core/dispute/work.hpp>
#include <verifier/plan/node_rules.hpp>
#include <verifier/plan/plan.hpp>
#include <verifier/plan/planner.hpp>

// How much of a step each rank computes.
namespace assay::plan {

using canonical::Graph;

std::uint64_t proportion(std::uint64_t total, std::uint64_t part, std::uint64_t whole) {
    ASSERT(whole > 0 && part <= whole);
    while (whole >> 32U != 0) {  // so that the product of a remainder fits
        whole >>= 1U;
        part >>= 1U;
    }
    return total / whole * part + total % whole * part / whole;
}

std::uint64_t work_of(const Plan& plan, const Graph& graph, std::uint32_t rank) {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < graph.size(); ++i) {
        const NodePlan& node = plan.nodes[i];
        const std::uint64_t all = graph[i].shape.element_count();
        if (node.work.empty() || all == 0) {
            continue;
        }
        std::uint64_t work = proportion(dispute::work_of(graph[i]), node.work[rank].element_count(), all);
        if (node.is_divided) {
            work = proportion(work, node.depth[rank].count(), depth_of(graph[i]));
        }
        out += work;
    }
    return out;
}

std::vector<std::uint64_t> work_of_stages(const program::Program& program, const Layout& layout) {
    const std::vector<std::uint32_t> stages = stages_of(program, layout);
    std::vector<std::uint64_t> out(layout.stages);
    for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
        out[stages[i]] += dispute::work_of(program.step[i]);
    }
    return out;
}

}  // namespace assay::plan
