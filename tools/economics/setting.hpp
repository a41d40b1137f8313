// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tools/economics/costs.hpp>

namespace assay::economics {

/// VER-9: a segment has nine marks; eight are spread over it and one is a step before its end.
inline constexpr double kLastMark = 1.0 / 9.0;
/// The average share of a segment that must be replayed to reach the probe.
inline constexpr double kMeanProbe = 0.5 * (1.0 - kLastMark) + kLastMark;

/// One task under given parameters, in whole grains: the input of the simulation and of the formulas.
struct Setting {
    // Counts.
    std::uint32_t segments = 0;     ///< trained ones, without the initialisation
    std::uint32_t checked = 0;      ///< k, out of segments + 1
    std::uint32_t per_segment = 0;  ///< V
    std::uint32_t watchers = 0;     ///< W
    std::uint32_t assignments = 0;  ///< k V

    // What is paid.
    Grains reward = 0;
    Grains fee = 0;
    Grains reward_tax = 0;
    Grains fee_tax = 0;
    Grains fee_share = 0;  ///< per assignment, after tax
    Grains jackpot = 0;    ///< with a full treasury; proportional to the fee before tax, up to the limit of VER-16

    // What is at stake.
    Grains solver_bond = 0;
    Grains verifier_bond = 0;
    Grains challenger_bond = 0;
    Grains withholding = 0;  ///< what a contributor that withholds its secret loses (BCN-8)

    // What work costs.
    Grains segment_cost = 0;
    Grains verify_cost = 0;  ///< to fetch and replay one segment
    Grains fetch_cost = 0;
    Grains dispute_cost = 0;  ///< fees and replays of one party
    Grains transaction_fee = 0;
    Grains submission_fee = 0;  ///< including the imposed answers
    Grains challenge_fee = 0;   ///< likewise
    std::uint32_t solver_transactions = 0;

    double forced_rate = 0.0;
    std::uint32_t winner_bps = 0;
    std::uint32_t extension_blocks = 0;
    double dispute_failure = 0.0;  ///< probability that an honest party loses a dispute that it should win

    Grains value() const { return reward + fee; }
    Grains training_cost() const { return segment_cost * segments; }
    Grains net_reward() const { return reward - reward_tax; }
    Grains winners_share(Grains slashed) const { return slashed * winner_bps / 10'000; }
    /// The cost for a watcher to fetch a segment and replay `share` of it.
    Grains watch_cost(double share) const {
        return fetch_cost + static_cast<Grains>(static_cast<double>(verify_cost - fetch_cost) * share);
    }
    double mean_watch_cost() const { return to_asy(fetch_cost) + kMeanProbe * to_asy(verify_cost - fetch_cost); }
};

/// Returns the bonds, checks and amounts of `task`. If it sets no reward or fee, takes the smallest that pays for
/// honest work.
Setting make_setting(const Parameters& parameters, const Costs& costs, const TaskCosts& task);

/// Probability that an honest party misses its clock at least once in a dispute although each move leaves it
/// `extension_blocks`, because so many consecutive blocks leave its move out.
double missed_clock(const Costs& costs, std::uint32_t extension_blocks);

/// Number of blocks in which an honest party has computed an answer and had it included, except in one of a million
/// games with so many answers.
double blocks_to_answer(const Costs& costs, std::uint32_t answers);

/// Probability that a watch with `watchers` watchers has no other active watcher.
double nobody_else(const Costs& costs, std::uint32_t watchers);
/// Average share of a jackpot that is left to each active watcher: 2^-n with n others (VER-16).
double shared_with_others(const Costs& costs, std::uint32_t watchers);

/// The jackpot times the forced rate, in ASY, with which a replay is a watcher's best reply, including the safety
/// factor.
double needed_win(const Setting& setting, const Costs& costs);

}  // namespace assay::economics
