// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include <contracts/state/transaction.hpp>
#include <core/base/bytes.hpp>
#include <verifier/taskdir/findings.hpp>
#include <verifier/taskdir/task_data.hpp>
#include <verifier/taskdir/task_evaluation.hpp>
#include <verifier/taskdir/task_file.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::taskdir {

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

}  // namespace assay::taskdir
