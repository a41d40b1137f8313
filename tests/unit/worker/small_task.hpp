// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include <core/codec/borsh.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/trace/commitment.hpp>
#include <verifier/worker/material.hpp>
#include <verifier/worker/runner.hpp>

namespace assay::test {

/// A task small enough for scalar execution: a character model on a sentence, twelve steps, four to a segment.
class SmallTask {
  public:
    SmallTask() {
        const auto text = *artifacts::build_text_dataset(
            "the assayer tests the metal, and the metal does not know that it is tested", 4
        );
        const program::Program model = program::build_char_model(
            {.vocabulary = text.vocabulary_size, .context = 4, .embedding = 32, .hidden = 33, .batch_size = 8,
             .dataset_rows = text.shape.rows},
            {}
        );
        spec.title = "small";
        spec.seed = 5;
        spec.steps = 12;
        spec.checkpoint_interval = 4;
        spec.program = trace::commit_program(
            model.init, model.step, static_cast<std::uint32_t>(model.state.size()), model.batch_size, model.dataset
        );
        const auto dataset = *artifacts::Dataset::decode(text.artifact);
        spec.dataset_root = artifacts::dataset_root(dataset);
        spec.program_artifact = put(codec::encode(model));
        spec.dataset_artifact = put(text.artifact);
        auto loaded = worker::load_material(contracts::TaskId{{7}}, spec, store);
        REQUIRE(loaded.has_value());
        material = *loaded;
    }

    contracts::ArtifactRef put(const Bytes& bytes) {
        return {.sha256 = store.put(bytes), .size_bytes = bytes.size(), .location = "http://127.0.0.1:1"};
    }

    /// The state after segments 0 .. segment.
    std::vector<canonical::Tensor> state_after(
        std::uint32_t segment, const std::shared_ptr<const worker::Fraud>& fraud = nullptr
    ) const {
        std::vector<canonical::Tensor> state;
        for (std::uint32_t i = 0; i <= segment; ++i) {
            state = worker::run_segment(material, i, state, {}, fraud).value();
        }
        return state;
    }

    /// The claim that a solver who did as `fraud` says makes about a segment.
    trace::Claim claim(std::uint32_t segment, const std::shared_ptr<const worker::Fraud>& fraud = nullptr) const {
        trace::Claim claim;
        claim.program = spec.program;
        claim.dataset_root = spec.dataset_root;
        claim.seed = spec.seed;
        claim.initialisation = segment == 0;
        claim.after = artifacts::state_root_of(state_after(segment, fraud));
        if (segment != 0) {
            claim.first_step = material->first_step(segment);
            claim.step_count = static_cast<std::uint32_t>(material->step_count(segment));
            claim.before = artifacts::state_root_of(state_after(segment - 1, fraud));
        }
        return claim;
    }

    TemporaryDirectory home;
    artifacts::ContentStore store{home.path() / "store"};
    contracts::TaskSpec spec;
    std::shared_ptr<const worker::Material> material;
};

}  // namespace assay::test
