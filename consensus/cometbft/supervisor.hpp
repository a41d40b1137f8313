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

/// The `cometbft` process beside a node: finding it, making its home, running it.
namespace assay::cometbft {

/// It is not there, not one that is supported, or its home is not as it must be; the text says what to do.
class EngineError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

inline constexpr const char* kInstallCommand =
    "go install github.com/cometbft/cometbft/cmd/cometbft@v0.38.25";

/// Whether this version is supported: 0.38 from 0.38.21 on, whose light-client security fixes it has.
bool is_supported(const std::string& version);

/// The program to run: `given`, else `cometbft` on the PATH, in $GOBIN, in $GOPATH/bin or in ~/go/bin. Runs it once
/// for its version. Throws EngineError, with the install command when there is none or one that is not supported.
std::filesystem::path find_engine(const std::string& given);

/// A validator of a genesis, as the engine writes it.
struct Validator {
    std::string address;     ///< 40 hex digits
    std::string public_key;  ///< base64 of 32 bytes, ed25519
    std::int64_t power = 10;
    std::string name;
};

/// Makes `home` (config, keys) with the engine's own `init`, and returns its validator. Throws EngineError.
Validator make_home(const std::filesystem::path& engine, const std::filesystem::path& home);
/// The validator of a home that was made. Throws EngineError.
Validator read_validator(const std::filesystem::path& home);
/// The id that peers know the home by, 40 hex digits.
std::string node_id(const std::filesystem::path& engine, const std::filesystem::path& home);
/// Replaces the home's genesis: this chain, these validators, the same time in every home. The engine's limits are
/// those of `params`: a block's size and gas (GAS-9), and for how many blocks evidence counts (VAL-5).
void write_genesis(
    const std::filesystem::path& home, const std::string& chain_id, const std::string& genesis_time,
    const std::vector<Validator>& validators, const contracts::Params& params
);

/// How an engine without blocks gets the state of a late one from its peers.
struct StateSyncSettings {
    std::string rpc_servers;  ///< of two nodes or more, separated by commas
    std::uint64_t trust_height = 0;
    std::string trust_hash;   ///< of the block of that height, 64 hex digits
    std::uint64_t trust_period_ms = 0;  ///< how old that block may be (LGT-5)
};

struct EngineSettings {
    std::filesystem::path program;
    std::filesystem::path home;
    std::string application;              ///< Server::address()
    std::string rpc_address = "tcp://127.0.0.1:26657";
    std::string p2p_address = "tcp://127.0.0.1:26656";
    std::vector<std::string> peers;       ///< ID@HOST:PORT
    bool test_network = false;            ///< peers may share an address, and have private ones
    std::uint32_t block_interval_ms = 1'000;
    bool create_empty_blocks = true;
    /// Limits of the engine's mempool; it checks them before CheckTx, so the application's have to be less (CMT-4).
    std::uint64_t mempool_txs = 20'000;
    std::uint64_t mempool_bytes = 128U << 20U;
    std::optional<StateSyncSettings> state_sync{};
};

/// What `start` runs: the program with its environment before it and its flags behind it.
std::vector<std::string> make_command(const EngineSettings& settings);

/// A running engine. Ends it when destroyed.
class Supervisor {
  public:
    /// Starts it; what it says goes to `log`. Throws EngineError.
    Supervisor(const EngineSettings& settings, const std::filesystem::path& log);
    ~Supervisor();
    /// The exit status once it has ended.
    std::optional<int> exit_status();
    void stop();
    int pid() const;
    /// The last lines of its log, for an error message.
    std::string last_words() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::cometbft
