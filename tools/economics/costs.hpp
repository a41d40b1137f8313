// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <core/base/integers.hpp>

/// The input of `assay economics` - prices, tasks, adversaries - and what it solves for: the chain's parameters.
namespace assay::economics {

/// Money in grains. Signed, because gains and losses are.
using Grains = std::int64_t;
inline constexpr Grains kGrainsPerAsy = static_cast<Grains>(assay::kGrainsPerAsy);
inline constexpr double to_asy(Grains grains) { return static_cast<double>(grains) / 1e9; }

/// The chain's parameters that determine what cheating costs. Names and units are those of contracts/params.
struct Parameters {
    Grains solver_bond = 0;
    Grains verifier_bond = 0;
    Grains challenger_bond = 0;
    std::uint32_t solver_bond_bps = 10'000;
    std::uint32_t verifier_bond_bps = 1'000;
    std::uint32_t challenger_bond_bps = 1'000;
    std::uint32_t segments_checked = 0;
    std::uint32_t verifiers_per_segment = 0;
    Grains value_per_check = 1'000 * kGrainsPerAsy;
    Grains value_per_verifier = 10'000 * kGrainsPerAsy;
    std::uint32_t segments_checked_max = 63;
    std::uint32_t verifiers_per_segment_max = 4;
    std::uint32_t watchers_per_verdict = 1;
    std::uint32_t forced_error_bps = 500;
    std::uint32_t tax_bps = 500;
    std::uint32_t slash_to_winner_bps = 0;
    std::uint32_t dispute_extension_blocks = 0;
    Grains contributor_bond = 0;
    Grains task_value_max = 0;
    Grains draw_price = 0;
    std::uint32_t committee_seats = 0;
    Grains attest_fee = 0;
    Grains work_price = 0;  ///< per 10^9 multiply-adds
    std::uint32_t replay_blocks_max = 0;
    std::uint32_t deadline_slash_bps = 0;
    std::uint32_t draws_max = 0;
    std::uint32_t redraws_max = 0;
    Grains room_price = 0;       ///< per byte and 1,000 blocks
    Grains retention_price = 0;  ///< per 2^30 bytes and 1,000 blocks
    std::uint32_t attest_blocks = 0;
    std::uint32_t block_ms = 0;
    std::uint32_t decline_blocks = 0;
    std::uint32_t draw_blocks = 0;
    std::uint32_t redraw_blocks = 0;
    std::uint32_t accept_blocks = 0;
    std::uint32_t commit_blocks = 0;
    std::uint32_t publish_blocks = 0;
    std::uint32_t challenge_blocks = 0;
    std::uint32_t disclose_blocks = 0;
    std::uint32_t dispute_clock_blocks = 0;
    std::uint32_t contribute_blocks = 0;
    Grains gas_price_min = 0;
    std::uint32_t block_gas_max = 0;
    std::uint32_t end_block_gas_max = 0;
    std::uint64_t memory_default = 0;  ///< bytes
    std::uint32_t duty_gas_max = 0;
    std::uint32_t duty_wait_blocks = 0;
    std::uint32_t standstill_blocks = 0;

