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
#include <verifier/worker/task_artifacts.hpp>
#include <verifier/worker/options.hpp>
#include <verifier/worker/reporter.hpp>

/// Replays a segment without an account, stake or node, so that anybody can check what the chain recorded.
namespace assay::worker {

/// Exit statuses of a replay.
inline constexpr int kReplayHolds = 0;
inline constexpr int kReplayDiffers = 9;

struct SegmentCheck {
    Hash256 claimed;   ///< state root of the checkpoint, or of the score (EVL-3)
    Hash256 replayed;  ///< the replay's root; an assay/diverged hash (VER-8) if it diverged and the task does not
                       ///< declare it
    std::uint64_t steps = 0;                   ///< number of steps executed
    std::optional<std::uint64_t> diverged_at;  ///< the step that diverged, if one did
    /// Distance between checkpoint and replay, for a segment that is judged by distance (VER-17).
    struct Distance {
        contracts::Distances drift;
        contracts::Distances threshold;
        bool is_within = false;  ///< within the task's threshold (VER-18)
    };
    std::optional<Distance> distance{};
    bool holds() const { return distance ? distance->is_within : claimed == replayed; }
};

/// Takes the segment's artifacts from `source`, the rows that it reads from `dataset_source` if given (ART-19),
/// verifies them against the records and replays the segment. Reports progress to `reporter`. Returns nullopt if `stop`
/// was set. Fails with Unavailable; throws std::runtime_error if the engine fails.
Result<std::optional<SegmentCheck>, Unavailable> check_segment(
    const artifacts::SegmentRecords& records, const ArtifactSource& source, const engine::EngineOptions& options,
    Reporter& reporter, const std::atomic<bool>& stop, const DatasetSource& dataset_source = {}
);

/// Implements `assay-worker replay`: checks the records in a file and reports events, the last of which is "replayed".
/// Returns kReplayHolds or kReplayDiffers, or 1 if the check could not be done, which implies nothing about the solver.
int run_replay(const std::filesystem::path& records, const WorkerOptions& options, const std::atomic<bool>& stop);

}  // namespace assay::worker
