// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <core/base/bytes.hpp>
#include <verifier/plan/layout.hpp>
#include <verifier/compile/program/program.hpp>

/// Which seats the members of a group that computes each step together should have, by how fast they are (GRP-13). A
/// member computes as much of each step as it has of the seats, and is paid by them (GRP-12).
namespace assay::worker {

/// The shares of members with so many seats, as a layout has them: without a common divisor; empty if all are the same,
/// or somebody has no seat.
std::vector<std::uint32_t> shares_of(const std::vector<std::uint32_t>& seats);
/// The layout in which each rank has as much of the batch, of the multiply-adds as a stage, or of each layer's columns
/// as it has of the seats: if the ranks divide one of these alone, and can answer for what they send then
/// (can_state()). Stages and columns have to be nearer to the seats so than alike: what is computed for one seat, at
/// most, has to be less. Else the layout in which all parts are alike.
plan::Layout with_seats(const program::Program& program, plan::Layout layout, const std::vector<std::uint32_t>& seats);
/// Whether that is the layout, whatever shares it has.
bool follows(const program::Program& program, const plan::Layout& layout, const std::vector<std::uint32_t>& seats);

/// What a session's ranks took for the steps of one segment.
struct MeasuredSegment {
    plan::Layout layout;              ///< of the session
    std::vector<AccountId> accounts;  ///< of each rank; the lead's first
    std::vector<double> busy_s;       ///< seconds that each rank says it computed in a step
    double step_s = 0.0;              ///< seconds that a step took, as the lead saw it
};

/// The seats of each rank, at most `seats_max` together, with which the slowest rank computes for the shortest time
/// that can be had, if speeds are as measured: each rank's rows of the batch, or multiply-adds of its stage, over the
/// time that it computed. Empty if that is not at least a tenth shorter than now, or the ranks are neither the layout's
/// parts of the batch nor its stages.
std::vector<std::uint32_t> balanced_seats(
    const program::Program& program, const MeasuredSegment& measured, std::size_t seats_max
);

/// The lead's decisions for one task. Ranks report their own times, and may lie. So a list that was asked for counts on
/// its effect: if the steps do not take less time with it, as the lead sees them, the list before is asked for again,
/// and nothing is balanced in this task any more.
class Balance {
  public:
    /// Call it after each segment that one session has executed from its first step to its last.
    void note(const program::Program& program, const MeasuredSegment& measured, std::size_t seats_max);
    /// The account of each seat, as the list should be; empty if it should stay as it is.
    const std::vector<AccountId>& wanted() const { return wanted_; }
    /// Whether what is wanted is the list before, since the last one has made nothing faster.
    bool takes_back() const { return is_over_ && !wanted_.empty(); }

  private:
    static constexpr std::uint32_t kTrialsMax = 8;  // of the kMaxSeatings lists; the others are for who comes and goes
    static constexpr std::uint32_t kWaitsMax = 4;   // segments in which a list is signed, or speeds are looked at again

    std::vector<AccountId> accounts_;    // of the ranks, while something is wanted
    std::vector<std::uint32_t> before_;  // their seats before the list that is wanted
    std::vector<std::uint32_t> after_;   // their seats in that list
    double step_before_s_ = 0.0;
    std::vector<AccountId> wanted_;
    std::uint32_t waited_ = 0;  // segments since something is wanted
    std::uint32_t trials_ = 0;  // lists that took effect
    bool is_over_ = false;
};

}  // namespace assay::worker
