// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <core/dispute/opening.hpp>
#include <core/dispute/tolerance.hpp>
#include <tools/bench/gas_scenes.hpp>

/// Tasks, verdicts and openings of the largest size that the rules allow: what the scenes are made of.
namespace assay::bench {

inline constexpr Amount kMuch{10'000'000'000'000'000};
inline constexpr std::uint32_t kInterval = 100;

contracts::ArtifactRef make_artifact();
std::string make_location();
std::uint32_t verdicts_max(const contracts::Params& params);
/// Longest strings; as many segments as are ever checked.
contracts::TaskSpec make_spec(const contracts::Params& params, contracts::Mode mode);
dispute::Measurement make_measurement();
contracts::Assignment make_assignment(
    Stage& stage, std::uint64_t number, std::uint32_t segment, contracts::VerdictStatus status
);
/// A task of `player`'s in `state`, with all the records that a task can have.
contracts::Task make_task(
    Stage& stage, const Player& player, contracts::TaskState state, contracts::Mode mode,
    contracts::VerdictStatus verdicts
);
contracts::Task exact_task(
    Stage& stage, const Player& player, contracts::TaskState state,
    contracts::VerdictStatus verdicts = contracts::VerdictStatus::kDue
);
/// The task is `player`'s to verify: its last verdict.
contracts::Task assigned_task(
    Stage& stage, const Player& player, contracts::TaskState state, contracts::VerdictStatus verdicts,
    contracts::VerdictStatus own
);
contracts::TaskId put(Stage& stage, const contracts::Task& task);
/// The task waits since the block before.
void await_round(Stage& stage, const contracts::Task& task);
void end_at(Stage& stage, contracts::Task& task, Height height);
contracts::VerdictOpening make_opening(const contracts::Assignment& assignment);
/// A profile of the longest kind.
contracts::ProfileReport make_report(const contracts::Params& params);
/// A task whose profiles are in `phase`; the first of them is `player`'s and has `own`.
contracts::Task profiled_task(
    Stage& stage, const Player& player, contracts::ProfilingPhase phase, contracts::ProfileStatus own
);
dispute::TileOpening open_wide(canonical::DType dtype, std::size_t tile_depth, std::size_t source_depth);
/// A tile of the largest tensor there is, of i64, in a state of 1,024 tensors.
dispute::StateOpening open_state(canonical::DType dtype);

}  // namespace assay::bench
