// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <node/api/engine_kind.hpp>
#include <node/daemon/home.hpp>

/// Backups of a home: a directory with its files and manifest.json, which has the size and SHA-256 of each.
namespace assay::node {

/// A backup cannot be made or restored. The message says why and what to do.
class BackupError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct BackupReport {
    std::string chain_id;
    EngineKind engine = EngineKind::kSolo;
    Height height{};
    Hash256 app_hash{};
    std::uint64_t bytes = 0;
    std::uint64_t files = 0;
    bool has_keys = false;
};

struct BackupOptions {
    Home home;
    EngineKind engine = EngineKind::kSolo;
    bool is_attached = false;   ///< CometBFT runs by itself: cometbft.attach
    std::filesystem::path out;  ///< must not exist
    bool with_keys = false;     ///< also those with which a node signs
};
/// Makes a backup that either is whole or does not exist under its name. Of the embedded engine it has genesis,
/// settings and the block log up to its last whole record, with the state that a pruned log begins with, and may be
/// made beside a running node. Of CometBFT it has the databases of the node and of the engine, which must not be
/// running. Throws BackupError, HomeError, solo::BlockLogError and node::GenesisFileError.
BackupReport make_backup(const BackupOptions& options);

/// Copies a backup to a home, which must not exist or be empty. Verifies every checksum; with the embedded engine
/// executes the whole log from genesis; with CometBFT compares the database's height and app hash with the manifest's.
/// The home appears whole or not at all. Throws BackupError, solo::HandshakeError, solo::BlockLogError,
/// node::GenesisFileError.
BackupReport restore_backup(
    const std::filesystem::path& from, const Home& home, const std::function<void(Height done, Height of)>& progress
);

}  // namespace assay::node
