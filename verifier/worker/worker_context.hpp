// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <verifier/artifacts/fetcher.hpp>
#include <verifier/artifacts/store.hpp>
#include <verifier/roles/intent.hpp>
#include <verifier/worker/chain.hpp>
#include <verifier/worker/fraud.hpp>
#include <verifier/worker/journal.hpp>
#include <verifier/worker/task_artifacts.hpp>
#include <verifier/worker/options.hpp>
#include <verifier/worker/reporter.hpp>

namespace assay::worker {

/// Interval at which an idle worker checks for a stop signal.
inline constexpr std::chrono::milliseconds kPoll{1'000};

/// Artifacts that a dishonest worker refuses to serve. Thread-safe: the artifact server's threads call contains().
class Withheld {
  public:
    void add(const Hash256& artifact) {
        const std::lock_guard lock(mutex_);
        artifacts_.insert(artifact);
    }
    bool contains(const Hash256& artifact) const {
        const std::lock_guard lock(mutex_);
        return artifacts_.contains(artifact);
    }

  private:
    mutable std::mutex mutex_;
    std::set<Hash256> artifacts_;
};

/// What our canonical replay says about a segment that is judged by distance (VER-17), without its probe root.
struct Judged {
    contracts::Verdict verdict;
    contracts::MeasuredRoots roots{};  ///< roots of the three measured states
    std::optional<dispute::StateOpening>
        divergence{};  ///< set if the replay diverged: a tile of its end state that proves it
};

/// Context shared by the parts of a worker. Used by one thread only, except for `withheld` and `stop`.
struct WorkerContext {
    const WorkerOptions& options;
    Reporter& reporter;
    Journal& journal;
    const artifacts::ContentStore& store;  ///< artifacts that this worker produced and serves
    artifacts::Fetcher& fetcher;
    Chain& chain;
    Withheld& withheld;
    const std::atomic<bool>& stop;
    std::string artifacts_url;

    /// Starts fetching a task's artifacts in the background. Does nothing if they are loaded or known to be unusable.
    void want(const contracts::Task& task, artifacts::Urgency urgency);
    /// Returns the task's artifacts, loaded once and cached; nullptr if they are not available now. The reason is
    /// reported once.
    std::shared_ptr<const TaskArtifacts> artifacts(
        const contracts::Task& task, artifacts::Urgency urgency = artifacts::Urgency::kDuty
    );
    /// Fetches an artifact of a task from the location in its reference, or else from the location of the task's latest
    /// checkpoint (AVL-9). Fails with the FetchError of the first attempt, or kPending while a fetch is running.
    Result<Bytes, artifacts::FetchError> obtain(
        const contracts::TaskId& task, const contracts::ArtifactRef& artifact, artifacts::Urgency urgency
    );
    /// Fetches the state of a posted checkpoint and checks its root. Fails with Unavailable if it is not available now.
    Result<std::vector<canonical::Tensor>, Unavailable> state(
        const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint,
        artifacts::Urgency urgency = artifacts::Urgency::kDuty
    );
    /// Called between the steps of a long computation: runs attend_urgent. Returns false if the computation should
    /// stop.
    bool interlude() const;
    /// Reports why a task cannot be worked on. If the reason is final, marks the task as unusable, so it is never tried
    /// again.
    void decline(const contracts::TaskId& task, const Unavailable& why);
    /// Returns how this worker cheats in the task; nullptr if it is honest.
    std::shared_ptr<const Fraud> fraud(const std::shared_ptr<const TaskArtifacts>& artifacts);
    /// Returns the fraud that overstates measured distances if this worker's dishonesty is `kind`; else nullptr.
    std::shared_ptr<const Fraud> measuring_fraud(const std::shared_ptr<const TaskArtifacts>& measuring, Dishonesty kind)
        const;
    /// Returns the fraud that halves the score of a final state if this worker's dishonesty is kScore; else nullptr.
    std::shared_ptr<const Fraud> scoring_fraud(const std::shared_ptr<const TaskArtifacts>& evaluating) const;
    /// Drops everything cached for a task.
    void forget(const contracts::TaskId& task);

    std::function<void()> attend_urgent{};
    std::map<contracts::TaskId, std::shared_ptr<const TaskArtifacts>> materials{};
    std::map<contracts::TaskId, std::shared_ptr<const Fraud>> frauds{};
    std::map<Journal::Place, Judged> judged{};
    std::map<contracts::TaskId, std::string> unusable{};  ///< tasks with unusable artifacts, with the reason
    std::map<contracts::TaskId, std::string> told{};      ///< the last reported reason why a task waits
};

/// Fetches the last checkpoint state of the task's parent, from which the task starts (LIN-2). `task` has a parent.
Result<std::vector<canonical::Tensor>, Unavailable> load_parents_state(
    WorkerContext& context, const contracts::Task& task, const TaskArtifacts& artifacts
);

/// A role's duties, executed by the worker.
class Role {
  public:
    virtual ~Role() = default;
    /// Sends the transactions that are due for the tasks of the last refresh: dispute moves first, then by deadline.
    /// Runs no long computation except what a dispute move needs. Returns whether something was sent.
    virtual bool prompt() = 0;
    /// The part of prompt() that needs no disk: makes dispute moves. Returns whether something was sent.
    virtual bool disputes() = 0;
    /// Runs one long computation: of those that can run now, the one with the earliest deadline. Returns whether there
    /// was one.
    virtual bool labour() = 0;
    /// Drops what is kept for a task that has ended.
    virtual void forget(const contracts::TaskId& task) = 0;
};

std::unique_ptr<Role> make_solver(WorkerContext& context);
std::unique_ptr<Role> make_verifier(WorkerContext& context);
std::unique_ptr<Role> make_whistleblower(WorkerContext& context);

}  // namespace assay::worker