    bool operator==(const Parameters&) const = default;
};
/// Returns the parameters of a chain whose genesis sets none.
Parameters chain_defaults();

/// A kind of task for which the parameters must work.
struct TaskCosts {
    std::string name;
    std::uint32_t segments = 100;    ///< without the initialisation
    double segment_seconds = 360.0;  ///< training time of one segment
    Grains reward = 0;               ///< 0: the smallest that pays an honest solver
    Grains fee = 0;                  ///< verification fee; 0: the smallest that pays verifiers and watchers
};

/// The assumed adversary. Draws are by stake; here all accounts of a role have the same stake.
struct Adversary {
    std::uint32_t verifiers = 50;
    std::uint32_t coalition_verifiers = 5;  ///< accept whatever the coalition's solver did
    std::uint32_t careless_verifiers = 5;   ///< accept without a replay, at the design point
    std::uint32_t watchers = 50;
    std::uint32_t coalition_watchers = 5;  ///< ignore what the coalition's verifier did
    std::uint32_t idle_watchers = 5;       ///< offline or unwilling
    std::uint32_t contributors = 2;        ///< the coalition's seats in the beacon; they reveal last in every round
};

enum class Mode : std::uint8_t { kExact = 1, kTolerance = 2 };

struct Costs {
    // Prices.
    double compute_price = 1e9;   ///< grains per hour of the hardware
    double compute_speed = 1e11;  ///< of the hardware, in multiply-adds per second: the minimum of the class `consumer`
    double block_seconds = 1.0;
    double replay_ratio =
        1.01;                   ///< time of a verifier's replay of a segment relative to its training (docs/benchmarks)
    double fetch_share = 0.01;  ///< cost of fetching a checkpoint relative to training a segment
    Grains transaction_fee = 32'000;  ///< for 430 gas, at 1.5 times the minimum price (FEE-1)
    Grains dispute_fees =
        961'000;  ///< to open one: 587 gas at 1.5 times the minimum, plus 18,345 for imposed answers (DTY-3)
    Grains submission_fees = 5'030'000;  ///< likewise, for 100 segments: 862 gas, 99,312 imposed
    double dispute_replays = 2.0;        ///< replays of the segment by one party to a dispute
    Grains contribution_fee = 10'600;    ///< likewise, for a secret of the beacon, about 141 gas
    Grains attestation_fees = 66'000;    ///< likewise, for a member's tile (AVL-3), about 880 gas
    double capital_price = 0.001;        ///< share of a bond: the cost of locking it during one task
    double disk_price = 1e8;             ///< grains per gigabyte and month, for one validator
    double bytes_stored =
        8.0;  ///< on a validator's disk, per byte of state: 306 were measured for the 49 of an account

    // The world.
    double responder_failure = 0.01;     ///< probability that an honest party loses a dispute by its own outage
    double inclusion_failure = 0.2;      ///< probability that a block leaves out an honest move
    std::uint32_t response_blocks = 10;  ///< time in which an honest party computes its move
    std::uint32_t dispute_moves = 9;     ///< by one party: 8 rounds and a proof
    std::uint32_t validators = 100;      ///< number of validators that store the state
    std::uint32_t stakers = 1'000;       ///< accounts of each role from which a round of the beacon draws
    std::uint32_t tasks_at_once = 100;   ///< number of tasks that are judged at the same time
    double gas_micros = 1.28;  ///< microseconds of one core for the most expensive unit of gas (docs/benchmarks)
    std::uint64_t program_memory = 4'294'967'296;   ///< memory in bytes that typical programs need
    std::uint64_t machine_memory = 17'179'869'184;  ///< memory in bytes of the smallest machines

    // Arithmetic. Exact replays always detect a wrong segment; in tolerance mode the rates were measured.
    Mode mode = Mode::kExact;
    double false_rejection = 0.0;             ///< probability that an honest checked segment is rejected
    std::map<std::string, double> detection;  ///< attack -> probability that a replay of a wrong segment detects it

    // Requirements.
    double safety = 1.5;           ///< required ratio of penalties to gains
    double margin = 0.1;           ///< required margin of rewards and fees over costs
    double least_detection = 0.1;  ///< for a solver that skips 5 % of the work

    double most_forced = 0.1;  ///< share of verdicts; each forced error delays its task by a second challenge window

    Adversary adversary;
    std::vector<TaskCosts> tasks;
};
/// The default prices, and kinds of task from a sixth of an ASY to 100,000 ASY of training.
Costs default_costs();

/// Returns the probability that a replay of a wrong segment detects `attack`. Throws std::out_of_range in tolerance
/// mode if no rate was measured for it.
double detection_of(const Costs& costs, const std::string& attack);

}  // namespace assay::economics
