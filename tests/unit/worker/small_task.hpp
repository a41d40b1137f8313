// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <core/codec/borsh.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <core/dispute/commitment.hpp>
#include <verifier/worker/task_artifacts.hpp>
#include <verifier/worker/runner.hpp>

namespace assay::test {

/// Where a small task's parameters come from.
enum class Start : std::uint8_t {
    kRandom,   ///< the init graph makes all of them
    kGiven,    ///< the first is half of a tensor that the task gives
    kFrozen,   ///< the first is a tensor that the task gives, and is not trained
    kGrowing,  ///< as kRandom, but each step makes the first tensor a million times larger, until one diverges
};

inline constexpr const char* kSmallText = "the assayer tests the metal, and the metal does not know that it is tested";

/// A text of `size` characters, so long that a segment's steps read little of it.
inline std::string long_text(std::size_t size) {
    std::string out(size, 'a');
    std::uint32_t word = 7;
    for (char& letter : out) {
        word = word * 1'664'525U + 1'013'904'223U;
        letter = static_cast<char>('a' + (word >> 24U) % 26U);
    }
    return out;
}

/// A task small enough for scalar execution: a character model on a sentence, twelve steps, four to a segment.
class SmallTask {
  public:
    explicit SmallTask(
        Start start = Start::kRandom, const std::string& words = kSmallText,
        const std::function<void(program::Program&, contracts::TaskSpec&)>& change = {}
    ) {
        auto text = *artifacts::build_text_dataset(words, 4);
        program::Program model = program::build_char_model(
            {.vocabulary = text.vocabulary_size,
             .context = 4,
             .embedding = 32,
             .hidden = 33,
             .batch_size = 8,
             .dataset_rows = text.dataset.shape().rows},
            {}
        );
        model.dataset = text.dataset.shape();
        spec.title = "small";
        spec.seed = 5;
        spec.steps = 12;
        spec.checkpoint_interval = 4;
        if (start == Start::kGiven) {
            give_first_tensor(model);
        } else if (start == Start::kFrozen) {
            give_first_tensor(model);
            freeze_first_tensor(model);
        } else if (start == Start::kGrowing) {
            grow_first_tensor(model);
        }
        if (change) {
            change(model, spec);
        }
        spec.program =
            artifacts::commit_program(model, initial.empty() ? Hash256{} : artifacts::state_root_of(initial));
        spec.dataset_root = artifacts::dataset_root(text.dataset);
        spec.program_artifact = put(codec::encode(model));
        spec.dataset_artifact = put(text.dataset.stored());
        if (!initial.empty()) {
            spec.initial_artifact = put(artifacts::encode_initial(model, initial));
        }
        auto loaded = worker::load_task_artifacts(contracts::TaskId{{7}}, spec, worker::waiting_source(store));
        REQUIRE(loaded.has_value());
        artifacts = *loaded;
    }

    contracts::ArtifactRef put(std::initializer_list<std::uint8_t> bytes) { return put(Bytes(bytes)); }
    contracts::ArtifactRef put(ByteView bytes) {
        return {.sha256 = store.put(bytes), .size_bytes = bytes.size(), .location = "http://127.0.0.1:1"};
    }

    /// Stores a checkpoint, and returns what its solver would post.
    contracts::Checkpoint post(const std::vector<canonical::Tensor>& state, const artifacts::Frozen& frozen = {}) {
        artifacts::store_state(artifacts->program, state, artifacts::leaves_of(state), store, frozen);
        return {artifacts::state_root_of(state), "http://127.0.0.1:1", Height{1}, {}};
    }

    /// The state after segments 0 .. segment.
    std::vector<canonical::Tensor> state_after(
        std::uint32_t segment, const std::shared_ptr<const worker::Alteration>& fraud = nullptr
    ) const {
        std::vector<canonical::Tensor> state;
        for (std::uint32_t i = 0; i <= segment; ++i) {
            const auto end = worker::run_segment(artifacts, i, state, {}, fraud).value();
            REQUIRE_FALSE(end.diverged_at.has_value());
            state = end.state;
        }
        return state;
    }

    /// The claim that a solver who did as `fraud` says makes about a segment.
    dispute::Claim claim(std::uint32_t segment, const std::shared_ptr<const worker::Alteration>& fraud = nullptr)
        const {
        dispute::Claim claim;
        claim.program = spec.program;
        claim.dataset_root = spec.dataset_root;
        claim.seed = spec.seed;
        claim.initialisation = segment == 0;
        claim.before = spec.program.initial_root;
        claim.after = artifacts::state_root_of(state_after(segment, fraud));
        if (segment != 0) {
            claim.first_step = artifacts->first_step(segment);
            claim.step_count = static_cast<std::uint32_t>(artifacts->step_count(segment));
            claim.before = artifacts::state_root_of(state_after(segment - 1, fraud));
        }
        return claim;
    }

    TemporaryDirectory home;
    artifacts::ContentStore store{home.path() / "store"};
    contracts::TaskSpec spec;
    std::vector<canonical::Tensor> initial;
    std::shared_ptr<const worker::TaskArtifacts> artifacts;

  private:
    static void grow_first_tensor(program::Program& model) {
        canonical::Node commit = model.step.back();
        canonical::Input& first = commit.inputs.front();
        model.step.back() = {
            .op = canonical::Op::kScale,
            .dtype = first.dtype,
            .shape = first.shape,
            .attributes = {std::bit_cast<std::uint32_t>(1e6F), 0},
            .inputs = {first}};
        first.source = canonical::Source::kNode;
        first.index = static_cast<std::uint32_t>(model.step.size() - 1);
        model.step.push_back(std::move(commit));
        REQUIRE(program::check_program(model).has_value());
    }

    /// Has both graphs pass on the given tensor as it is.
    static void freeze_first_tensor(program::Program& model) {
        for (canonical::Graph* graph : {&model.init, &model.step}) {
            canonical::Input& first = graph->back().inputs.front();
            first.source = canonical::Source::kState;
            first.index = 0;
        }
        REQUIRE(program::check_program(model).has_value());
    }

    /// Has the init graph scale a given tensor where it would draw the first random one.
    void give_first_tensor(program::Program& model) {
        canonical::Node& node = model.init.front();
        REQUIRE(node.op == canonical::Op::kUniform);
        const canonical::Shape shape = node.shape;
        canonical::Tensor given = canonical::make_tensor(canonical::DType::kF32, shape);
        for (std::uint32_t i = 0; i < shape.element_count(); ++i) {
            const float value = 0.25F / static_cast<float>(1 + i % 97) - 0.01F;
            std::memcpy(given.data.data() + 4 * std::size_t{i}, &value, sizeof value);
        }
        initial = {given};
        model.initial = {{.name = "given", .type = {.dtype = canonical::DType::kF32, .shape = shape}}};
        node = {
            .op = canonical::Op::kScale,
            .dtype = canonical::DType::kF32,
            .shape = shape,
            .attributes = {std::bit_cast<std::uint32_t>(0.5F), 0},
            .inputs = {
                {.source = canonical::Source::kState, .index = 0, .dtype = canonical::DType::kF32, .shape = shape}}};
        REQUIRE(program::check_program(model).has_value());
    }
};

}  // namespace assay::test
