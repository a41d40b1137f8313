// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tests/unit/engine/equality.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::test {

/// A program, and a dataset that it can learn something from.
struct SmallModel {
    std::string name;
    program::Program program;
    std::shared_ptr<const canonical::RowSource> rows;

    canonical::StepContext context(std::uint64_t step) const {
        return {.seed = 11, .step = step, .dataset = rows->shape()};
    }
    /// The state before step 0, by the definition.
    std::vector<canonical::Tensor> initial() const;
    Case step(std::uint64_t step, std::vector<canonical::Tensor> state) const {
        return {program.step, context(step), rows, std::move(state)};
    }
};

/// One of each family, every kind of optimizer and schedule among them; small, with no size a multiple of anything that
/// it need not be.
std::vector<SmallModel> small_models(const program::Profile& profile);
/// An MLP, a CNN with batch normalisation, a GPT and a Llama, the last two with dropout: all with AdamW, and gradients
/// that are clipped.
std::vector<SmallModel> clipped_models();
/// The characters' model alone.
SmallModel small_char_model(program::OptimizerKind kind);

}  // namespace assay::test
