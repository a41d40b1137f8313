// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <verifier/worker/measuring.hpp>
#include <verifier/worker/runner.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// Measures this machine's drift in tasks that it was drawn to profile (PRF rules).
class Profiler {
  public:
    explicit Profiler(WorkerContext& context) : context_(context) {}
    /// Sends the commitment or the report of a measurement made earlier. Returns whether something was sent.
    bool send(const contracts::Task& task);
    /// Makes the report that is due, stores it and commits to it. Returns whether the commitment was sent.
    bool attend(const contracts::Task& task);

  private:
    /// The chain's record of our profile of the task; nullptr if none is asked of us.
    const contracts::Profile* own(const contracts::Task& task) const;
    std::optional<contracts::ProfileReport> make_report(const contracts::Task& task);
    contracts::ProfileSegment profile_segment(
        const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t segment,
        const States& before, States& native
    );
    bool commit(const contracts::Task& task, const Journal::KeptProfile& kept);

    WorkerContext& context_;
};

/// The values that every correct report of a task shares.
struct MeasuredReference {
    std::array<States, 3> states{};  ///< start; after segment 1; after segment 1 under the reference seed
    dispute::Measurement measurement{};
    contracts::MeasuredRoots roots{};
};
/// Replays segment 1 from `start` under both seeds, and measures the one against the other (PRF-3). `progress` is
/// called after each step. Throws Diverged, and std::runtime_error if the engine fails.
MeasuredReference measure_reference(
    const std::shared_ptr<const TaskArtifacts>& artifacts, const contracts::Tolerance& tolerance, States start,
    const engine::EngineOptions& options, const Progress& progress = {}
);

/// Checks other profilers' reports as far as possible: everything except the native states themselves, and of a private
/// task everything that does not depend on them (PRV-12).
class ProfileWatch {
  public:
    /// Our stake in `role` backs the challenges.
    ProfileWatch(WorkerContext& context, contracts::Role role) : context_(context), role_(role) {}
    /// Checks the task's reports until one check is completed. Returns whether one was.
    bool attend(const contracts::Task& task);

  private:
    struct Fault {
        contracts::ProfilePart part{};
        std::uint32_t segment = 0;
        std::optional<contracts::MeasuredRoots> roots{};
    };
    struct Reference {
        contracts::TaskId task;
        std::uint64_t seed = 0;  ///< of the reference; another draw of profilers has another one (PRV-11)
        MeasuredReference measured{};
    };
    Result<const MeasuredReference*, Unavailable> reference_of(
        const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts
    );
    /// Result of a check. kDone: the report is correct, or it has been challenged. kFailed: it could not be checked or
    /// challenged. kWaiting: artifacts are still being fetched.
    enum class Checked : std::uint8_t { kDone = 1, kFailed = 2, kWaiting = 3 };
    Checked check(const contracts::Task& task, const AccountId& profiler);
    /// Returns the first wrong part of the report; nullopt if it is correct. Fails with Unavailable.
    Result<std::optional<Fault>, Unavailable> find_fault(
        const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts,
        const contracts::ProfileReport& report
    );
    bool challenge(const contracts::Task& task, const AccountId& profiler, const Fault& fault);

    WorkerContext& context_;
    contracts::Role role_;
    std::map<std::pair<contracts::TaskId, AccountId>, std::uint32_t> tries_{};  ///< attempts left for each report
    std::optional<Reference> reference_{};                                      ///< of the most recently checked task
};

/// Fetches a profiler's native state from the location in its report. Fails with Unavailable.
Result<States, Unavailable> native_state(
    WorkerContext& context, const TaskArtifacts& artifacts, const contracts::ProfileSegment& segment
);

/// Returns the state from which a report's claim about `segment` starts. Fails with Unavailable; throws Diverged, and
/// std::runtime_error if the engine fails.
Result<States, Unavailable> state_before_profiled(
    WorkerContext& context, const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts,
    const contracts::ProfileReport& report, std::uint32_t segment
);

}  // namespace assay::worker
