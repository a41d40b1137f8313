// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include <contracts/chain/transaction.hpp>
#include <verifier/artifacts/store.hpp>

/// A task as its submitter writes it: a directory with task.toml (docs/operations/cli.md has the keys). The CLI's
/// `task pack` and `task submit` and the demo use it.
namespace assay::cli {

/// task.toml or its data is wrong; the message names the file and the key.
class TaskDirectoryError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Builds the program and the dataset that `directory` describes, puts both artifacts into `store`, and returns the
/// spec that names them at `location` (where the store is served).
contracts::TaskSpec pack_task(
    const std::filesystem::path& directory, artifacts::ContentStore& store, const std::string& location
);

}  // namespace assay::cli
