// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <verifier/worker/balance.hpp>
#include <verifier/worker/together_session.hpp>

namespace assay::worker {

/// The lead of groups whose members compute each step together (GRP-11): it is rank 0 of each session. A member that is
/// lost ends the session, and the segment begins again with those that are there; who is lost twice is left out. So is
/// who is waited for longer than the deadline leaves for a segment. While the lead waits it attends to what is urgent.
/// Who has a seat for a segment takes part in it (GRP-13).
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
    /// The members that take part in no further session: those that said so, those that were lost twice, and
    /// those that were convicted of a statement.
    std::set<AccountId> gone(const contracts::TaskId& task) const;
    /// What the members' speeds ask for (--balance).
    const Balance& balance(const contracts::TaskId& task) const;
    /// Ends the task's session, if need be once advance() has returned.
    void end(const contracts::TaskId& task);
    void forget(const contracts::TaskId& task);

  private:
    struct Team;
    class Advancing;
    std::optional<Progress> execute(
        const contracts::Task& task, const TaskArtifacts& artifacts, Team& team, std::uint32_t segment,
        const Load& load, std::chrono::milliseconds budget
    );
    std::shared_ptr<Team> team_of(const contracts::Task& task);
    /// The members that are there for a session of this segment, in their order; nothing while others may still come.
    std::optional<std::vector<AccountId>> gather(const contracts::Task& task, Team& team, std::uint32_t segment);
    bool open(const contracts::Task& task, const TaskArtifacts& artifacts, Team& team, std::uint32_t segment);
    bool begin(
        const contracts::Task& task, const TaskArtifacts& artifacts, Team& team, std::uint32_t segment, const Load& load
    );
    bool goes_on(Team& team, std::chrono::milliseconds waited);
    std::chrono::milliseconds patience_for(const contracts::Task& task, std::uint32_t segment);
    bool run(const TaskArtifacts& artifacts, Team& team, std::chrono::milliseconds budget);
    /// Asks the ranks how long they have computed, once for each segment that the session has executed whole.
    void measure(const contracts::Task& task, const TaskArtifacts& artifacts, Team& team, std::uint32_t segment);
    static std::vector<canonical::Tensor> take_state(Team& team);
    bool leave_out_culprits(const contracts::Task& task, Team& team);
    bool is_told_alike(Team& team, std::uint32_t segment);
    void note_break(Team& team, std::uint32_t segment, const std::string& why);
    void note_lost(const contracts::Task& task, Team& team, const AccountId& member);
    void close(Team& team);

    WorkerContext& context_;
    std::map<contracts::TaskId, std::shared_ptr<Team>> teams_;
};

}  // namespace assay::worker
