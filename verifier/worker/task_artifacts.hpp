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

namespace assay::worker {

/// A task's artifacts, fetched and verified against the commitments on the chain.
struct TaskArtifacts {
    contracts::TaskId task;
    contracts::TaskSpec spec;
    program::Program program;
    std::vector<canonical::Tensor>
        initial{};  ///< inputs of the init graph; empty if it has none or the task has a parent
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
    kStateFormat = 10,      ///< not a state, or with other names or types than the program's
    kStateOther = 11,       ///< its root is not the posted one
    kHoldoutFormat = 12,    ///< its rows do not have the width that the program reads
    kHoldoutOther = 13,     ///< not the hold-out set that the task commits to
    kEvaluationOther = 14,  ///< the committed evaluation is not that of the task's program
    kPending = 15,          ///< the fetch is still running
    kNoRoom = 16,           ///< no room on our disk
};
/// The name used in reports, such as "program_other".
const char* to_string(Defect defect) noexcept;

/// Why an artifact is not available. Implies nothing about the solver's honesty.
struct Unavailable {
    bool is_final = false;  ///< retrying cannot help: the bytes match their reference, and are unusable
    std::string reason;
    Defect defect = Defect::kUnreachable;
    std::optional<contracts::ArtifactRef> artifact{};  ///< the missing artifact
};

/// Supplies artifacts, either by fetching on demand or from an earlier fetch. It refuses references that name more than
/// `size_max` bytes with kTooLarge (ART-12). `state` is what a checkpoint has to be, null for other artifacts.
using ArtifactSource = std::function<Result<artifacts::StoredFile, artifacts::FetchError>(
    const contracts::ArtifactRef&, std::uint64_t size_max, const std::shared_ptr<const artifacts::ExpectedState>& state
)>;
/// A source that reads from `store`, or else downloads and blocks until done. `store` must outlive it. `mirrors` as in
/// FetchLimits.
ArtifactSource waiting_source(const artifacts::ContentStore& store, std::vector<std::string> mirrors = {});

/// Supplies the chunks of a dataset, or all of it, as Fetcher::get_chunks() does.
using DatasetSource = std::function<Result<artifacts::DatasetFile, artifacts::FetchError>(
    const contracts::ArtifactRef&, const std::shared_ptr<const artifacts::ChunkRequest>& request
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
/// ART-12: the largest file of a checkpoint of the task.
std::uint64_t checkpoint_bytes_max(const TaskArtifacts& artifacts);
/// What a checkpoint of the task has to be (ART-16).
std::shared_ptr<const artifacts::ExpectedState> expected_state(const TaskArtifacts& artifacts, const Hash256& root);

/// Fetches program, initial tensors (unless the task has a parent), dataset and hold-out set. Verifies the program's
/// commitment, the roots and the evaluation (EVL-9) against the task's. With `part`, the dataset has the rows of that
/// segment at least. Fails with Unavailable.
Result<std::shared_ptr<const TaskArtifacts>, Unavailable> load_task_artifacts(
    const contracts::TaskId& task, const contracts::TaskSpec& spec, const ArtifactSource& source,
    const std::optional<SegmentPart>& part = {}
);

/// ART-10: whether a checkpoint's file may lack frozen tensors. The last one may not: another task may start from it.
artifacts::StateFile least_file(const TaskArtifacts& artifacts, std::uint32_t checkpoint);

/// Fetches a checkpoint's state and verifies its root. `least` is what its file has to have. Fails with Unavailable.
Result<std::vector<canonical::Tensor>, Unavailable> load_state(
    const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint, artifacts::StateFile least,
    const ArtifactSource& source
);
/// Like load_state(), without keeping the state: only to know whether it can be had.
Result<void, Unavailable> check_state(
    const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint, artifacts::StateFile least,
    const ArtifactSource& source
);

}  // namespace assay::worker
