// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <verifier/worker/measuring.hpp>
#include <verifier/worker/workplace.hpp>

namespace assay::worker {

/// Measures the drift of this machine for tasks that it was drawn to profile (PRF rules).
class Profiler {
  public:
    explicit Profiler(Workplace& workplace) : at_(workplace) {}
    /// Sends what was measured before; whether anything was due.
    bool send(const contracts::Task& task);
    /// Measures what is due; whether anything was.
    bool attend(const contracts::Task& task);

  private:
    /// How our profile of the task stands; nullptr where none is asked of us.
    const contracts::Profile* own(const contracts::Task& task) const;
    std::optional<contracts::ProfileReport> make_report(const contracts::Task& task);
    contracts::ProfileSegment profile_segment(
        const contracts::Task& task, const std::shared_ptr<const Material>& material, std::uint32_t segment,
        const States& before, States& native
    );
    bool commit(const contracts::Task& task, const Journal::KeptProfile& kept);

    Workplace& at_;
};

/// Checks what others report of their hardware, as far as it can be: everything but the native states themselves.
class ProfileWatch {
  public:
    /// `role`: whose stake backs a challenge.
    ProfileWatch(Workplace& workplace, contracts::Role role) : at_(workplace), role_(role) {}
    /// Whether there was something to do.
    bool attend(const contracts::Task& task);

  private:
    struct Fault {
        contracts::ProfilePart part{};
        std::uint32_t segment = 0;
        std::optional<contracts::MeasuredRoots> roots{};
    };
    /// What every report of a task has in common when it is right.
    struct Reference {
        contracts::TaskId task;
        std::array<States, 3> states{};  ///< the start, after segment 1, and after it under the reference's seed
        dispute::Measurement measurement{};
        contracts::MeasuredRoots roots{};
    };
    Result<const Reference*, Unavailable> reference_of(
        const contracts::Task& task, const std::shared_ptr<const Material>& material
    );
    /// Whether there is an answer: nothing is wrong with it, or it is challenged.
    enum class Checked : std::uint8_t { kDone = 1, kFailed = 2, kWaiting = 3 };
    Checked check(const contracts::Task& task, const AccountId& profiler);
    /// The first part of the report that is wrong.
    Result<std::optional<Fault>, Unavailable> find_fault(
        const contracts::Task& task, const std::shared_ptr<const Material>& material,
        const contracts::ProfileReport& report
    );
    bool challenge(const contracts::Task& task, const AccountId& profiler, const Fault& fault);

    Workplace& at_;
    contracts::Role role_;
    std::map<std::pair<contracts::TaskId, AccountId>, std::uint32_t> tries_{};  ///< left; as many as there were at first
    std::optional<Reference> reference_{};  ///< of the task checked last
};

/// A profiler's native state, from where its report says.
Result<States, Unavailable> native_state(
    Workplace& at, const Material& material, const contracts::ProfileSegment& segment
);

/// The state before what a part of a report claims of `segment`. Throws Diverged and std::runtime_error.
Result<States, Unavailable> state_before_profiled(
    Workplace& at,
    const contracts::Task& task,
    const std::shared_ptr<const Material>& material,
    const contracts::ProfileReport& report,
    std::uint32_t segment
);

}  // namespace assay::worker
