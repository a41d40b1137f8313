// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <core/base/result.hpp>
#include <core/merkle/tree.hpp>
#include <contracts/state/task.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/artifacts/fetcher.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/artifacts/store.hpp>
#include <verifier/compile/program/program.hpp>
#include <verifier/sandbox/refusal.hpp>

namespace assay::worker {

/// A task's artifacts, fetched and verified against the commitments on the chain.
struct TaskArtifacts {
    contracts::TaskId task;
    contracts::TaskSpec spec;
    program::Program program;
    std::vector<canonical::Tensor>
        initial{};  ///< inputs of the init graph; empty if it has none or the task has a parent
    /// Of a task with a parent: the tensors of its first checkpoint that no step changes, at their places in the state.
    /// The others are empty, and so is the list if there are none.
    std::vector<canonical::Tensor> inherited{};
    std::vector<Hash256> commitments{};  ///< of each of `initial` or `inherited` (TRC-2)
    std::shared_ptr<const artifacts::Dataset> dataset;
    merkle::Tree dataset_tree;
    std::optional<canonical::Tensor> holdout{};  ///< present if and only if the task has an evaluation

    /// The segments whose batches are in `dataset` (ART-19); nullopt: all of the dataset is there.
    std::optional<std::set<std::uint32_t>> segments{};
    std::uint64_t part_bytes = 0;  ///< of the dataset and its hashes, fetched for the last of `segments`

    /// Returns whether all rows that segment `segment` reads are there.
    bool covers(std::uint32_t segment) const { return !segments || segments->contains(segment); }
    /// The first step of segment `segment`, and its number of steps. `segment` > 0.
    std::uint64_t first_step(std::uint32_t segment) const;
    std::uint64_t step_count(std::uint32_t segment) const;
    /// ART-10: what the file of the task's checkpoint lacks. Valid for as long as this is.
    artifacts::Frozen frozen_in(std::uint32_t checkpoint) const;
};

/// Why one of a task's artifacts cannot be used.
enum class Defect : std::uint8_t {
    kUnreachable = 1,  ///< no server delivers it now
    kTooLarge = 2,
    kProgramFormat = 3,   ///< not a program, or beyond the limits
    kProgramOther = 4,    ///< not the program that the task commits to
    kInitialMissing = 5,  ///< the program reads initial tensors, but the task names none
    kInitialFormat = 6,   ///< not tensors, or with other names or types than the program's
    kInitialOther = 7,
    kDatasetSize = 8,  ///< not as many bytes as the rows that the program reads
    kDatasetOther = 9,
    kHoldoutFormat = 10,    ///< its rows do not have the width that the program reads
    kHoldoutOther = 11,     ///< not the hold-out set that the task commits to
    kEvaluationOther = 12,  ///< the committed evaluation is not that of the task's program
    kPending = 13,          ///< the fetch is still running
    kNoRoom = 14,           ///< no room on our disk
    kDamaged = 15,          ///< our disk has damaged it: it has to be fetched again
    kStartOther = 16,       ///< the state that the task starts from has other tensors than its program
    kParser = 17,           ///< its parser was stopped in the sandbox: whether it is valid is not known
    kNoSandbox = 18,        ///< no parser could be started here
    kSealed = 19,           ///< of a private task, whose keys are not shared with this account
    kUnopened = 20,         ///< of a private task, and not sealed under its key
    kStateOther = 21,       ///< the posted state root is not of a state of the task's program
};
/// The name used in reports, such as "program_other".
const char* to_string(Defect defect) noexcept;

/// Why an artifact is not available. Implies nothing about the solver's honesty.
struct Unavailable {
    bool is_final = false;  ///< retrying cannot help: the bytes match their reference, and are unusable
    std::string reason;
    Defect defect = Defect::kUnreachable;
    std::optional<artifacts::Reference> artifact{};  ///< the missing artifact

