// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <contracts/state/task.hpp>
#include <verifier/artifacts/segment_records.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/worker/material.hpp>
#include <verifier/worker/options.hpp>
#include <verifier/worker/reporter.hpp>

/// Executing a segment again without an account, a stake or a node: anybody's check of what the chain recorded.
namespace assay::worker {

/// Exit statuses of a replay.
inline constexpr int kReplayHolds = 0;
inline constexpr int kReplayDiffers = 9;

struct SegmentCheck {
    Hash256 claimed;   ///< the checkpoint's state root, or the score's (EVL-3)
    Hash256 replayed;  ///< what its execution gives; assay/diverged when it diverges where the task does not say so
    std::uint64_t steps = 0;                   ///< executed
    std::optional<std::uint64_t> diverged_at;  ///< the step that diverged, if one did
    /// How far the checkpoint is from the replay, of a segment that is judged by distance (VER-17).
    struct Distance {
        contracts::Distances drift;
        contracts::Distances threshold;
        bool is_within = false;  ///< VER-18
    };
    std::optional<Distance> distance{};
    bool holds() const { return distance ? distance->is_within : claimed == replayed; }
};

/// Fetches what the segment needs into `store`, checks it against the records and executes the segment. nullopt when
/// `stop` was set meanwhile. Says how far it is by `reporter`. Throws std::runtime_error when the engine cannot.
Result<std::optional<SegmentCheck>, Unavailable> check_segment(
    const artifacts::SegmentRecords& records, const artifacts::ContentStore& store,
    const engine::EngineOptions& options, Reporter& reporter, const std::atomic<bool>& stop
);

/// `assay-worker replay`: the check of the records in a file, told by events of which the last is "replayed". Returns
/// kReplayHolds or kReplayDiffers, and 1 when it could not be done, which says nothing about the solver.
int run_replay(
    const std::filesystem::path& records, const WorkerOptions& options, const std::atomic<bool>& stop
);

}  // namespace assay::worker
