// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <verifier/worker/measuring.hpp>
#include <verifier/worker/workplace.hpp>

namespace assay::worker {

/// Measures the drift of this machine for tasks that it was drawn to profile (PRF rules).
class Profiler {
  public:
    explicit Profiler(Workplace& workplace) : at_(workplace) {}
    /// Whether there was something to do.
    bool attend(const contracts::Task& task);

  private:
    std::optional<contracts::ProfileReport> make_report(const contracts::Task& task);
    contracts::ProfileSegment profile_segment(
        const contracts::Task& task, const std::shared_ptr<const Material>& material, std::uint32_t segment,
        const States& before, States& native
    );
    bool commit(const contracts::Task& task);

    Workplace& at_;
};

/// The state before what a part of our own report claims of `segment`, from our store; nullopt when it is lost.
std::optional<States> state_before_profiled(
    Workplace& at, const std::shared_ptr<const Material>& material, const contracts::ProfileReport& report,
    std::uint32_t segment
);

}  // namespace assay::worker
