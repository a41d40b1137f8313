// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <core/canonical/executor.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/compile/program/program.hpp>
#include <verifier/plan/plan.hpp>

/// Trainings by one process and by cells whose ranks are threads of it, from the same start on the same rows.
namespace assay::bench {

/// A program with what its steps read.
struct CellTraining {
    program::Program program;
    std::shared_ptr<const canonical::RowSource> rows;
    std::vector<canonical::Tensor> initial;  ///< the state before step 0
};
/// Returns the training of a program on rows that a generator makes, the same for the same index, of values below
/// `limit`. Throws std::runtime_error if the initialisation diverges.
CellTraining generated_training(program::Program program, std::uint32_t limit);

/// A layout and its number of ranks.
struct NamedLayout {
    std::string name;
    std::uint32_t ranks = 0;
    plan::Layout layout{};
};
/// Reads a text such as "zero1/4". Throws std::runtime_error that says what was wrong for any other.
NamedLayout layout_named(std::string_view text);

/// What a cell did.
struct CellRun {
    std::string root;              ///< the state root at the end, in hexadecimal digits
    std::uint64_t sent_most = 0;   ///< bytes of the rank that sends most, in a step
    std::uint64_t sent_all = 0;    ///< of all ranks
    std::uint64_t state_most = 0;  ///< bytes of the state that a rank has
    std::uint64_t peak_most = 0;   ///< bytes of the values that a rank has at once
    double step_s = 0;             ///< of the fastest step after the first; all ranks share this machine
};
/// Trains so many steps in a cell. If a step diverges, the root is that of the state before it.
CellRun run_cell(const CellTraining& training, const plan::Plan& plan, std::uint64_t steps);
/// Returns the state root after so many steps on one engine. Throws std::runtime_error if a step diverges.
std::string root_of_one_process(const CellTraining& training, std::uint64_t steps);

/// Returns the best instruction set that the engine's own products use here, as ASSAY_INSTRUCTIONS names it.
std::string used_instructions();

}  // namespace assay::bench
