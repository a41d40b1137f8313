// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <core/sealed/files/open.hpp>
#include <verifier/artifacts/fetcher.hpp>
#include <verifier/artifacts/store.hpp>
#include <verifier/roles/intent.hpp>
#include <verifier/worker/chain.hpp>
#include <verifier/worker/behaviour.hpp>
#include <verifier/worker/intake.hpp>
#include <verifier/worker/journal.hpp>
#include <verifier/worker/task_artifacts.hpp>
#include <verifier/worker/options.hpp>
#include <verifier/worker/reporter.hpp>
#include <verifier/worker/role.hpp>

namespace assay::worker {

/// Interval at which an idle worker checks for a stop signal.
inline constexpr std::chrono::milliseconds kPoll{1'000};

class LinkDesk;
class Losses;
class PrivateTasks;
class Publisher;
class SeatDesk;
class ToldByTask;
class WorkerMetrics;

/// What our canonical replay says about a segment that is judged by distance (VER-17), without its probe root.
struct Judged {
    contracts::Verdict verdict;
    contracts::MeasuredRoots roots{};  ///< roots of the three measured states
    std::optional<dispute::StateOpening>
        divergence{};  ///< set if the replay diverged: a tile of its end state that proves it
};

/// Context shared by the parts of a worker. Used by one thread only, except for `stop`.
struct WorkerContext {
    const WorkerOptions& options;
    Reporter& reporter;
    Journal& journal;
    const artifacts::ContentStore& store;  ///< artifacts that this worker produced and serves
    artifacts::Fetcher& fetcher;
    Chain& chain;
    Behaviour& behaviour;
    const std::atomic<bool>& stop;
    std::string artifacts_url;         ///< what records name: where others fetch from this worker
    SeatDesk* seats = nullptr;         ///< what a lead offers; never null while a solver works
    LinkDesk* links = nullptr;         ///< where members meet that compute each step together; likewise
    ToldByTask* statements = nullptr;  ///< what they told this one; likewise
    WorkerMetrics* metrics = nullptr;  ///< null unless somebody asked for metrics
    Losses* losses = nullptr;          ///< never null while a solver works
    Publisher* publisher = nullptr;    ///< null unless checkpoints are to be written to stores
    const Intake* intake = nullptr;    ///< null: the owner has no limits but the options
    PrivateTasks* privates = nullptr;  ///< null: no private task can be read

    /// Starts fetching a task's artifacts in the background. Does nothing if they are loaded or known to be unusable.
    /// With `segment`, of the dataset only the rows of that segment are fetched (ART-19).
    void want(const contracts::Task& task, artifacts::Urgency urgency, std::optional<std::uint32_t> segment = {});
    /// Returns the task's artifacts, loaded once and cached; nullptr if they are not available now. The reason is
    /// reported once. With `segment`, the dataset may lack rows that this segment does not read.
    std::shared_ptr<const TaskArtifacts> artifacts(
        const contracts::Task& task, artifacts::Urgency urgency = artifacts::Urgency::kDuty,
        std::optional<std::uint32_t> segment = {}
    );
    /// Fetches an artifact of a task from the location in its reference, or else from the location of the task's latest
    /// checkpoint (AVL-9). What a private task's spec names is fetched as the sealed file, and opened where nobody is
    /// served. Fails with the FetchError of the first attempt, or kPending while a fetch is running.
    Result<artifacts::StoredFile, artifacts::FetchError> obtain(
        const contracts::TaskId& task, const artifacts::Reference& artifact, std::uint64_t size_max,
        artifacts::Urgency urgency
    );
    /// obtain() for chunks of the task's dataset.
    Result<artifacts::DatasetFile, artifacts::FetchError> obtain_chunks(
        const contracts::TaskId& task, const artifacts::Reference& artifact, artifacts::Urgency urgency,
        const std::shared_ptr<const artifacts::ChunkRequest>& request
    );
    /// obtain() for a task.
    ArtifactSource source_of(const contracts::TaskId& task, artifacts::Urgency urgency);
    /// Starts fetching a posted state in the background. Does nothing before the task's program is loaded, from which
    /// the file follows, unless it is a sealed one.
    void want_state(
        const contracts::TaskId& task, const contracts::Checkpoint& checkpoint, const artifacts::Frozen& frozen = {}
    );
    /// The same for the task's own checkpoint `index`.
    void want_checkpoint(const contracts::TaskId& task, std::uint32_t index);
    /// Fetches the state of a posted checkpoint, and checks its root; one of a private task is opened. What its solver
    /// has sealed wrongly is reported (PRV-7). Fails with Unavailable if it is not available now.
    Result<std::vector<canonical::Tensor>, Unavailable> state(
        const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint, const artifacts::Frozen& frozen = {},
        artifacts::Urgency urgency = artifacts::Urgency::kDuty
    );
    /// How often the file of the task's own checkpoint `index` was asked for in vain.
    std::uint32_t failures(const TaskArtifacts& artifacts, std::uint32_t index);
    /// Whether the task is private and cannot be read by this account, which is reported once.
    bool is_unreadable(const contracts::Task& task);
    /// The keys of a private task that is readable; nullptr of any other.
    const artifacts::TaskSecrets* secrets_of(const contracts::TaskId& task) const;
    /// The record of a task of the last refresh that is private; nullptr if it is not, or has ended.
    const contracts::Task* find_private(const contracts::TaskId& task) const;
    /// Fetches a sealed file of a private task. Fails with Unavailable, which names `what` it is.
    Result<artifacts::StoredFile, Unavailable> obtain_sealed(
        const contracts::TaskId& task, const char* what, const artifacts::Reference& file,
        artifacts::Urgency urgency = artifacts::Urgency::kDuty
    );
    /// Like state(), without keeping the state: only to know whether it can be had.
    Result<void, Unavailable> has_state(
        const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint, const artifacts::Frozen& frozen
    );
    /// The same of the task's own checkpoint `index`.
    Result<std::vector<canonical::Tensor>, Unavailable> state_at(
        const TaskArtifacts& artifacts, std::uint32_t index, artifacts::Urgency urgency = artifacts::Urgency::kDuty
    );
    /// LIN-2: where the state is that a task with a parent starts from: its own first checkpoint, or before that is
    /// posted its parent's last.
    contracts::Checkpoint start_of(const contracts::Task& task);
    /// Returns why a state of the task cannot be had: finally, if its parent's program has a state of other tensors.
    Unavailable explain(const contracts::Task& task, Unavailable why);
    /// Returns why the owner admits no new work now; nullopt if it does.
    std::optional<std::string> closed() const { return intake != nullptr ? intake->closed() : std::nullopt; }
    /// Called between the steps of a long computation: runs attend_urgent. Returns false if the computation should
    /// stop.
    bool interlude() const;
    /// Reports why a task cannot be worked on. If the reason is final, marks the task as unusable, so it is never tried
    /// again.
    void decline(const contracts::TaskId& task, const Unavailable& why);
    /// Drops everything cached for a task.
    void forget(const contracts::TaskId& task);

    /// Reports what was fetched of a part of a dataset, and has all of it served by chunks (ART-17). Returns what is to
    /// be cached: with what is there of it from before.
    std::shared_ptr<const TaskArtifacts> keep(const std::shared_ptr<const TaskArtifacts>& loaded);

    /// Opens an artifact that a private task's spec names.
    Result<artifacts::StoredFile, artifacts::FetchError> open_artifact(
        const contracts::Task& task, const artifacts::Reference& artifact, std::uint64_t size_max,
        artifacts::Urgency urgency
    );
    /// Opens a checkpoint of a private task, and passes its tensors to `out`. Fails with Unavailable.
    Result<void, Unavailable> open_state(
        const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint, artifacts::Urgency urgency,
        const sealed::TensorSink& out
    );

    std::function<void()> attend_urgent{};
    std::map<contracts::TaskId, std::shared_ptr<const TaskArtifacts>> materials{};
    std::map<Journal::Place, Judged> judged{};
    std::map<Journal::Place, std::uint32_t> checked{};    ///< CHK-3: the report on each segment that was replayed
    std::map<contracts::TaskId, std::string> unusable{};  ///< tasks with unusable artifacts, with the reason
    std::string exposure{};                               ///< of a verifier's stake, in words; empty: none
    std::map<contracts::TaskId, std::string> told{};      ///< the last reported reason why a task waits
    /// How often a parser of a task's files was too slow or took too much memory.
    std::map<contracts::TaskId, std::uint32_t> stopped_parsers{};
};

/// How many threads seal and open files: as many as train.
inline unsigned threads_of(const WorkerOptions& options) {
    return static_cast<unsigned>(std::max(1, options.engine.threads));
}

/// Fetches the last checkpoint state of the task's parent, from which the task starts (LIN-2). `task` has a parent.
Result<std::vector<canonical::Tensor>, Unavailable> load_parents_state(
    WorkerContext& context, const contracts::Task& task, const TaskArtifacts& artifacts
);

}  // namespace assay::worker
