// SPDX-License-Identifier: Apache-2.0
#include <verifier/taskdir/task_build.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <contracts/tasks/tasks.hpp>
#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <verifier/taskdir/task_models.hpp>
#include <verifier/taskdir/task_replicas.hpp>
#include <core/crypto/keys.hpp>
#include <core/sealed/task_key.hpp>
#include <verifier/artifacts/sealing.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <core/canonical/view.hpp>
#include <verifier/taskdir/foreign_model.hpp>
#include <verifier/compile/program/distance.hpp>
#include <verifier/compile/program/narrow_moments.hpp>
#include <core/dispute/bisection.hpp>
#include <contracts/params/spec.hpp>

namespace assay::taskdir {
namespace {

/// A program and what its init graph reads.
struct Made {
    program::Program program;
    std::vector<canonical::Tensor> initial;
};

/// The vocabulary that text and [model] agree on; 0 after a finding.
std::uint32_t vocabulary_of(std::uint32_t written, std::uint32_t in_text, Findings& findings) {
    if (written == 0 && in_text == 0) {
        findings.error("[model] vocabulary", "is missing: data in rows do not say how many different tokens there are");
    } else if (written != 0 && written < in_text) {
        findings.error(
            "[model] vocabulary",
            "is too small: the text has " + std::to_string(in_text) + " different tokens; leave the key out"
        );
        return 0;
    }
    return written != 0 ? written : in_text;
}

bool expect_width(const TaskData& data, std::uint64_t width, const char* why, Findings& findings) {
    if (data.dataset->shape().width == width) {
        return true;
    }
    findings.error(
        "data", "rows have " + std::to_string(data.dataset->shape().width) + " values; this model reads " +
                    std::to_string(width) + ": " + why
    );
    return false;
}

program::Encoding encoding_of(const TaskData& data) {
    return data.is_real.front() ? program::Encoding::kFloatBits : program::Encoding::kInteger;
}

// Each completes a model's configuration from the data; false after a finding.

bool complete(program::CharModelConfig& model, const TaskData& data, Findings& findings) {
    model.vocabulary = vocabulary_of(model.vocabulary, data.vocabulary, findings);
    return model.vocabulary != 0 && expect_width(data, std::uint64_t{model.context} + 1, "context + 1", findings);
}

bool complete(program::GptConfig& model, const TaskData& data, Findings& findings) {
    model.vocabulary = vocabulary_of(model.vocabulary, data.vocabulary, findings);
    return model.vocabulary != 0 && expect_width(data, std::uint64_t{model.context} + 1, "context + 1", findings);
}

bool complete(program::MlpConfig& model, const TaskData& data, Findings& findings) {
    model.features = data.dataset->shape().width - (model.boundary.after == 0 ? 1 : 2);  // the class, and the number
    model.encoding = encoding_of(data);
    if (model.features == 0) {
        findings.error("data", "rows have one value each: a row holds the features and then the class");
        return false;
    }
    return true;
}

bool complete(program::CnnConfig& model, const TaskData& data, Findings& findings) {
    model.encoding = encoding_of(data);
    const std::uint64_t pixels = std::uint64_t{model.height} * model.width * model.channels;
    return expect_width(data, pixels + 1, "height * width * channels + 1", findings);
}

program::Program build(const program::CharModelConfig& model, const program::OptimizerConfig& optimizer) {
    return program::build_char_model(model, optimizer);
}
program::Program build(const program::MlpConfig& model, const program::OptimizerConfig& optimizer) {
    return program::build_mlp(model, optimizer);
}
program::Program build(const program::CnnConfig& model, const program::OptimizerConfig& optimizer) {
    return program::build_cnn(model, optimizer);
}
program::Program build(const program::GptConfig& model, const program::OptimizerConfig& optimizer) {
    return program::build_gpt(model, optimizer);
}

template <class Family>
std::optional<Made> make_program(Family& model, const TaskFile& task, const TaskData& data, Findings& findings) {
    model.dataset_rows = data.dataset->shape().rows;
    if (!complete(model, data, findings)) {
        return std::nullopt;
    }
    if (const auto checked = program::check_model(model, task.optimizer); !checked) {
        findings.error("model", explain(checked.error()));
        return std::nullopt;
    }
    return Made{.program = build(model, task.optimizer), .initial = {}};
}

/// The views between the batch and `node`, outermost first; nullopt when `node` is computed from anything else.
std::optional<std::vector<const canonical::View*>> views_of_batch(const canonical::Graph& graph, std::uint32_t node) {
    std::vector<const canonical::View*> views;
    while (graph[node].op == canonical::Op::kView && graph[node].inputs[0].source == canonical::Source::kNode) {
        views.push_back(&*graph[node].view);
        node = graph[node].inputs[0].index;
    }
    return graph[node].op == canonical::Op::kBatchRows ? std::optional(std::move(views)) : std::nullopt;
}

/// Marks the places of a dataset row that the first `count` elements behind `views` are copies of.
void mark_places(const std::vector<const canonical::View*>& views, std::uint64_t count, std::vector<bool>& out) {
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t at = i;
        bool is_copied = true;
        for (std::size_t v = 0; v < views.size() && is_copied; ++v) {
            const std::optional<std::uint64_t> source = canonical::flat_source(*views[v], at);
            is_copied = source.has_value();
            at = source.value_or(0);
        }
        if (is_copied) {
            out[at % out.size()] = true;
        }
    }
}

enum class Reading : std::uint8_t { kReal, kInteger };

/// The places of a dataset row that the step reads as the bits of an f32, or as integers.
std::vector<bool> places_read(const program::Program& program, Reading reading) {
    std::vector<bool> out(program.dataset.width, false);
    for (const canonical::Node& node : program.step) {
        const bool is_bits = node.op == canonical::Op::kFromBits;
        if (node.op == canonical::Op::kView || is_bits != (reading == Reading::kReal)) {
            continue;
        }
        for (const canonical::Input& input : node.inputs) {
            if (input.source != canonical::Source::kNode || input.dtype != canonical::DType::kI32) {
                continue;
            }
            if (const auto views = views_of_batch(program.step, input.index)) {
                mark_places(*views, input.shape.element_count(), out);
            }
        }
    }
    return out;
}

/// Whether the data's integers and reals are where the model reads integers and reals.
bool expect_types(const TaskData& data, const program::Program& program, Findings& findings) {
    const std::vector<bool> reals = places_read(program, Reading::kReal);
    const std::vector<bool> integers = places_read(program, Reading::kInteger);
    for (std::size_t i = 0; i < data.is_real.size(); ++i) {
        if (data.is_real[i] ? integers[i] : reals[i]) {
            findings.error(
                "data", "value " + std::to_string(i) + " of a row is " + (data.is_real[i] ? "a real" : "an integer") +
                            ", and the model reads " + (data.is_real[i] ? "an integer" : "a real")
            );
            return false;
        }
    }
    return true;
}

std::optional<Made> make_program(OnnxModel& model, const TaskFile& task, const TaskData& data, Findings& findings) {
    const auto path = task.directory / model.file;
    onnx::TrainingConfig config;
    config.loss = model.loss;
    config.batch_size = model.batch_size;
    config.dataset_rows = data.dataset->shape().rows;
    config.optimizer = task.optimizer;
    config.profile = task.profile;
    config.frozen = model.frozen;
    config.decayed = model.decayed;
    config.rates = model.rates;
    auto imported = import_foreign_model(path, config);
    if (!imported) {
        findings.error("[model] file", path.string() + ": " + message_of(imported.error()));
        return std::nullopt;
    }
    for (const std::string& note : imported->notes) {
        findings.note("[model] file", path.string() + ": " + note);
    }
    if (!expect_width(data, imported->program.dataset.width, "one sample of each graph input", findings) ||
        !expect_types(data, imported->program, findings)) {
        return std::nullopt;
    }
    return Made{.program = std::move(imported->program), .initial = std::move(imported->initial)};
}

bool is_printable(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// What the chain would refuse, named while the file is at hand.
void check_against_chain(const contracts::TaskSpec& spec, Findings& findings) {
    if (spec.title.size() > 64 || !is_printable(spec.title)) {
        findings.error("title", "must be printable ASCII of at most 64 characters");
    }
    if (contracts::dispute_rounds_max(spec) > dispute::kMaxRounds) {
        findings.error(
            "checkpoint_interval", "is so long that a dispute could take more than " +
                                       std::to_string(dispute::kMaxRounds) + " rounds; make segments shorter"
        );
    }
    if (!findings.has_errors() && !contracts::check_spec(spec)) {
        findings.error(
            "steps",
            "the chain refuses a task of this shape: one of the limits of TASK-2 is passed, by the steps, the program "
            "or the dataset"
        );
    }
}

/// The models' builders know the rows; how they are stored is up to the data.
void store_as(canonical::DatasetShape& of_program, const canonical::DatasetShape& stored) {
    ASSERT(of_program.rows == stored.rows && of_program.width == stored.width);
    of_program = stored;
}

void complete_spec(BuiltTask& built) {
    contracts::TaskSpec& spec = built.spec;
    spec = built.file.spec;
    const artifacts::Dataset& dataset = *built.data.dataset;
    spec.dataset_root = artifacts::dataset_root(dataset);
    spec.program_artifact = {
        .sha256 = crypto::sha256(built.program_artifact), .size_bytes = built.program_artifact.size(), .location = {}};
    spec.dataset_artifact = {
        .sha256 = crypto::sha256(dataset.stored()), .size_bytes = dataset.stored().size(), .location = {}};
    spec.tokenizer = built.data.tokenizer;  // TASK-20
    Hash256 initial_root;
    if (!built.program.initial.empty()) {
        initial_root = artifacts::state_root_of(built.initial);
    }
    if (!built.program.initial.empty() && !spec.parent) {
        spec.initial_artifact = {
            .sha256 = crypto::sha256(built.initial_artifact),
            .size_bytes = built.initial_artifact.size(),
            .location = {}};
    }
    spec.program = artifacts::commit_program(built.program, initial_root);
}

const char* explain(program::DistanceError error) {
    switch (error) {
        case program::DistanceError::kTensors:
            return "the state has no tensors, or more than 4,096";
        case program::DistanceError::kWideInteger:
            return "the state has a tensor of 64-bit integers, or of 8-bit ones, as moments of type int8 are";
        case program::DistanceError::kTooLarge:
            return "the graph that measures it would have more than 65,536 nodes, or a row more than 2^24 elements";
    }
    return "";
}

const char* explain(program::MomentsError error) {
    switch (error) {
        case program::MomentsError::kNone:
            return "has nothing to store so: the optimizer keeps no moments, or each has fewer than 4,096 elements";
        case program::MomentsError::kLimits:
            return "would make more than 4,096 state tensors or more than 65,536 nodes: the model is too large for it";
        case program::MomentsError::kNames:
            return "would add an exponent to the state whose name another tensor has";
    }
    return "";
}

bool narrow_moments(BuiltTask& built, Findings& findings) {
    const program::OptimizerConfig& optimizer = built.file.optimizer;
    if (optimizer.moments == program::Moments::kF32) {
        return true;
    }
    auto narrow = program::with_narrow_moments(built.program, optimizer);
    if (!narrow) {
        findings.error("[optimizer] moments", explain(narrow.error()));
        return false;
    }
    built.program = *std::move(narrow);
    return true;
}

/// TOL-1, TOL-4
void commit_distance(BuiltTask& built, Findings& findings) {
    if (built.spec.mode != contracts::Mode::kTolerance) {
        return;
    }
    const auto distance = program::build_distance_program(built.program.state);
    if (!distance) {
        findings.error(
            "mode", std::string("tolerance cannot be measured for this model: ") + explain(distance.error())
        );
        return;
    }
    const dispute::ProgramCommitment commitment = artifacts::commit_program(*distance, Hash256{});
    built.spec.distance = {
        .root = commitment.init_root,
        .nodes = commitment.init_nodes,
        .work = commitment.init_work,
        .outputs = commitment.outputs};
}

/// PRV-1: what a private task will state, with the right sizes, before it is sealed.
contracts::Privacy unsealed_privacy(const contracts::TaskSpec& spec) {
    const auto file = [](const contracts::ArtifactRef& artifact) {
        return contracts::SealedFile{.root = artifact.sha256, .size = artifacts::sealed_bytes_of(artifact.size_bytes)};
    };
    contracts::Privacy out{
        .key = sealed::TaskSecret(crypto::SecretKey::from_bytes(Bytes(32, 1)).value()).key(),
        .program = file(spec.program_artifact),
        .dataset = file(spec.dataset_artifact),
        .initial = {},
        .holdout = {}};
    if (spec.initial_artifact) {
        out.initial = file(*spec.initial_artifact);
    }
    if (spec.evaluation) {
        out.holdout = file(spec.evaluation->data);
    }
    return out;
}

}  // namespace

std::optional<BuiltTask> build_task(const std::filesystem::path& directory, Findings& findings) {
    BuiltTask built;
    built.file = read_task_file(directory, findings);
    if (findings.has_errors()) {
        return std::nullopt;
    }
    auto data = load_data(built.file, findings);
    if (!data) {
        return std::nullopt;
    }
    built.data = *std::move(data);
    auto made = std::visit(
        [&](auto& model) { return make_program(model, built.file, built.data, findings); }, built.file.model
    );
    if (!made) {
        return std::nullopt;
    }
    built.program = std::move(made->program);
    if (built.file.local && !add_local_replicas(built.program, *built.file.local, findings)) {
        return std::nullopt;
    }
    if (!narrow_moments(built, findings)) {
        return std::nullopt;
    }
    store_as(built.program.dataset, built.data.dataset->shape());
    built.initial = std::move(made->initial);
    check_data(built.file.model, built.data, findings);
    if (built.file.holdout) {
        built.evaluation = build_evaluation(built.file, built.data, built.program, findings);
    }
    ASSERT(program::check_program(built.program).has_value() && built.initial.size() == built.program.initial.size());
    built.program_artifact = codec::encode(built.program);
    if (!built.program.initial.empty()) {
        built.initial_artifact = artifacts::encode_initial(built.program, built.initial);
    }
    complete_spec(built);
    built.spec.checks = number_checks(built.file.checks, built.program, findings);
    commit_distance(built, findings);
    if (built.evaluation) {
        built.spec.evaluation = commit_evaluation(*built.evaluation);
    }
    if (built.file.is_private) {
        built.spec.privacy = unsealed_privacy(built.spec);
    }
    if (const std::size_t size = built.program_artifact.size(); size > artifacts::kMaxProgramBytes) {
        findings.error(
            "model", "the program would have " + std::to_string(size) + " bytes; workers fetch at most " +
                         std::to_string(artifacts::kMaxProgramBytes)
        );
    }
    check_against_chain(built.spec, findings);
    return findings.has_errors() ? std::nullopt : std::optional(std::move(built));
}

}  // namespace assay::taskdir
