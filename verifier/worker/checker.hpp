// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <verifier/roles/finding.hpp>
#include <verifier/worker/runner.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// Returns the marks of the account's assignment on the segment; none if it has none.
std::vector<std::uint32_t> own_marks(const contracts::Task& task, std::uint32_t segment, const AccountId& self);

/// Replays segments for verifiers and whistleblowers.
class Checker {
  public:
    explicit Checker(WorkerContext& context) : context_(context) {}
    /// Starts fetching the artifacts that a replay of the segment needs.
    void want(const contracts::Task& task, std::uint32_t segment);
    /// Replays a segment once and stores the outcome in the journal's Replays. Returns whether there is a new result.
    bool replay(const contracts::Task& task, std::uint32_t segment);
    /// Like replay(), truncated after the first `probe` steps.
    bool replay_probe(const contracts::Task& task, std::uint32_t segment, std::uint32_t probe);

  private:
    /// Returns the state before the segment; nullopt if it, or any checkpoint up to `last`, is not available.
    std::optional<std::vector<canonical::Tensor>> load(
        const contracts::Task& task, const TaskArtifacts& artifacts, std::uint32_t segment, std::uint32_t last,
        roles::Replays& replays
    );
    /// Disputes the segment that ends with a private checkpoint of other tensors than the program's: no replay has its
    /// root, and nobody can replay what follows (DSP-37).
    void dispute_end(const contracts::Task& task, std::uint32_t segment);
    void note_probes(
        const contracts::Task& task, std::uint32_t segment, const std::map<std::uint32_t, Hash256>& probe_roots
    );
    /// Keeps the report on a state (CHK-3), and tells which of the task's checks failed.
    void note_checks(const contracts::Task& task, std::uint32_t segment, std::uint32_t failed);
    /// Stores the verdict on a segment that is judged by distance in context_.judged: the measured distance, or the
    /// divergence. Throws std::runtime_error if the checkpoint is not available or the engine fails.
    void judge(
        const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t segment,
        const std::vector<canonical::Tensor>& before, const SegmentEnd& end
    );
    /// Executes the segment, up to the step at which the solver declared divergence, if any. Throws std::runtime_error.
    std::optional<SegmentEnd> execute(
        const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t segment,
        std::vector<canonical::Tensor> before, const Progress& progress
    );
    bool run(
        const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t segment,
        std::vector<canonical::Tensor> before
    );

    WorkerContext& context_;
};

}  // namespace assay::worker
