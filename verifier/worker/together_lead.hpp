// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <verifier/worker/together_session.hpp>

namespace assay::worker {

/// The lead of groups whose members compute each step together (GRP-11): it is rank 0 of each session. A member that is
/// lost ends the session, and the segment begins again with those that are there; who is lost twice is left out.
class TogetherLead {
  public:
    enum class Progress : std::uint8_t {
        kWaits = 1,     ///< for members, or for the chain
        kRuns = 2,      ///< some steps were executed
        kFinished = 3,  ///< the segment is over: state() has what it leaves
    };
    /// Gives the state at the start of a segment; nullopt if it cannot be had now.
    using Load = std::function<std::optional<std::vector<canonical::Tensor>>()>;

    explicit TogetherLead(WorkerContext& context) : context_(context) {}

    /// Executes steps of a segment (from 1 on) for about `budget`; nullopt if this machine has to train it alone. The
    /// checkpoint before it must be posted.
    std::optional<Progress> advance(
        const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t segment,
        const Load& load, std::chrono::milliseconds budget
    );
    /// After kFinished.
    std::vector<canonical::Tensor> state(const contracts::TaskId& task);
    /// Ends the task's session.
    void end(const contracts::TaskId& task);
    void forget(const contracts::TaskId& task);

  private:
    struct Team;
    bool open(const contracts::Task& task, const TaskArtifacts& artifacts, Team& team);
    bool begin(
        const contracts::Task& task, const TaskArtifacts& artifacts, Team& team, std::uint32_t segment, const Load& load
    );
    bool run(const TaskArtifacts& artifacts, Team& team, std::chrono::milliseconds budget);
    void note_break(Team& team, std::uint32_t segment, const std::string& why);
    void note_lost(Team& team, const std::string& name);
    void close(Team& team);

    WorkerContext& context_;
    std::map<contracts::TaskId, std::shared_ptr<Team>> teams_;
};

}  // namespace assay::worker