    /// Whether others may well be able to have it: the reason lies in this machine, or the fetch is not over.
    bool is_ours() const {
        return defect == Defect::kPending || defect == Defect::kNoRoom || defect == Defect::kDamaged ||
               defect == Defect::kParser || defect == Defect::kNoSandbox || defect == Defect::kSealed;
    }
};

/// Why `what` ("the program") cannot be had.
Unavailable not_fetched(const char* what, const artifacts::Reference& artifact, artifacts::FetchError error);
/// Why nothing is known of what `what` is ("the program"): a parser that was stopped says nothing about validity.
Unavailable stopped(const char* what, const sandbox::Refusal& refusal);

/// Supplies artifacts, either by fetching on demand or from an earlier fetch. It refuses references that name more than
/// `size_max` bytes with kTooLarge (ART-12).
using ArtifactSource = std::function<
    Result<artifacts::StoredFile, artifacts::FetchError>(const artifacts::Reference&, std::uint64_t size_max)>;
/// A source that reads from `store`, or else downloads and blocks until done. `store` must outlive it. `mirrors` as in
/// FetchLimits.
ArtifactSource waiting_source(const artifacts::ContentStore& store, std::vector<std::string> mirrors = {});

/// Supplies the chunks of a dataset, or all of it, as Fetcher::get_chunks() does.
using DatasetSource = std::function<Result<artifacts::DatasetFile, artifacts::FetchError>(
    const artifacts::Reference&, const std::shared_ptr<const artifacts::ChunkRequest>& request
)>;
/// A source that blocks until done, like waiting_source().
DatasetSource waiting_dataset_source(const artifacts::ContentStore& store, std::vector<std::string> mirrors = {});

/// Says that only the rows of one segment are needed, and where they come from.
struct SegmentPart {
    std::uint32_t segment = 0;
    DatasetSource source;
};
/// ART-19: the chunks that a segment of the task reads; nullptr where all of the dataset is fetched. `graph` is what
/// the segment executes; without it, each step reads one batch of the task's size.
std::shared_ptr<const artifacts::ChunkRequest> chunks_of_segment(
    const contracts::TaskSpec& spec, std::uint32_t segment, const canonical::Graph* graph = nullptr
);

/// An artifact and the largest size that the task allows it (ART-12), unless only the program tells.
struct SizedArtifact {
    contracts::ArtifactRef artifact;
    std::optional<std::uint64_t> size_max{};
};
/// Returns the artifacts that load_task_artifacts() reads.
std::vector<SizedArtifact> artifacts_of(const contracts::TaskSpec& spec);

/// Fetches program, initial tensors (unless the task has a parent), dataset and hold-out set. Verifies the program's
/// commitment, the roots and the evaluation (EVL-9) against the task's. With `part`, the dataset has the rows of that
/// segment at least. `start` is the state that a task with a parent starts from; it is fetched if later checkpoints
/// lack tensors of it (ART-10). Fails with Unavailable.
Result<std::shared_ptr<const TaskArtifacts>, Unavailable> load_task_artifacts(
    const contracts::TaskId& task, const contracts::TaskSpec& spec, const ArtifactSource& source,
    const std::optional<SegmentPart>& part = {}, const std::optional<contracts::Checkpoint>& start = {}
);

/// The file of a posted state, where it was posted to be.
artifacts::Reference reference_to(
    const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint, const artifacts::Frozen& frozen = {}
);

/// Fetches a checkpoint's state and verifies its root; `frozen` is what the file lacks. A file that is here and has
/// another state was damaged here: it is put aside, and the failure is kDamaged. Fails with Unavailable.
Result<std::vector<canonical::Tensor>, Unavailable> load_state(
    const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint, const artifacts::Frozen& frozen,
    const ArtifactSource& source
);
/// Like load_state(), without keeping the state: only to know whether it can be had.
Result<void, Unavailable> check_state(
    const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint, const artifacts::Frozen& frozen,
    const ArtifactSource& source
);

/// A result that is kept for its submitter (RET-2).
struct KeptResult {
    program::Program program;
    std::vector<canonical::Tensor> state;  ///< of the last checkpoint
    Hash256 name;                          ///< of the checkpoint's file in a store
};
/// Loads it: nothing but the task's program and its last checkpoint is needed.
Result<KeptResult, Unavailable> load_result(
    const contracts::TaskSpec& spec, const contracts::Checkpoint& last, const ArtifactSource& source
);

}  // namespace assay::worker
