// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tools/demo/narrator.hpp>
#include <tools/demo/network.hpp>
#include <tools/demo/report.hpp>
#include <tools/demo/workload.hpp>

namespace assay::demo {

/// Says that a task whose solver has declined it would otherwise be waited for in vain: a demo's task has one solver,
/// which is not drawn again for `decline_blocks` (TASK-15).
class Patience {
  public:
    Patience(const DemoOptions& options, const Workload& workload, Network& network, Narrator& narrator);

    double elapsed_s() const;
    /// Notes and tells that the solver of one of the tasks has declined it.
    void hear(const WorkerEvent& heard, const std::vector<Act>& acts);
    /// Throws std::runtime_error if a task has no solver although its own one might have been drawn again, or if the
    /// tasks have not ended for as long as the workload may take.
    void check(const std::vector<Act>& acts);

  private:
    /// Why the solver has declined, or where that can be read and what may help.
    std::string reason_of(const std::string& solver) const;

    const DemoOptions& options_;
    const Workload& workload_;
    Network& network_;
    Narrator& narrator_;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
    std::map<std::string, Height> declined_;      ///< by the solver's name: the height at which it had
    std::map<std::string, std::string> reasons_;  ///< by the solver's name: why, if it has said so
};

/// What to do about a solver that declines, begun by what separates it from a sentence; empty if nothing is known.
std::string advice_on_decline(const DemoOptions& options, std::uint32_t cores);

}  // namespace assay::demo
