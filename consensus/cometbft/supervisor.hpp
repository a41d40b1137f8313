// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <contracts/state/params.hpp>

/// The `cometbft` process that runs beside a node: finds the program, creates its home directory, starts and stops it.
namespace assay::cometbft {

/// CometBFT is not installed or not a supported version, or its home is not valid. The message says what to do.
class EngineError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

inline constexpr const char* kInstallCommand = "go install github.com/cometbft/cometbft/cmd/cometbft@v0.38.25";

/// Returns true for a supported version: 0.38.21 and later 0.38 releases, which have the light client security fixes.
bool is_supported(const std::string& version);

/// Returns the program to run: `given` if not empty, else `cometbft` on the PATH, in $GOBIN, in $GOPATH/bin or in
/// ~/go/bin. Runs it once to read its version. Throws EngineError with the install command if there is none or it is
/// not supported.
std::filesystem::path find_engine(const std::string& given);

/// A validator as CometBFT's genesis file has it.
struct Validator {
    std::string address;     ///< 40 hex digits
    std::string public_key;  ///< base64 of 32 bytes, ed25519
    std::int64_t power = 10;
    std::string name;
};

/// Creates `home` (config and keys) with `cometbft init` and returns its validator. Throws EngineError.
Validator make_home(const std::filesystem::path& engine, const std::filesystem::path& home);
/// Returns the validator of an existing home. Throws EngineError if its key file cannot be read.
Validator read_validator(const std::filesystem::path& home);
/// Returns the home's p2p node ID, 40 hex digits. Throws EngineError.
std::string node_id(const std::filesystem::path& engine, const std::filesystem::path& home);
/// Writes chain ID, time and validators into the home's genesis; the time must be the same in all homes. Sets
/// CometBFT's limits from `params`: block size and gas (GAS-9), and how long evidence is valid, in blocks and in time
/// (VAL-5). Throws EngineError.
void write_genesis(
    const std::filesystem::path& home, const std::string& chain_id, const std::string& genesis_time,
    const std::vector<Validator>& validators, const contracts::Params& params
);

/// Settings for state sync: how an engine without blocks gets a recent state from its peers.
struct StateSyncSettings {
    std::string rpc_servers;  ///< of two or more nodes, separated by commas
    std::uint64_t trust_height = 0;
    std::string trust_hash;             ///< hash of the block at that height, 64 hex digits
    std::uint64_t trust_period_ms = 0;  ///< how old that block may be (LGT-5)
};

struct EngineSettings {
    std::filesystem::path program;
    std::filesystem::path home;
    std::string application;  ///< Server::address()
    std::string rpc_address = "tcp://127.0.0.1:26657";
    std::string p2p_address = "tcp://127.0.0.1:26656";
    std::vector<std::string> peers;  ///< ID@HOST:PORT
    bool test_network = false;       ///< allows peers that share an IP address or have private ones
    std::uint32_t block_interval_ms = 1'000;
    bool create_empty_blocks = true;
    /// Limits of CometBFT's mempool. It checks them before CheckTx, so the application's limits must be lower (CMT-4).
    std::uint64_t mempool_txs = 20'000;
    std::uint64_t mempool_bytes = 128U << 20U;
    std::optional<StateSyncSettings> state_sync{};
    /// Where CometBFT listens for the program that signs for the validator; empty: it signs with its own key.
    std::string remote_signer{};
};

/// Returns the command that starts the engine: its environment variables (through `env`), the program and its flags.
std::vector<std::string> make_command(const EngineSettings& settings);

/// A running CometBFT process. The destructor stops it.
class Supervisor {
  public:
    /// Starts the process and appends its output to `log`. Throws EngineError if that fails.
    Supervisor(const EngineSettings& settings, const std::filesystem::path& log);
    ~Supervisor();
    /// Returns the exit status, or nullopt while the process runs.
    std::optional<int> exit_status();
    void stop();
    int pid() const;
    /// Returns the last lines of the log, for an error message.
    std::string last_words() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::cometbft
