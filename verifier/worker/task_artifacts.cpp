// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/task_artifacts.hpp>

#include <algorithm>
#include <utility>

#include <core/base/assert.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/compile/program/distance.hpp>
#include <verifier/compile/program/evaluation.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::worker {
namespace {

Defect defect_of(artifacts::FetchError error) {
    switch (error) {
        case artifacts::FetchError::kTooLarge:
            return Defect::kTooLarge;
        case artifacts::FetchError::kPending:
            return Defect::kPending;
        case artifacts::FetchError::kNoRoom:
            return Defect::kNoRoom;
        default:
            return Defect::kUnreachable;
    }
}

Result<Bytes, Unavailable> fetch_named(
    const char* what, const contracts::ArtifactRef& artifact, const ArtifactSource& source
) {
    auto bytes = source(artifact);
    if (!bytes) {
        return Unexpected{Unavailable{
            .is_final = bytes.error() == artifacts::FetchError::kTooLarge,
            .reason = std::string(what) + " at " + artifact.location + ": " + artifacts::to_string(bytes.error()),
            .defect = defect_of(bytes.error()),
            .artifact = artifact}};
    }
    return *std::move(bytes);
}

Unexpected<Unavailable> unusable(Defect defect, std::string reason) {
    return Unexpected{Unavailable{.is_final = true, .reason = std::move(reason), .defect = defect}};
}

/// TOL-1: whether the task commits to the distance program of its own program, in tolerance mode.
bool commits_to_distance(const program::Program& program, const contracts::TaskSpec& spec) {
    if (spec.mode == contracts::Mode::kExact) {
        return true;
    }
    const auto distance = program::build_distance_program(program.state);
    if (!distance || !spec.distance) {
        return false;
    }
    const dispute::ProgramCommitment commitment = artifacts::commit_program(*distance, Hash256{});
    return *spec.distance ==
           contracts::DistanceCommitment{commitment.init_root, commitment.init_nodes, commitment.init_work};
}

/// ART-11
Result<std::vector<canonical::Tensor>, Unavailable> load_initial(
    const program::Program& program, const contracts::TaskSpec& spec, const ArtifactSource& source
) {
    if (program.initial.empty() || spec.parent) {  // LIN-1: the initialisation is not executed
        return std::vector<canonical::Tensor>{};
    }
    if (!spec.initial_artifact) {
        return unusable(Defect::kInitialMissing, "the task does not say where its initial tensors are");
    }
    TRY_ASSIGN(const Bytes bytes, fetch_named("the initial tensors", *spec.initial_artifact, source));
    auto initial = artifacts::decode_initial(program, bytes);
    if (!initial) {
        return unusable(
            Defect::kInitialFormat,
            std::string("the initial tensors cannot be used: ") + artifacts::to_string(initial.error())
        );
    }
    if (artifacts::state_root_of(*initial) != spec.program.initial_root) {
        return unusable(Defect::kInitialOther, "the initial tensors are not those that the task commits to");
    }
    return *std::move(initial);
}

/// EVL-9: whether the task commits to the evaluation of its own program on this hold-out set.
bool commits_to_evaluation(
    const program::Program& program, const contracts::EvaluationCommitment& committed, std::uint64_t rows
) {
    const auto evaluation = program::make_evaluation(program, rows);
    if (!evaluation) {
        return false;
    }
    const dispute::ProgramCommitment commitment = artifacts::commit_program(*evaluation, Hash256{});
    return commitment.init_root == committed.graph_root && commitment.init_nodes == committed.nodes &&
           commitment.init_work == committed.work;
}

/// EVL-9
Result<std::optional<canonical::Tensor>, Unavailable> load_holdout(
    const program::Program& program, const contracts::TaskSpec& spec, const ArtifactSource& source
) {
    if (!spec.evaluation) {
        return std::optional<canonical::Tensor>{};
    }
    TRY_ASSIGN(const Bytes bytes, fetch_named("the hold-out set", spec.evaluation->data, source));
    auto rows = artifacts::decode_holdout(program.dataset.width, bytes);
    if (!rows) {
        return unusable(Defect::kHoldoutFormat, "the hold-out set has no rows of the width that the program reads");
    }
    if (artifacts::commit_tensor(*rows) != spec.evaluation->holdout) {
        return unusable(Defect::kHoldoutOther, "the hold-out set is not the one that the task commits to");
    }
    if (!commits_to_evaluation(program, *spec.evaluation, rows->shape.rows)) {
        return unusable(Defect::kEvaluationOther, "the evaluation is not the one of the task's program");
    }
    return std::optional(*std::move(rows));
}

}  // namespace

