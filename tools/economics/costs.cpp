// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/costs.hpp>

#include <contracts/state/params.hpp>

namespace assay::economics {

namespace {

/// What a chain may or may not have as a parameter; without it the default here stands.
template <class Chain>
void read_optional(const Chain& chain, Parameters& out) {
    if constexpr (requires {
                      chain.solver_bond_bps;
                      chain.segments_checked_max;
                  }) {
        out.solver_bond_bps = chain.solver_bond_bps;
        out.verifier_bond_bps = chain.verifier_bond_bps;
        out.challenger_bond_bps = chain.challenger_bond_bps;
        out.value_per_check = static_cast<Grains>(chain.value_per_check.grains);
        out.value_per_verifier = static_cast<Grains>(chain.value_per_verifier.grains);
        out.segments_checked_max = chain.segments_checked_max;
        out.verifiers_per_segment_max = chain.verifiers_per_segment_max;
    }
    if constexpr (requires {
                      chain.forced_error_bps;
                      chain.tax_bps;
                  }) {
        out.forced_error_bps = chain.forced_error_bps;
        out.watchers_per_verdict = chain.watchers_per_verdict;
        out.tax_bps = chain.tax_bps;
    }
}

}  // namespace

Parameters chain_defaults() {
    const contracts::Params chain;
    Parameters out;
    read_optional(chain, out);
    out.solver_bond = static_cast<Grains>(chain.solver_bond.grains);
    out.verifier_bond = static_cast<Grains>(chain.verifier_bond.grains);
    out.challenger_bond = static_cast<Grains>(chain.challenger_bond.grains);
    out.segments_checked = chain.segments_checked;
    out.verifiers_per_segment = chain.verifiers_per_segment;
    out.slash_to_winner_bps = chain.slash_to_winner_bps;
    out.dispute_extension_blocks = chain.dispute_extension_blocks;
    out.contributor_bond = static_cast<Grains>(chain.contributor_bond.grains);
    out.task_value_max = static_cast<Grains>(chain.task_value_max.grains);
    out.draw_price = static_cast<Grains>(chain.draw_price.grains);
    out.committee_seats = chain.committee_seats;
    out.attest_fee = static_cast<Grains>(chain.attest_fee.grains);
    out.work_price = static_cast<Grains>(chain.work_price);
    out.replay_blocks_max = chain.replay_blocks_max;
    out.deadline_slash_bps = chain.deadline_slash_bps;
    out.draws_max = chain.draws_max;
    out.redraws_max = chain.redraws_max;
    out.room_price = static_cast<Grains>(chain.room_price.grains);
    out.retention_price = static_cast<Grains>(chain.retention_price.grains);
    out.attest_blocks = chain.attest_blocks;
    out.block_ms = chain.block_ms;
    out.decline_blocks = chain.decline_blocks;
    out.draw_blocks = chain.draw_blocks;
    out.redraw_blocks = chain.redraw_blocks;
    out.accept_blocks = chain.accept_blocks;
    out.commit_blocks = chain.commit_blocks;
    out.publish_blocks = chain.publish_blocks;
    out.challenge_blocks = chain.challenge_blocks;
    out.disclose_blocks = chain.disclose_blocks;
    out.dispute_clock_blocks = chain.dispute_clock_blocks;
    out.contribute_blocks = chain.contribute_blocks;
    out.gas_price_min = static_cast<Grains>(chain.gas_price_min.grains);
    out.block_gas_max = chain.block_gas_max;
    out.end_block_gas_max = chain.end_block_gas_max;
    out.memory_default = chain.memory_default;
    out.duty_gas_max = chain.duty_gas_max;
    out.duty_wait_blocks = chain.duty_wait_blocks;
    out.standstill_blocks = chain.standstill_blocks;
    return out;
}

Costs default_costs() {
    Costs out;
    out.tasks = {
        {.name = "small", .segments = 100, .segment_seconds = 6.0},
        {.name = "usual", .segments = 100, .segment_seconds = 360.0},
        {.name = "week", .segments = 168, .segment_seconds = 3'600.0},
        {.name = "long segments", .segments = 100, .segment_seconds = 36'000.0},
        {.name = "large", .segments = 1'000, .segment_seconds = 18'000.0},
        {.name = "dear", .segments = 100, .segment_seconds = 3'600'000.0},
    };
    return out;
}

double detection_of(const Costs& costs, const std::string& attack) {
    return costs.mode == Mode::kExact ? 1.0 : costs.detection.at(attack);
}

}  // namespace assay::economics
