// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <tools/economics/constraints.hpp>
#include <tools/economics/setting.hpp>

/// What accounts of one owner lose that skip work as members of a group (GRP rules), on average.
namespace assay::economics {

inline constexpr double kMembersBond = 1.25;  ///< GRP-5: of a solver's bond

/// Which of their segments they skip. A conviction takes the pay for what comes after, so the last cost least pay.
enum class Skipped : std::uint8_t { kSpread = 1, kLast = 2 };

struct GroupPlan {
    std::uint32_t segments = 0;  ///< of the task, without the initialisation
    std::uint32_t members = 0;   ///< with a seat each: their segments take turns (GRP-3)
    std::uint32_t accomplices = 0;
    std::uint32_t skipped = 0;  ///< of the accomplices' segments
    Skipped place = Skipped::kLast;
};
/// The accomplices' segments, ascending, from 1: they have the last seats.
std::vector<std::uint32_t> accomplices_segments(const GroupPlan& plan);
/// Those of them that are skipped.
std::vector<std::uint32_t> skipped_segments(const GroupPlan& plan);

/// How a group's segments are verified.
struct GroupChecks {
    std::uint32_t drawn = 0;     ///< of the segments that count, and the initialisation
    double noticed = 1.0;        ///< probability that a drawn segment that was skipped is refuted
    std::uint32_t cuts_max = 0;  ///< a conviction after so many cuts ends the task (GRP-7)
};
/// Averages of one task.
struct GroupLoss {
    double convictions = 0.0;  ///< each takes the bond of one accomplice
    double pay = 0.0;          ///< of the reward, the share that the accomplices lose
};
/// GRP-7, GRP-8. Of several segments that are refuted the first is taken to be the one that the task is cut at: what is
/// behind it is not looked at any more, which is best for the accomplices. The pay that an accomplice loses for
/// segments before the one it is convicted for is counted only where it is the only one.
GroupLoss loss_of_group(const GroupPlan& plan, const GroupChecks& checks);

/// The bond that makes it unprofitable to skip segments as a coalition of members, of whatever size, in a group of
/// whatever size. Groups are for tasks in exact mode (GRP-1).
std::vector<Constraint> group_constraints(const Setting& setting, const Parameters& parameters, const Costs& costs);

}  // namespace assay::economics
