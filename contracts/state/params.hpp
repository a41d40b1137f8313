// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/protocol.hpp>

/// Protocol parameters, set at genesis and stored in the state (PAR rules). Durations are in blocks unless the name
/// ends in `_ms`.
namespace assay::contracts {

/// Denominator of the parameters whose names end in `_bps`.
inline constexpr std::uint64_t kBasisPoints = 10'000;

/// HW-1: a class of machines, by the least score that they reach in the benchmark of assay-worker. Entry i of the table
/// (from 0) is class i + 1; class 0 means any machine.
struct HardwareClass {
    std::string name;
    std::uint64_t least_score = 0;
    bool operator==(const HardwareClass&) const = default;
    static constexpr auto fields() { return Fields<&HardwareClass::name, &HardwareClass::least_score>{}; }
};

struct Params {
    std::uint32_t protocol_version = kProtocolVersion;  ///< PAR-13
    Amount gas_price_min{50};  ///< FEE-2: per unit of gas; this part of every fee goes to the treasury
    std::uint32_t tx_size_max = 65'536;
    std::uint32_t block_size_max = 4'194'304;
    std::uint32_t block_gas_max = 500'000;  ///< GAS-7

    // Bonds.
    Amount solver_bond{5'000'000'000};      ///< minimum; locked while a task is solved
    Amount verifier_bond{1'000'000'000};    ///< minimum, per assignment
    Amount challenger_bond{1'000'000'000};  ///< minimum, per dispute
    std::uint32_t unbonding_blocks = 1'000;

    // Drawing.
    std::uint32_t verifiers_per_segment = 1;  ///< minimum
    std::uint32_t segments_checked = 3;       ///< minimum; all segments if the task has fewer

    // Clocks.
    std::uint32_t accept_blocks = 50;             ///< WRK-5, TASK-6
    std::uint32_t commit_blocks = 200;            ///< VER-3
    std::uint32_t publish_blocks = 100;           ///< VER-4
    std::uint32_t challenge_blocks = 100;         ///< TASK-10: after the last verdict, before payment
    std::uint32_t dispute_clock_blocks = 400;     ///< DSP-32: each party's total time for its moves
    std::uint32_t dispute_extension_blocks = 50;  ///< DSP-33: minimum time left after a move
    std::uint32_t attest_blocks = 200;            ///< AVL-3

    // Shares of slashed stake, in basis points; the rest is burned (SET rules).
    std::uint32_t slash_to_winner_bps = 5'000;

    // Scaling with a task's value, which is reward plus verification fee (PAR-2, PAR-3). The bonds, segments_checked
    // and verifiers_per_segment above are the minima.
    std::uint32_t solver_bond_bps = 10'000;
    std::uint32_t verifier_bond_bps = 1'000;
    std::uint32_t challenger_bond_bps = 1'000;
    Amount value_per_check{1'000'000'000'000};  ///< one more checked segment per this much value; 0: no scaling
    Amount value_per_verifier{
        10'000'000'000'000};  ///< one more verifier per segment per this much value; 0: no scaling
    std::uint32_t segments_checked_max = 5;
    std::uint32_t verifiers_per_segment_max = 1;

    // Forced errors.
    std::uint32_t forced_error_bps = 1'000;  ///< VER-11: how many of 10,000 verdicts are forced errors
    std::uint32_t watchers_per_verdict = 1;  ///< VER-12
    std::uint32_t tax_bps = 400;             ///< SET-8: share of settlement payments that goes to the treasury
    std::uint32_t disclose_blocks = 100;     ///< VER-13, DSP-42

    // Validators.
    Amount validator_stake_min{1'000'000'000'000};  ///< VAL-3
    std::uint32_t validators_max = 64;              ///< VAL-3
    std::uint32_t double_sign_slash_bps = 500;      ///< VAL-5
    std::uint32_t downtime_blocks = 500;  ///< VAL-7: a validator that misses this many blocks in a row is jailed
    std::uint32_t jail_blocks = 1'000;    ///< VAL-7
    std::vector<HardwareClass> hardware_classes{
        {"cpu", 10'000}, {"consumer", 100'000}, {"datacenter", 1'000'000}, {"hopper", 4'000'000}};

    // Tolerance mode.
    std::uint32_t profilers = 4;              ///< PRF-1
    std::uint32_t profilers_min = 3;          ///< PRF-6: minimum number of unrefuted reports
    std::uint32_t profile_segments = 3;       ///< PRF-3
    std::uint32_t profiling_fee_bps = 2'000;  ///< SET-9: share of the verification fee that goes to the profilers
    std::uint32_t threshold_quantile_ppm = 650'000;  ///< PRF-6, TOL-8
    std::uint32_t threshold_confidence_ppm = 900'000;
    std::uint32_t threshold_margin_thousandths = 3'000;
    std::uint32_t threshold_separation = 10;
    std::uint32_t growth_max_thousandths = 6'000;  ///< VER-21: maximum accumulated drift over the whole run

    // The beacon.
    Amount contributor_bond{1'600'000'000'000};  ///< BCN-1
    std::uint32_t contributors_max = 32;         ///< BCN-3
    std::uint32_t contribute_blocks = 20;        ///< BCN-5
    Amount task_value_max{200'000'000'000};      ///< TASK-14: maximum value that the contributors' bonds protect

    // How long validators' unbonding stake can be slashed (VAL-9), and the shorter time that light clients trust a
    // header (PAR-8).
    std::uint64_t validator_unbonding_ms = 1'814'400'000;  ///< 21 days of block time
    std::uint64_t trusting_period_ms = 1'123'200'000;      ///< 13 days

    // Solvers' duties.
    std::uint32_t deadline_slash_bps = 2'500;  ///< TASK-8: share of the bond that is burned
    std::uint32_t decline_blocks = 1'000;      ///< TASK-15

    // Waiting for draws.
    /// GAS-10: for deadlines and draws, which no transaction of the block requested.
    std::uint32_t end_block_gas_max = 200'000;
    std::uint32_t draw_blocks = 40'000;  ///< TASK-17, PRF-1, VER-7: how long a task waits for a draw to succeed
    std::uint32_t draws_max = 16;        ///< TASK-17: number of draws prepaid at submission
    Amount draw_price{350'000};          ///< TASK-17: price of one draw
    Amount room_price{10};               ///< TASK-17: price of storing one byte for 1,000 blocks
    std::uint32_t redraw_blocks = 20;    ///< TASK-18: pause between two draws for a task; doubles each time
    std::uint32_t redraws_max = 4;       ///< AVL-7: maximum number of replacement draws of verifiers

    // Committees.
    std::uint32_t committee_seats = 21;  ///< AVL-2
    Amount attest_fee{3'000'000};        ///< AVL-6: per attestation; grows with the task's verifier bond

    // Work.
    std::uint32_t block_ms = 1'000;  ///< WRK-3: assumed duration of a block, used to scale windows with the work
    std::uint32_t replay_blocks_max = 3'700;  ///< WRK-4: maximum replay time of a segment, on the task's hardware class
    std::uint64_t work_price = 3'000;         ///< WRK-6: minimum price, in grains per 10^9 multiply-adds
    std::uint64_t memory_default = 8'589'934'592;  ///< TRM-1: memory of a verifier that registered none, in bytes

    // Duties.
    std::uint32_t duty_gas_max = 250'000;  ///< DTY-4: maximum gas of the answers to duties in one block
    std::uint32_t duty_wait_blocks = 15;   ///< DTY-5: maximum number of blocks that an answer waits to be included
    /// DTY-8: maximum total extension of a task's windows while there is no room for disputes.
    std::uint32_t standstill_blocks = 800;

    // Governance.
    std::uint32_t vote_blocks = 604'800;        ///< GOV-5: how long a proposal can be voted on
    std::uint32_t vote_delay_blocks = 172'800;  ///< GOV-7: between passing and taking effect

    // Retention.
    std::uint32_t retention_blocks_max = 31'536'000;  ///< RET-1: a year of blocks of one second
    std::uint32_t retention_shows = 16;               ///< RET-4: number of tiles that are drawn
    std::uint32_t retention_show_blocks = 3'600;      ///< RET-4: time to show a tile that was drawn
    /// RET-1: least fee for keeping 2^30 bytes of the program's memory for 1,000 blocks.
    Amount retention_price{80'000};

    // Private tasks.
    std::uint32_t share_blocks = 100;  ///< PRV-3, PRV-4: time to share a private task's keys with who was drawn

    bool operator==(const Params&) const = default;
    static constexpr auto fields() {
        return Fields<
            &Params::protocol_version, &Params::gas_price_min, &Params::tx_size_max, &Params::block_size_max,
            &Params::block_gas_max, &Params::solver_bond, &Params::verifier_bond, &Params::challenger_bond,
            &Params::unbonding_blocks, &Params::verifiers_per_segment, &Params::segments_checked,
            &Params::accept_blocks, &Params::commit_blocks, &Params::publish_blocks, &Params::challenge_blocks,
            &Params::dispute_clock_blocks, &Params::dispute_extension_blocks, &Params::attest_blocks,
            &Params::slash_to_winner_bps, &Params::solver_bond_bps, &Params::verifier_bond_bps,
            &Params::challenger_bond_bps, &Params::value_per_check, &Params::value_per_verifier,
            &Params::segments_checked_max, &Params::verifiers_per_segment_max, &Params::forced_error_bps,
            &Params::watchers_per_verdict, &Params::tax_bps, &Params::disclose_blocks, &Params::validator_stake_min,
            &Params::validators_max, &Params::double_sign_slash_bps, &Params::downtime_blocks, &Params::jail_blocks,
            &Params::hardware_classes, &Params::profilers, &Params::profilers_min, &Params::profile_segments,
            &Params::profiling_fee_bps, &Params::threshold_quantile_ppm, &Params::threshold_confidence_ppm,
            &Params::threshold_margin_thousandths, &Params::threshold_separation, &Params::growth_max_thousandths,
            &Params::contributor_bond, &Params::contributors_max, &Params::contribute_blocks, &Params::task_value_max,
            &Params::validator_unbonding_ms, &Params::trusting_period_ms, &Params::deadline_slash_bps,
            &Params::decline_blocks, &Params::end_block_gas_max, &Params::draw_blocks, &Params::draws_max,
            &Params::draw_price, &Params::room_price, &Params::redraw_blocks, &Params::redraws_max,
            &Params::committee_seats, &Params::attest_fee, &Params::block_ms, &Params::replay_blocks_max,
            &Params::work_price, &Params::memory_default, &Params::duty_gas_max, &Params::duty_wait_blocks,
            &Params::standstill_blocks, &Params::vote_blocks, &Params::vote_delay_blocks, &Params::retention_blocks_max,
            &Params::retention_shows, &Params::retention_show_blocks, &Params::retention_price,
            &Params::share_blocks>{};
    }
};

/// PAR-7: minimum of tx_size_max, so that every transaction that answers a duty fits. The largest one is a proof for a
/// contraction: an accumulator, and four tiles, each with a path through 2^38 tiles and one through 2^16 entries of a
/// step. The last term covers the remaining fields and the envelope.
inline constexpr std::uint32_t kMinTxSize = 16'384 + 4 * (4'096 + (38 + 16) * 32) + 1'536;

}  // namespace assay::contracts
