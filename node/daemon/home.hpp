// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include <consensus/cometbft/supervisor.hpp>
#include <contracts/state/validator.hpp>
#include <core/crypto/keys.hpp>
#include <core/system/file_lock.hpp>
#include <node/api/node_api.hpp>

namespace assay::node {

/// The home directory cannot be used. The message says what to do.
class HomeError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The paths in a node's home directory.
struct Home {
    std::filesystem::path root;

    std::filesystem::path config() const { return root / "config.toml"; }
    std::filesystem::path genesis() const { return root / "genesis.json"; }
    std::filesystem::path node_key() const { return root / "node_key"; }
    std::filesystem::path data() const { return root / "data"; }
    std::filesystem::path lock() const { return data() / "lock"; }
    std::filesystem::path block_log() const { return data() / "blocks.log"; }
    /// The state that a pruned block log begins with.
    std::filesystem::path log_base() const { return data() / "base"; }
    std::filesystem::path db() const { return data() / "db"; }
    std::filesystem::path snapshots() const { return data() / "snapshots"; }
    std::filesystem::path clean_stop() const { return data() / "clean_stop"; }
    std::filesystem::path cometbft() const { return root / "cometbft"; }
    std::filesystem::path cometbft_log() const { return data() / "cometbft.log"; }
    std::filesystem::path abci_socket() const { return data() / "abci.sock"; }
    std::filesystem::path rpc_address() const { return data() / "rpc_address"; }
    std::filesystem::path metrics_address() const { return data() / "metrics_address"; }
};

/// Returns $ASSAY_HOME if it is set, else ~/.assay.
Home default_home();

/// Writes the secret key as one line of hex, readable by the owner only. Throws HomeError, also if the file exists.
void write_node_key(const std::filesystem::path& file, const crypto::SecretKey& key);
/// Reads the secret key. Throws HomeError, also if others may read the file.
crypto::SecretKey read_node_key(const std::filesystem::path& file);

/// Locks the home for this process. The constructor throws HomeError, which names the process that holds the lock. The
/// lock is released by the destructor and whenever the process ends.
class HomeLock {
  public:
    explicit HomeLock(const Home& home);

  private:
    std::optional<system::FileLock> lock_;
};

/// Replaces a file atomically, by rename. Throws HomeError, or std::filesystem::filesystem_error if the rename fails.
void write_text(const std::filesystem::path& file, const std::string& text);
/// Returns the current UTC time in RFC 3339 format, to the second.
std::string utc_now();

/// Returns the validator's consensus key as the chain stores it. Throws HomeError if the key is not 32 bytes in base64.
contracts::ConsensusKey consensus_key(const cometbft::Validator& validator);

/// Returns how the last run ended and records that a new one has begun. Call once, with the lock held, before log and
/// database are opened.
LastStop take_last_stop(const Home& home);
/// The same without taking it: for whoever only reads.
LastStop read_last_stop(const Home& home);
/// Records that this run ended cleanly.
void mark_clean_stop(const Home& home);

}  // namespace assay::node
