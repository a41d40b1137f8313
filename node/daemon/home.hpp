// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include <consensus/cometbft/supervisor.hpp>
#include <contracts/state/validator.hpp>
#include <core/crypto/keys.hpp>
#include <node/api/node_api.hpp>

namespace assay::node {

/// The home directory cannot be used as it is; the text says what to do.
class HomeError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Where things are in a node's home.
struct Home {
    std::filesystem::path root;

    std::filesystem::path config() const { return root / "config.toml"; }
    std::filesystem::path genesis() const { return root / "genesis.json"; }
    std::filesystem::path node_key() const { return root / "node_key"; }
    std::filesystem::path data() const { return root / "data"; }
    std::filesystem::path lock() const { return data() / "lock"; }
    std::filesystem::path block_log() const { return data() / "blocks.log"; }
    std::filesystem::path db() const { return data() / "db"; }
    std::filesystem::path snapshots() const { return data() / "snapshots"; }
    std::filesystem::path clean_stop() const { return data() / "clean_stop"; }
    std::filesystem::path cometbft() const { return root / "cometbft"; }
    std::filesystem::path cometbft_log() const { return data() / "cometbft.log"; }
    std::filesystem::path abci_socket() const { return data() / "abci.sock"; }
    std::filesystem::path rpc_address() const { return data() / "rpc_address"; }
};

/// $ASSAY_HOME, else ~/.assay.
Home default_home();

/// The secret key as one line of hex, readable by the owner only. Throws HomeError; an existing file is one.
void write_node_key(const std::filesystem::path& file, const crypto::SecretKey& key);
/// Throws HomeError, also when others may read the file.
crypto::SecretKey read_node_key(const std::filesystem::path& file);

/// Holds the home for this process; throws HomeError naming the process that has it. Released by the destructor and by
/// any death of the process.
class HomeLock {
  public:
    explicit HomeLock(const Home& home);
    ~HomeLock();
    HomeLock(const HomeLock&) = delete;
    HomeLock& operator=(const HomeLock&) = delete;

  private:
    int fd_ = -1;
};

/// Replaces a file whole. Throws HomeError.
void write_text(const std::filesystem::path& file, const std::string& text);
/// The present time in UTC as RFC 3339 writes it, to the second.
std::string utc_now();

/// The key in a CometBFT home, as the chain writes it. Throws HomeError.
contracts::ConsensusKey consensus_key(const cometbft::Validator& validator);

/// How the last run ended, and notes that one has begun. Call once, with the lock held, before log and database are opened.
LastStop take_last_stop(const Home& home);
/// Notes that this run ended in order.
void mark_clean_stop(const Home& home);

}  // namespace assay::node
