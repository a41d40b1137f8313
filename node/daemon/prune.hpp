// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include <core/base/integers.hpp>
#include <node/daemon/home.hpp>

/// Cutting the oldest blocks off the embedded engine's log (ADR 106).
namespace assay::node {

/// The log cannot be pruned. The message says why and what to do.
class PruneError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct PruneOptions {
    Home home;
    std::uint64_t keep_blocks = 0;                   ///< latest blocks that stay; at least kKeepBlocksMin
    std::optional<std::filesystem::path> archive{};  ///< a block log that gets the records that it lacks
    bool discards = false;                           ///< no archive is wanted; exactly one of the two
};

struct PruneReport {
    Height first;   ///< first block of the log now
    Height height;  ///< last block, and height of the state that the log begins with
    std::uint64_t removed_blocks = 0;
    std::uint64_t bytes_before = 0;  ///< of the log
    std::uint64_t bytes_after = 0;
    std::uint64_t base_bytes = 0;  ///< of the state that the log begins with
    Height archive_first;          ///< first and last block of the archive; 0 without one
    Height archive_height;
};

/// Cuts the log of a node that does not run, after what is cut off is in the archive and the state at the last block is
/// stored. A process that dies in it leaves a log, an archive and a database that are whole; the next call goes on.
/// Throws PruneError, HomeError, solo::BlockLogError, solo::HandshakeError, storage::StorageError.
PruneReport prune_log(const PruneOptions& options);

}  // namespace assay::node
