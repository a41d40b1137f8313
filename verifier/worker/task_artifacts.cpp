// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/task_artifacts.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include <core/base/assert.hpp>
#include <verifier/artifacts/foreign.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/compile/program/distance.hpp>
#include <verifier/compile/program/evaluation.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::worker {
namespace {

using States = std::vector<canonical::Tensor>;

Defect defect_of(artifacts::FetchError error) {
    switch (error) {
        case artifacts::FetchError::kTooLarge:
            return Defect::kTooLarge;
        case artifacts::FetchError::kPending:
            return Defect::kPending;
        case artifacts::FetchError::kNoRoom:
            return Defect::kNoRoom;
        case artifacts::FetchError::kSealed:
            return Defect::kSealed;
        case artifacts::FetchError::kUnopened:
            return Defect::kUnopened;
        default:
            return Defect::kUnreachable;
    }
}

Result<artifacts::StoredFile, Unavailable> fetch_named(
    const char* what, const artifacts::Reference& artifact, std::uint64_t size_max, const ArtifactSource& source
) {
    auto file = source(artifact, size_max);
    if (!file) {
        return Unexpected{not_fetched(what, artifact, file.error())};
    }
    return *std::move(file);
}

/// Each batch of the hold-out set takes a node of the evaluation's graph at least.
std::uint64_t holdout_bytes_max(const contracts::TaskSpec& spec) {
    const std::uint64_t rows = std::min<std::uint64_t>(
        std::uint64_t{spec.evaluation->nodes} * spec.program.batch_size, canonical::kMaxDimension
    );
    return rows * spec.program.dataset.width * 4;
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
    return *spec.distance == contracts::DistanceCommitment{
                                 commitment.init_root, commitment.init_nodes, commitment.init_work, commitment.outputs};
}

/// Tensors that the task gives, and their commitments.
struct Given {
    std::vector<canonical::Tensor> tensors{};
    std::vector<Hash256> commitments{};
};

/// ART-11
Result<Given, Unavailable> load_initial(
    const program::Program& program, const contracts::TaskSpec& spec, const ArtifactSource& source
) {
    if (program.initial.empty()) {
        return Given{};
    }
    if (!spec.initial_artifact) {
        return unusable(Defect::kInitialMissing, "the task does not say where its initial tensors are");
    }
    const std::uint64_t size_max = artifacts::tensor_file_bytes_max(program.initial);
    TRY_ASSIGN(
        const auto file,
        fetch_named("the initial tensors", artifacts::reference_to(*spec.initial_artifact), size_max, source)
    );
    auto tensors = artifacts::decode_initial(program, file);
    if (!tensors) {
        if (const auto* refusal = std::get_if<sandbox::Refusal>(&tensors.error())) {
            return Unexpected{stopped("the initial tensors", *refusal)};
        }
        return unusable(
            Defect::kInitialFormat, std::string("the initial tensors cannot be used: ") +
                                        artifacts::to_string(std::get<artifacts::StateError>(tensors.error()))
        );
    }
    Given out{.tensors = *std::move(tensors)};
    for (const canonical::Tensor& tensor : out.tensors) {
        out.commitments.push_back(artifacts::commit_tensor(tensor));
    }
    if (dispute::state_root(out.commitments) != spec.program.initial_root) {
        return unusable(Defect::kInitialOther, "the initial tensors are not those that the task commits to");
    }
    return out;
}

/// What was fetched was right, so this machine has damaged it.
Unexpected<Unavailable> damaged(const artifacts::StoredFile& file) {
    artifacts::ContentStore::quarantine(file);
    return Unexpected{Unavailable{
        .reason = "the checkpoint's file " + file.path().string() + " was damaged on this disk and is put aside",
        .defect = Defect::kDamaged}};
}

/// A checkpoint's file with a header that only a parser can tell, and whose parser was stopped.
Unexpected<Unavailable> not_parsed(const artifacts::StoredFile& file) {
    return Unexpected{Unavailable{
        .reason = "the header of the checkpoint's file " + file.path().string() +
                  " is not as ART-5 has it, and its parser was stopped in the sandbox",
        .defect = Defect::kParser}};
}

/// LIN-1: the initialisation is not executed, so initial tensors are not needed. Of the state that the task starts from
/// those that no step changes are.
Result<Given, Unavailable> load_inherited(
    const program::Program& program, const std::optional<contracts::Checkpoint>& start, const ArtifactSource& source
) {
    const artifacts::Frozen frozen{.places = program::inherited_tensors(program)};
    if (!frozen.is_any()) {
        return Given{};
    }
    if (!start) {
        return Unexpected{Unavailable{.reason = "it is not known yet from which state the task starts"}};
    }
    const auto wanted = artifacts::reference_to(artifacts::expected_state(program, start->state_root), start->location);
    TRY_ASSIGN(const auto file, fetch_named("the first checkpoint", wanted, wanted.size_bytes, source));
    auto state = artifacts::decode_state(program, file);
    if (!state && state.error() == artifacts::StateError::kStopped) {
        return not_parsed(file);
    }
    Given out;
    for (std::size_t i = 0; state && i < state->size(); ++i) {
        out.commitments.push_back(artifacts::commit_tensor((*state)[i]));
        out.tensors.push_back(frozen.has(i) ? std::move((*state)[i]) : canonical::Tensor{});
    }
    if (!state || dispute::state_root(out.commitments) != start->state_root) {
        return damaged(file);
    }
    return out;
}

Result<artifacts::StoredFile, Unavailable> fetch_checkpoint(
    const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint, const artifacts::Frozen& frozen,
    const ArtifactSource& source
) {
    const artifacts::Reference wanted = reference_to(artifacts, checkpoint, frozen);
    return fetch_named("the checkpoint", wanted, wanted.size_bytes, source);
}

/// A task's dataset, of which the root is verified.
struct LoadedDataset {
    std::shared_ptr<const artifacts::Dataset> dataset;
    merkle::Tree tree;
    bool is_whole = true;
    std::uint64_t part_bytes = 0;
};

Result<LoadedDataset, Unavailable> load_whole_dataset(
    const contracts::TaskSpec& spec, const artifacts::StoredFile& file
) {
    auto dataset = artifacts::Dataset::make(spec.program.dataset, file);
    if (!dataset) {
        return unusable(
            Defect::kDatasetSize, std::string("the dataset cannot be used: ") + artifacts::to_string(dataset.error())
        );
    }
    merkle::Tree tree = dispute::dataset_tree(*dataset);
    if (tree.root() != spec.dataset_root) {
        return unusable(Defect::kDatasetOther, "the dataset is not the one that the task commits to");
    }
    return LoadedDataset{
        .dataset = std::make_shared<const artifacts::Dataset>(*std::move(dataset)), .tree = std::move(tree)};
}

/// ART-19
Result<LoadedDataset, Unavailable> load_dataset(
    const program::Program& program, const contracts::TaskSpec& spec, const ArtifactSource& source,
    const std::optional<SegmentPart>& part
) {
    constexpr const char* kName = "the dataset";
    const artifacts::Reference wanted = artifacts::reference_to(spec.dataset_artifact);
    const auto request =
        part ? chunks_of_segment(spec, part->segment, part->segment == 0 ? &program.init : &program.step) : nullptr;
    if (!request) {
        const std::uint64_t size_max = canonical::byte_count(spec.program.dataset);
        TRY_ASSIGN(const auto file, fetch_named(kName, wanted, size_max, source));
        return load_whole_dataset(spec, file);
    }
    auto found = part->source(wanted, request);
    if (!found) {
        return Unexpected{not_fetched(kName, wanted, found.error())};
    }
    if (const auto* file = std::get_if<artifacts::StoredFile>(&*found)) {
        return load_whole_dataset(spec, *file);
    }
    const auto some = std::get<std::shared_ptr<const artifacts::PartialDataset>>(*std::move(found));
    return LoadedDataset{
        .dataset = std::make_shared<const artifacts::Dataset>(some),
        .tree = some->tree(),
        .is_whole = false,
        .part_bytes = artifacts::size_bytes_of(*request)};
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
           commitment.init_work == committed.work && commitment.outputs == committed.outputs;
}

/// EVL-9
Result<std::optional<canonical::Tensor>, Unavailable> load_holdout(
    const program::Program& program, const contracts::TaskSpec& spec, const ArtifactSource& source
) {
    if (!spec.evaluation) {
        return std::optional<canonical::Tensor>{};
    }
    TRY_ASSIGN(
        const auto file,
        fetch_named("the hold-out set", artifacts::reference_to(spec.evaluation->data), holdout_bytes_max(spec), source)
    );
    auto rows = artifacts::decode_holdout(program.dataset.width, file.view());
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
    // In the order of their numbers.
    constexpr std::array kNames{
        "unreachable",   "too_large",    "program_format", "program_other",  "initial_missing", "initial_format",
        "initial_other", "dataset_size", "dataset_other",  "holdout_format", "holdout_other",   "evaluation_other",
        "pending",       "no_room",      "damaged",        "start_other",    "parser",          "no_sandbox",
        "sealed",        "unopened",     "state_other"};
    static_assert(kNames.size() == static_cast<std::size_t>(Defect::kStateOther));
    return kNames.at(static_cast<std::size_t>(defect) - 1);
}

Unavailable not_fetched(const char* what, const artifacts::Reference& artifact, artifacts::FetchError error) {
    return {
        .is_final = error == artifacts::FetchError::kTooLarge || error == artifacts::FetchError::kUnopened,
        .reason = std::string(what) + " at " + artifact.location + ": " + artifacts::to_string(error),
        .defect = defect_of(error),
        .artifact = artifact};
}

Unavailable stopped(const char* what, const sandbox::Refusal& refusal) {
    const bool is_started = refusal.kind != sandbox::RefusalKind::kNotStarted;
    return {
        .is_final = !sandbox::may_pass_later(refusal),
        .reason = std::string(what) + " cannot be read: " + refusal.message,
        .defect = is_started ? Defect::kParser : Defect::kNoSandbox};
}

ArtifactSource waiting_source(const artifacts::ContentStore& store, std::vector<std::string> mirrors) {
    return [&store, limits = artifacts::FetchLimits{.mirrors = std::move(mirrors)}](
               const artifacts::Reference& artifact, std::uint64_t size_max
           ) { return artifacts::fetch(artifact, size_max, store, limits); };
}

DatasetSource waiting_dataset_source(const artifacts::ContentStore& store, std::vector<std::string> mirrors) {
    return [&store, limits = artifacts::FetchLimits{.mirrors = std::move(mirrors)}](
               const artifacts::Reference& artifact, const std::shared_ptr<const artifacts::ChunkRequest>& request
           ) -> Result<artifacts::DatasetFile, artifacts::FetchError> {
        if (!store.has(artifact.name)) {
            auto some = artifacts::fetch_chunks(artifact, *request, store, limits);
            if (some) {
                return artifacts::DatasetFile(std::make_shared<const artifacts::PartialDataset>(*std::move(some)));
            }
        }
        TRY_ASSIGN(auto file, artifacts::fetch(artifact, artifact.size_bytes, store, limits));
        return artifacts::DatasetFile(std::move(file));
    };
}

std::shared_ptr<const artifacts::ChunkRequest> chunks_of_segment(
    const contracts::TaskSpec& spec, std::uint32_t segment, const canonical::Graph* graph
) {
    const canonical::DatasetShape& shape = spec.program.dataset;
    if (spec.dataset_artifact.size_bytes != canonical::byte_count(shape)) {
        return nullptr;
    }
    artifacts::StepRange steps{.seed = spec.seed, .first = 0, .count = segment == 0 ? 1U : 0U};
    const std::uint64_t first = segment == 0 ? 0 : std::uint64_t{segment - 1} * spec.checkpoint_interval;
    if (segment != 0 && first < spec.steps) {  // what comes after the last segment is the evaluation
        steps.first = first;
        steps.count = std::min<std::uint64_t>(spec.checkpoint_interval, spec.steps - first);
    }
    std::vector<std::uint32_t> batches;
    if (graph != nullptr) {
        batches = artifacts::batch_sizes_of(*graph);
    } else if (segment != 0) {
        batches = {spec.program.batch_size};
    }
    auto chunks = artifacts::chunks_read(shape, steps, batches);
    return chunks ? std::make_shared<const artifacts::ChunkRequest>(artifacts::ChunkRequest{
                        .dataset = {.shape = shape, .root = spec.dataset_root}, .chunks = *std::move(chunks)})
                  : nullptr;
}

std::vector<SizedArtifact> artifacts_of(const contracts::TaskSpec& spec) {
    std::vector<SizedArtifact> out{
        {spec.program_artifact, artifacts::kMaxProgramBytes},
        {spec.dataset_artifact, canonical::byte_count(spec.program.dataset)}};
    if (spec.initial_artifact && !spec.parent) {
        out.push_back({*spec.initial_artifact, {}});
    }
    if (spec.evaluation) {
        out.push_back({spec.evaluation->data, holdout_bytes_max(spec)});
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

namespace {

/// The program that the task commits to.
Result<program::Program, Unavailable> load_program(const contracts::TaskSpec& spec, const ArtifactSource& source) {
    TRY_ASSIGN(
        const auto program_file,
        fetch_named("the program", artifacts::reference_to(spec.program_artifact), artifacts::kMaxProgramBytes, source)
    );
    auto program = artifacts::decode_foreign_program(program_file);
    if (!program) {
        if (const auto* refusal = std::get_if<sandbox::Refusal>(&program.error())) {
            return Unexpected{stopped("the program", *refusal)};
        }
        return unusable(Defect::kProgramFormat, "the program is not one that can be executed");
    }
    if (artifacts::commit_program(*program, spec.program.initial_root) != spec.program) {
        return unusable(Defect::kProgramOther, "the program is not the one that the task commits to");
    }
    return *std::move(program);
}

}  // namespace

Result<std::shared_ptr<const TaskArtifacts>, Unavailable> load_task_artifacts(
    const contracts::TaskId& task, const contracts::TaskSpec& spec, const ArtifactSource& source,
    const std::optional<SegmentPart>& part, const std::optional<contracts::Checkpoint>& start
) {
    TRY_ASSIGN(auto program, load_program(spec, source));
    if (!commits_to_distance(program, spec)) {
        return unusable(Defect::kProgramOther, "the distance program is not the one that the task commits to");
    }
    TRY_ASSIGN(auto given, spec.parent ? load_inherited(program, start, source) : load_initial(program, spec, source));
    TRY_ASSIGN(auto dataset, load_dataset(program, spec, source, part));
    TRY_ASSIGN(auto holdout, load_holdout(program, spec, source));
    return std::shared_ptr<const TaskArtifacts>(std::make_shared<TaskArtifacts>(TaskArtifacts{
        .task = task,
        .spec = spec,
        .program = std::move(program),
        .initial = spec.parent ? States{} : std::move(given.tensors),
        .inherited = spec.parent ? std::move(given.tensors) : States{},
        .commitments = std::move(given.commitments),
        .dataset = std::move(dataset.dataset),
        .dataset_tree = std::move(dataset.tree),
        .holdout = std::move(holdout),
        .segments = dataset.is_whole ? std::nullopt : std::optional(std::set{part->segment}),
        .part_bytes = dataset.part_bytes}));
}

artifacts::Frozen TaskArtifacts::frozen_in(std::uint32_t checkpoint) const {
    return {artifacts::frozen_places(spec, program, checkpoint), spec.parent ? inherited : initial, commitments};
}

artifacts::Reference reference_to(
    const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint, const artifacts::Frozen& frozen
) {
    return artifacts::reference_to(
        artifacts::expected_state(artifacts.program, checkpoint.state_root, frozen), checkpoint.location
    );
}

namespace {

Result<std::vector<canonical::Tensor>, Unavailable> decode_checkpoint(
    const program::Program& program, const Hash256& state_root, const artifacts::Frozen& frozen,
    const artifacts::StoredFile& stored
) {
    auto state = artifacts::decode_state(program, stored, frozen);
    if (!state && state.error() == artifacts::StateError::kStopped) {
        return not_parsed(stored);
    }
    if (!state || artifacts::state_root_of(*state) != state_root) {
        return damaged(stored);
    }
    return *std::move(state);
}

}  // namespace

Result<std::vector<canonical::Tensor>, Unavailable> load_state(
    const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint, const artifacts::Frozen& frozen,
    const ArtifactSource& source
) {
    TRY_ASSIGN(const auto stored, fetch_checkpoint(artifacts, checkpoint, frozen, source));
    return decode_checkpoint(artifacts.program, checkpoint.state_root, frozen, stored);
}

Result<void, Unavailable> check_state(
    const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint, const artifacts::Frozen& frozen,
    const ArtifactSource& source
) {
    TRY_ASSIGN(const auto stored, fetch_checkpoint(artifacts, checkpoint, frozen, source));
    const auto root = artifacts::root_of_state(artifacts.program, stored, frozen);
    if (!root && root.error() == artifacts::StateError::kStopped) {
        return not_parsed(stored);
    }
    if (!root || *root != checkpoint.state_root) {
        return damaged(stored);
    }
    return {};
}

Result<KeptResult, Unavailable> load_result(
    const contracts::TaskSpec& spec, const contracts::Checkpoint& last, const ArtifactSource& source
) {
    TRY_ASSIGN(auto program, load_program(spec, source));
    const artifacts::Reference wanted =
        artifacts::reference_to(artifacts::expected_state(program, last.state_root, {}), last.location);
    TRY_ASSIGN(const auto stored, fetch_named("the result", wanted, wanted.size_bytes, source));
    TRY_ASSIGN(auto state, decode_checkpoint(program, last.state_root, {}, stored));
    return KeptResult{.program = std::move(program), .state = std::move(state), .name = wanted.name};
}

}  // namespace assay::worker
