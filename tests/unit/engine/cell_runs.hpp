// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
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
    std::vector<std::uint64_t> exchanges{};   ///< in which each rank took part, in all steps
    /// Where two ranks have different bits of one element, or why ranks ended; empty if neither happened.
    std::string fault;
    bool has_diverged = false;
};

/// A rank that ends without a word when it should take part in one exchange more than these.
struct Death {
    std::uint32_t rank = 0;
    std::uint64_t exchanges = std::numeric_limits<std::uint64_t>::max();
};

/// Runs steps first_step, first_step + 1, ... of the model in a cell, from `state` on. Its ranks are threads, linked as
/// links.hpp says.
CellRun run_cell(
    const SmallModel& model, const plan::Layout& layout, std::vector<canonical::Tensor> state, std::uint64_t first_step,
    std::uint64_t steps, const Death& death = {}
);

/// The same on one engine.
std::vector<canonical::Tensor> run_alone(
    const SmallModel& model, std::vector<canonical::Tensor> state, std::uint64_t steps
);

/// Checks that the model's first two steps leave the same state in a cell of each layout as on one engine. Layouts of
/// more ranks than can be linked are left out, with a message.
void check_layouts(const SmallModel& model, const std::vector<plan::Layout>& layouts);
/// The same of layouts that are given by their names and numbers of ranks.
void check_layouts(const SmallModel& model, const std::vector<std::pair<const char*, std::uint32_t>>& layouts);

}  // namespace assay::test
