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
#include <verifier/worker/material.hpp>
#include <verifier/worker/options.hpp>
#include <verifier/worker/reporter.hpp>

namespace assay::worker {

/// How soon a signal to stop is noticed while nothing happens.
inline constexpr std::chrono::milliseconds kPoll{1'000};

/// Artifacts that a dishonest worker does not serve. Asked on the artifact server's threads.
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

/// What a canonical replay of ours says of a segment that is judged by distance (VER-17), its probe root excepted.
struct Judged {
    contracts::Verdict verdict;
    contracts::MeasuredRoots roots{};  ///< of the states measured
    std::optional<dispute::StateOpening> divergence{};  ///< of the end's state, where the replay diverged
};

/// What the parts of a worker share. Used by one thread, `withheld` and `stop` excepted.
struct Workplace {
    const WorkerOptions& options;
    Reporter& reporter;
    Journal& journal;
    const artifacts::ContentStore& store;  ///< what we made ourselves, and serve
    artifacts::Fetcher& fetcher;
    Chain& chain;
    Withheld& withheld;
    const std::atomic<bool>& stop;
    std::string artifacts_url;

    /// Asks for a task's artifacts, which then come beside other work.
    void want(const contracts::Task& task, artifacts::Urgency urgency);
    /// Program and dataset of a task, loaded once; nullptr when they cannot be had now (said once).
    std::shared_ptr<const Material> material(
        const contracts::Task& task, artifacts::Urgency urgency = artifacts::Urgency::kDuty
    );
    /// An artifact of a task, from where its reference says, or else from where the task's checkpoints are (AVL-9).
    Result<Bytes, artifacts::FetchError> obtain(
        const contracts::TaskId& task, const contracts::ArtifactRef& artifact, artifacts::Urgency urgency
    );
    /// A state that somebody posted, if it can be had now.
    Result<std::vector<canonical::Tensor>, Unavailable> state(
        const Material& material, const contracts::Checkpoint& checkpoint,
        artifacts::Urgency urgency = artifacts::Urgency::kDuty
    );
    /// Called between the steps of a long computation: does what has become urgent in the meantime. Whether to go on.
    bool interlude() const;
    /// Tells why a task cannot be worked on, and never tries it again where that cannot help.
    void decline(const contracts::TaskId& task, const Unavailable& why);
    /// How this worker cheats in a task; nullptr for an honest one.
    std::shared_ptr<const Fraud> fraud(const std::shared_ptr<const Material>& material);
    /// How it overstates the distances that it measures if `kind` is what it does; else nullptr.
    std::shared_ptr<const Fraud> measuring_fraud(
        const std::shared_ptr<const Material>& measuring, Dishonesty kind
    ) const;
    /// How it flatters the score of a final state if that is what it does; else nullptr.
    std::shared_ptr<const Fraud> scoring_fraud(const std::shared_ptr<const Material>& evaluating) const;
    /// Drops what is cached of a task.
    void forget(const contracts::TaskId& task);

    std::function<void()> attend_urgent{};
    std::map<contracts::TaskId, std::shared_ptr<const Material>> materials{};
    std::map<contracts::TaskId, std::shared_ptr<const Fraud>> frauds{};
    std::map<Journal::Place, Judged> judged{};
    std::map<contracts::TaskId, std::string> unusable{};  ///< tasks whose program or dataset is of no use, and why
    std::map<contracts::TaskId, std::string> told{};      ///< why a task waits, as it was last reported
};

/// LIN-2: the last state of the task's parent, from which the task starts.
Result<std::vector<canonical::Tensor>, Unavailable> load_parents_state(
    Workplace& at, const contracts::Task& task, const Material& material
);

/// A role at work.
class Role {
  public:
    virtual ~Role() = default;
    /// Sends what is due in the tasks of the last refresh, moves in disputes first, then in the order of their
    /// deadlines, and computes nothing long but what a move takes. Whether something was sent.
    virtual bool prompt() = 0;
    /// The part of prompt() that needs no disk: moves in disputes.
    virtual bool disputes() = 0;
    /// One long computation: the one whose deadline comes first of those that can be done now. Whether there was one.
    virtual bool labour() = 0;
    /// A task is over.
    virtual void forget(const contracts::TaskId& task) = 0;
};

std::unique_ptr<Role> make_solver(Workplace& workplace);
std::unique_ptr<Role> make_verifier(Workplace& workplace);
std::unique_ptr<Role> make_whistleblower(Workplace& workplace);

}  // namespace assay::worker
