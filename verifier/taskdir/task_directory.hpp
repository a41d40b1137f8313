// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <contracts/state/transaction.hpp>
#include <verifier/taskdir/findings.hpp>
#include <verifier/artifacts/store.hpp>

/// A task as its submitter writes it: a directory with task.toml, data and perhaps an ONNX model
/// (docs/operations/task-directory.md has the keys). The CLI's `task` commands and the demo use it.
namespace assay::taskdir {

/// Builds the program and the dataset that `directory` describes, puts the artifacts into `store`, and returns the
/// spec that names them at `location` (where the store is served). Throws TaskDirectoryError.
contracts::TaskSpec pack_task(
    const std::filesystem::path& directory, artifacts::ContentStore& store, const std::string& location
);

}  // namespace assay::taskdir
