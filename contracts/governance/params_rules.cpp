// SPDX-License-Identifier: Apache-2.0
#include <contracts/governance/params_rules.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include <contracts/params/gas.hpp>
#include <contracts/transaction/transaction.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/params/by_value.hpp>

namespace assay::contracts {
namespace {

/// Of one draw; the one more is the evaluation (EVL-5).
std::uint64_t assignments_max(const Params& params) {
    return std::uint64_t{params.verifiers_per_segment_max} * (params.segments_checked_max + 1ULL);
}

/// What grows with the value stays within kMaxAssignments and kMaxBondBps.
bool are_counts_valid(const Params& params) {
    return params.segments_checked >= 1 && params.segments_checked_max >= params.segments_checked &&
           params.verifiers_per_segment >= 1 && params.verifiers_per_segment_max >= params.verifiers_per_segment &&
           assignments_max(params) <= kMaxAssignments && params.solver_bond_bps <= kMaxBondBps &&
           params.verifier_bond_bps <= kMaxBondBps && params.challenger_bond_bps <= kMaxBondBps;
}

/// PAR-4
bool are_classes_valid(const std::vector<HardwareClass>& classes) {
    const auto is_name_char = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    std::set<std::string> names;
    for (const HardwareClass& each : classes) {
        const bool named = !each.name.empty() && each.name.size() <= kMaxHardwareNameBytes && each.name != "any" &&
                           std::all_of(each.name.begin(), each.name.end(), is_name_char);
        if (!named || each.least_score == 0 || !names.insert(each.name).second) {
            return false;
        }
    }
    return !classes.empty() && classes.size() <= kMaxHardwareClasses;
}

/// PAR-5: the first draw of a task comes before its deadline, however late secrets are opened.
bool awaits_draws(const Params& params) { return params.draw_blocks > 2ULL * params.contribute_blocks + 1; }

/// PAR-9: what waits is paid for by a number, and the end of a block has gas for at least one deadline.
bool is_waiting_valid(const Params& params) {
    return params.draws_max >= 1 && params.draws_max <= kMaxDraws && params.redraws_max <= kMaxRedraws &&
           params.draw_price <= kDrawPriceMax && params.room_price <= kRoomPriceMax &&
           params.end_block_gas_max / 2 >= kGasPerEntry + deadline_gas(params);
}

/// PAR-10: a committee costs the solver no more than it costs the verifier that was silent. Fees grow as bonds do
/// (AVL-6), so what holds for the least bond holds for each.
bool are_committees_valid(const Params& params) {
    const auto fees = checked_mul(params.attest_fee.grains, std::uint64_t{params.committee_seats});
    return params.committee_seats >= 1 && params.committee_seats <= kMaxCommitteeSeats && fees &&
           *fees <= tenth_of(params.verifier_bond).grains;
}

/// PAR-14
bool is_retention_valid(const Params& params) {
    return params.retention_shows >= 1 && params.retention_shows <= kMaxRetentionShows;
}

/// PAR-11
bool is_work_valid(const Params& params) {
    return params.block_ms >= 1 && params.block_ms <= kMaxBlockMs && params.replay_blocks_max >= 1 &&
           params.replay_blocks_max <= kMaxReplayBlocks && params.work_price <= kMaxWorkPrice &&
           params.memory_default >= 1;
}

/// PAR-6: what bounds a jackpot leaves something of it where jackpots are to be won.
bool are_jackpots_valid(const Params& params) {
    const bool are_won = params.forced_error_bps != 0 && params.watchers_per_verdict != 0;
    return !are_won || tenth_of(params.contributor_bond).grains >= assignments_max(params);
}

/// PAR-8: what a light client trusts has stake that can still be slashed, with a third of the time to show the
/// evidence.
bool is_trust_bonded(const Params& params) {
    return params.validator_unbonding_ms >= 1 && params.validator_unbonding_ms <= kMaxSpanMs &&
           params.trusting_period_ms >= 1 && params.trusting_period_ms < params.validator_unbonding_ms / 3 * 2;
}

/// PRF-6: the fewest reports that may stand, one of them left out, are enough for the quantile and confidence.
bool is_profiling_valid(const Params& params) {
    if (params.profilers_min < 3 || params.profilers < params.profilers_min || params.profilers > kMaxProfilers ||
        params.profile_segments < 1 || params.profile_segments > kMaxProfileSegments) {
        return false;
    }
    const auto needed = dispute::samples_needed(threshold_rule(params));
    return needed && *needed <= (params.profilers_min - 1) * params.profile_segments;
}

/// PAR-12: every answer fits a block, and any task and a dispute find room in an empty lane.
bool is_lane_valid(const Params& params) {
    return params.duty_gas_max <= params.block_gas_max && params.duty_gas_max >= dispute_weight(params) &&
           params.duty_wait_blocks >= 1 && params.duty_wait_blocks <= kMaxSpanBlocks &&
           params.standstill_blocks <= kMaxSpanBlocks && lane_half(params) >= dispute_weight(params) &&
           lane_half(params) >= task_weight_max(params);
}

}  // namespace

bool are_valid(const Params& params) noexcept {
    // PAR-1
    const std::array spans{
        params.unbonding_blocks,
        params.accept_blocks,
        params.commit_blocks,
        params.publish_blocks,
        params.challenge_blocks,
        params.dispute_clock_blocks,
        params.dispute_extension_blocks,
        params.attest_blocks,
        params.disclose_blocks,
        params.downtime_blocks,
        params.jail_blocks,
        params.contribute_blocks,
        params.decline_blocks,
        params.draw_blocks,
        params.redraw_blocks,
        params.vote_blocks,
        params.vote_delay_blocks,
        params.retention_blocks_max,
        params.retention_show_blocks,
        params.share_blocks};
    const bool spans_ok =
        std::all_of(spans.begin(), spans.end(), [](std::uint32_t n) { return n >= 1 && n <= kMaxSpanBlocks; });
    const bool sizes_ok = params.tx_size_max >= kMinTxSize && params.tx_size_max <= kMaxTxSize &&
                          params.block_size_max >= params.tx_size_max;
    const bool gas_ok = are_counts_valid(params) && params.profilers <= kMaxProfilers && are_committees_valid(params) &&
                        params.block_gas_max >= gas_max(params);  // GAS-8
    const bool fees_ok = params.gas_price_min.grains >= 1 && params.gas_price_min <= kGasPriceMax;
    const bool bonds_ok = params.solver_bond.grains >= 1 && params.verifier_bond.grains >= 1 &&
                          params.challenger_bond.grains >= 1 &&
                          checked_add(params.verifier_bond, params.challenger_bond).has_value();
    const bool shares_ok = params.slash_to_winner_bps <= kBasisPoints && params.forced_error_bps <= kBasisPoints &&
                           params.tax_bps <= kBasisPoints && params.profiling_fee_bps <= kBasisPoints &&
                           params.deadline_slash_bps <= kBasisPoints;
    const bool validators_ok = params.validator_stake_min.grains >= 1 && params.validators_max >= 1 &&
                               params.validators_max <= kMaxValidators &&
                               params.double_sign_slash_bps <= kBasisPoints && is_trust_bonded(params);
    const bool beacon_ok = params.contributor_bond.grains >= 1 && params.contributors_max <= kMaxContributors &&
                           params.task_value_max.grains >= 1 && awaits_draws(params) && are_jackpots_valid(params);
    return validators_ok && beacon_ok && spans_ok && sizes_ok && fees_ok && gas_ok && bonds_ok && shares_ok &&
           are_classes_valid(params.hardware_classes) && params.watchers_per_verdict <= kMaxWatchers &&
           is_profiling_valid(params) && is_waiting_valid(params) && is_work_valid(params) && is_lane_valid(params) &&
           is_retention_valid(params);
}

}  // namespace assay::contracts
