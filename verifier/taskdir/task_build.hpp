// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include <contracts/transaction/transaction.hpp>
#include <core/base/bytes.hpp>
#include <verifier/taskdir/findings.hpp>
#include <verifier/taskdir/task_data.hpp>
#include <verifier/taskdir/task_evaluation.hpp>
#include <verifier/taskdir/task_file.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::taskdir {

/// Everything built from a task directory, before it is put in a store.
struct BuiltTask {
    TaskFile file;  ///< with the model sizes that depend on the data filled in
    TaskData data;
    program::Program program;
    std::vector<canonical::Tensor> initial;  ///< values of program.initial
    Bytes program_artifact;
    std::optional<BuiltEvaluation> evaluation;
    Bytes initial_artifact;  ///< empty when the program has no initial tensors
    /// Complete except for the artifacts' locations; of a private task also for the key and the sealed roots, in place
    /// of which others stand.
    contracts::TaskSpec spec;
};

/// Reads a task directory and builds the task. Returns nullopt if the findings contain errors; they then list all that
/// could be found. Throws TaskDirectoryError if a file cannot be read or task.toml is not TOML.
std::optional<BuiltTask> build_task(const std::filesystem::path& directory, Findings& findings);

}  // namespace assay::taskdir