const char* to_string(Defect defect) noexcept {
    switch (defect) {
        case Defect::kUnreachable:
            return "unreachable";
        case Defect::kTooLarge:
            return "too_large";
        case Defect::kProgramFormat:
            return "program_format";
        case Defect::kProgramOther:
            return "program_other";
        case Defect::kInitialMissing:
            return "initial_missing";
        case Defect::kInitialFormat:
            return "initial_format";
        case Defect::kInitialOther:
            return "initial_other";
        case Defect::kDatasetSize:
            return "dataset_size";
        case Defect::kDatasetOther:
            return "dataset_other";
        case Defect::kStateFormat:
            return "state_format";
        case Defect::kStateOther:
            return "state_other";
        case Defect::kHoldoutFormat:
            return "holdout_format";
        case Defect::kHoldoutOther:
            return "holdout_other";
        case Defect::kEvaluationOther:
            return "evaluation_other";
        case Defect::kPending:
            return "pending";
        case Defect::kNoRoom:
            return "no_room";
    }
    return "";
}

ArtifactSource waiting_source(const artifacts::ContentStore& store) {
    return [&store](const contracts::ArtifactRef& artifact) { return artifacts::fetch(artifact, store); };
}

std::vector<contracts::ArtifactRef> artifacts_of(const contracts::TaskSpec& spec) {
    std::vector<contracts::ArtifactRef> out{spec.program_artifact, spec.dataset_artifact};
    if (spec.initial_artifact && !spec.parent) {
        out.push_back(*spec.initial_artifact);
    }
    if (spec.evaluation) {
        out.push_back(spec.evaluation->data);
    }
    return out;
}

std::uint64_t TaskArtifacts::first_step(std::uint32_t segment) const {
    ASSERT(segment > 0);
    return std::uint64_t{segment - 1} * spec.checkpoint_interval;
}

std::uint64_t TaskArtifacts::step_count(std::uint32_t segment) const {
    return std::min<std::uint64_t>(spec.checkpoint_interval, spec.steps - first_step(segment));
}

Result<std::shared_ptr<const TaskArtifacts>, Unavailable> load_task_artifacts(
    const contracts::TaskId& task, const contracts::TaskSpec& spec, const ArtifactSource& source
) {
    TRY_ASSIGN(const Bytes program_bytes, fetch_named("the program", spec.program_artifact, source));
    auto program = program::decode_program(program_bytes);
    if (!program) {
        return unusable(Defect::kProgramFormat, "the program is not one that can be executed");
    }
    if (artifacts::commit_program(*program, spec.program.initial_root) != spec.program) {
        return unusable(Defect::kProgramOther, "the program is not the one that the task commits to");
    }
    if (!commits_to_distance(*program, spec)) {
        return unusable(Defect::kProgramOther, "the distance program is not the one that the task commits to");
    }
    TRY_ASSIGN(auto initial, load_initial(*program, spec, source));
    TRY_ASSIGN(Bytes dataset_bytes, fetch_named("the dataset", spec.dataset_artifact, source));
    auto dataset = artifacts::Dataset::make(program->dataset, std::move(dataset_bytes));
    if (!dataset) {
        return unusable(
            Defect::kDatasetSize, std::string("the dataset cannot be used: ") + artifacts::to_string(dataset.error())
        );
    }
    merkle::Tree dataset_tree = dispute::dataset_tree(*dataset);
    if (dataset_tree.root() != spec.dataset_root) {
        return unusable(Defect::kDatasetOther, "the dataset is not the one that the task commits to");
    }
    TRY_ASSIGN(auto holdout, load_holdout(*program, spec, source));
    return std::shared_ptr<const TaskArtifacts>(std::make_shared<TaskArtifacts>(TaskArtifacts{
        .task = task,
        .spec = spec,
        .program = *std::move(program),
        .initial = std::move(initial),
        .dataset = std::make_shared<artifacts::Dataset>(*std::move(dataset)),
        .dataset_tree = std::move(dataset_tree),
        .holdout = std::move(holdout)}));
}

Result<std::vector<canonical::Tensor>, Unavailable> load_state(
    const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint, const ArtifactSource& source
) {
    TRY_ASSIGN(const Bytes bytes, fetch_named("the checkpoint", checkpoint.artifact, source));
    auto state = artifacts::decode_state(artifacts.program, bytes);
    if (!state) {
        return unusable(
            Defect::kStateFormat,
            std::string("the checkpoint's file is no state: ") + artifacts::to_string(state.error())
        );
    }
    if (artifacts::state_root_of(*state) != checkpoint.state_root) {
        return unusable(Defect::kStateOther, "the checkpoint's file does not have the state root that was posted");
    }
    return *std::move(state);
}

}  // namespace assay::worker
