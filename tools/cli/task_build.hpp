// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include <contracts/chain/transaction.hpp>
#include <core/base/bytes.hpp>
#include <tools/cli/findings.hpp>
#include <tools/cli/task_data.hpp>
#include <tools/cli/task_evaluation.hpp>
#include <tools/cli/task_file.hpp>
#include <verifier/canonical/tile.hpp>
#include <verifier/program/program.hpp>

namespace assay::cli {

/// Everything that a task directory describes, before it is put in a store.
struct BuiltTask {
    TaskFile file;  ///< its model has the sizes that the data decide
    TaskData data;
    program::Program program;
    std::vector<canonical::Tensor> initial;  ///< values for program.initial
    Bytes program_artifact;
    std::optional<BuiltEvaluation> evaluation;
    Bytes initial_artifact;   ///< empty when the program has no initial tensors
    contracts::TaskSpec spec; ///< complete but for the locations
};

/// Reads and builds; nullopt when there are errors among the findings, which then say all that could be found out.
/// Throws TaskDirectoryError when a file cannot be read or task.toml is not TOML.
std::optional<BuiltTask> build_task(const std::filesystem::path& directory, Findings& findings);

}  // namespace assay::cli
