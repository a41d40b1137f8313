// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <verifier/roles/finding.hpp>
#include <verifier/worker/runner.hpp>
#include <verifier/worker/workplace.hpp>

namespace assay::worker {

/// Replays segments for verifiers and whistleblowers.
class Checker {
  public:
    explicit Checker(Workplace& workplace) : at_(workplace) {}
    /// Asks for what a replay of the segment needs.
    void want(const contracts::Task& task, std::uint32_t segment);
    /// One replay of a segment; the journal's Replays have the outcome. Whether there is a new result.
    bool replay(const contracts::Task& task, std::uint32_t segment);
    /// The same of its first `probe` steps.
    bool replay_probe(const contracts::Task& task, std::uint32_t segment, std::uint32_t probe);

  private:
    /// The state before the segment; nullopt when it, or a checkpoint up to `last`, cannot be had.
    std::optional<std::vector<canonical::Tensor>> load(
        const contracts::Task& task, const Material& material, std::uint32_t segment, std::uint32_t last,
        roles::Replays& replays
    );
    void pretend(const contracts::Task& task, std::uint32_t segment);
    void note_probes(
        const contracts::Task& task, std::uint32_t segment, const std::map<std::uint32_t, Hash256>& probe_roots
    );
    /// Measures where the segment is judged by distance. Throws std::runtime_error.
    void judge(
        const contracts::Task& task, const std::shared_ptr<const Material>& material, std::uint32_t segment,
        const std::vector<canonical::Tensor>& before, const SegmentEnd& end
    );
    /// As far as the solver says that it goes. Throws std::runtime_error.
    std::optional<SegmentEnd> execute(
        const contracts::Task& task, const std::shared_ptr<const Material>& material, std::uint32_t segment,
        const std::vector<canonical::Tensor>& before, const Progress& progress
    );
    bool run(
        const contracts::Task& task, const std::shared_ptr<const Material>& material, std::uint32_t segment,
        const std::vector<canonical::Tensor>& before
    );

    Workplace& at_;
};

}  // namespace assay::worker
