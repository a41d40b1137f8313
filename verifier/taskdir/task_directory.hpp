// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <contracts/transaction/transaction.hpp>
#include <core/crypto/keys.hpp>
#include <verifier/taskdir/findings.hpp>
#include <verifier/artifacts/store.hpp>

/// A task as its submitter writes it: a directory with task.toml, data and optionally an ONNX model
/// (docs/operations/task-directory.md lists the keys). Used by the CLI's `task` commands and the demo.
namespace assay::taskdir {

/// Under whose key a private task is sealed: that of the account that submits it to this chain.
struct Sealing {
    const crypto::SecretKey& key;
    std::string chain_id;
};

/// Builds the program and dataset that `directory` describes, puts the artifacts into `store`, and returns the spec,
/// which names them at `location` (where the store is served). Of a private task only sealed files go into the store;
/// without `sealing` it cannot be packed. Throws TaskDirectoryError.
contracts::TaskSpec pack_task(
    const std::filesystem::path& directory, artifacts::ContentStore& store, const std::string& location,
    const std::optional<Sealing>& sealing = {}
);

}  // namespace assay::taskdir
