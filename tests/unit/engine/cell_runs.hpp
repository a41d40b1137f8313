// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tests/unit/engine/small_models.hpp>
#include <verifier/engine/cell/cell_executor.hpp>

namespace assay::test {

/// What a cell did.
struct CellRun {
    std::vector<canonical::Tensor> state;     ///< put together from all ranks' blocks
    std::optional<float> loss;                ///< of the last step
    std::vector<std::uint64_t> sent_bytes;    ///< by each rank, in all steps
    std::vector<std::uint64_t> peak_bytes{};  ///< of the values that each rank had at once
    std::string fault;                        ///< where two ranks have different bits of one element; empty if nowhere
    bool has_diverged = false;
};

/// Runs steps first_step, first_step + 1, ... of the model in a cell, from `state` on. Its ranks are threads, linked as
/// links.hpp says.
CellRun run_cell(
    const SmallModel& model, const plan::Layout& layout, std::vector<canonical::Tensor> state, std::uint64_t first_step,
    std::uint64_t steps
);

/// The same on one engine.
std::vector<canonical::Tensor> run_alone(
    const SmallModel& model, std::vector<canonical::Tensor> state, std::uint64_t steps
);

}  // namespace assay::test
