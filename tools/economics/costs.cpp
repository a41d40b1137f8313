// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/costs.hpp>

#include <contracts/params/params.hpp>

namespace assay::economics {

Parameters chain_defaults() {
    const contracts::Params chain;
    Parameters out;
    out.solver_bond = static_cast<Grains>(chain.solver_bond.grains);
    out.verifier_bond = static_cast<Grains>(chain.verifier_bond.grains);
    out.challenger_bond = static_cast<Grains>(chain.challenger_bond.grains);
    out.segments_checked = chain.segments_checked;
    out.verifiers_per_segment = chain.verifiers_per_segment;
    out.slash_to_winner_bps = chain.slash_to_winner_bps;
    out.dispute_extension_blocks = chain.dispute_extension_blocks;
    return out;
}

Costs default_costs() {
    Costs out;
    out.tasks = {
        {.name = "small", .segments = 100, .segment_seconds = 6.0},
        {.name = "usual", .segments = 100, .segment_seconds = 360.0},
        {.name = "long segments", .segments = 100, .segment_seconds = 36'000.0},
        {.name = "large", .segments = 1'000, .segment_seconds = 18'000.0},
    };
    return out;
}

double detection_of(const Costs& costs, const std::string& attack) {
    return costs.mode == Mode::kExact ? 1.0 : costs.detection.at(attack);
}

}  // namespace assay::economics
