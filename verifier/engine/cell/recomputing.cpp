// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/cell/recomputing.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <verifier/engine/fused/planning.hpp>
#include <verifier/plan/plan.hpp>

namespace assay::engine {
namespace {

std::uint64_t most_bytes(const program::Program& program, const plan::Layout& layout) {
    const plan::Plan plan = plan::make_plan(program, layout);
    std::uint64_t out = 0;
    for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank) {
        out = std::max(out, plan::step_bytes(plan, program, rank));
    }
    return out;
}

}  // namespace

program::Program recomputing(const program::Program& program, const plan::Layout& layout, std::uint64_t memory_bytes) {
    std::uint64_t least = most_bytes(program, layout);
    const auto state = fused::steady_state(program.step);
    if (least <= memory_bytes || !state || layout.micro_batches > 1) {
        return program;
    }
    const std::array kept{program.loss_node};
    const fused::PlanInput input{.graph = program.step, .state = *state, .kept = kept};
    const auto plain = fused::make_plan(input);
    program::Program best = program;
    for (const std::uint64_t work : plain ? fused::work_limits(program.step) : std::set<std::uint64_t>{}) {
        const auto plan = fused::make_recomputing_plan(input, *plain, work);
        if (!plan) {
            continue;
        }
        program::Program again = program;
        again.step = plan->graph;
        again.loss_node = plan->kept.at(program.loss_node);
        const std::uint64_t bytes = most_bytes(again, layout);
        if (bytes < least && again.step.size() <= canonical::kMaxNodes) {
            least = bytes;
            best = std::move(again);
        }
        if (least <= memory_bytes) {
            break;
        }
    }
    return best;
}

}  // namespace assay::engine
