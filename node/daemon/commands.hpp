// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <core/command/exit_codes.hpp>
#include <core/system/log/log.hpp>
#include <node/daemon/config.hpp>
#include <node/daemon/home.hpp>
#include <node/daemon/prune.hpp>

/// The commands of assayd. Each returns the exit code of the process. Failures are exceptions; main() maps them to exit
/// codes.
namespace assay::node {

using enum command::ExitCode;

struct InitOptions {
    Home home;
    std::string chain_id = "assay-local";
    EngineKind engine = EngineKind::kSolo;
    std::string cometbft_program;  ///< empty: found on the PATH
    std::optional<std::filesystem::path>
        genesis;                          ///< copied after validation; default: one funded account, the node's own
    bool seals = false;                   ///< seals the node key with a password
    std::filesystem::path password_file;  ///< of that password; empty: from the environment, or asked for
    bool has_token = false;               ///< makes a token that callers of the RPC server must send
    bool json = false;
};
int run_init(const InitOptions& options);

struct TestnetOptions {
    std::filesystem::path directory;  ///< gets node0, node1, ...
    std::uint32_t validators = 4;
    std::uint32_t full_nodes = 0;  ///< additional homes that follow the chain without voting
    std::string chain_id = "assay-testnet";
    std::optional<std::filesystem::path> genesis;  ///< default: every node's account is funded
    std::uint16_t base_port = 26'600;              ///< node i uses the ports from base + 10 i on; 0: free ones
    std::uint32_t block_interval_ms = 1'000;
    std::string cometbft_program;
    bool json = false;
};
/// Makes homes for the validators and full nodes of one chain, all on this machine.
int run_testnet(const TestnetOptions& options);

struct StartOptions {
    Home home;
    std::optional<EngineKind> engine{};
    std::optional<std::string> cometbft_program{};
    std::optional<std::string> rpc_address{};
    std::optional<std::uint16_t> rpc_port{};
    std::optional<std::string> metrics_address{};
    std::optional<std::uint16_t> metrics_port{};
    std::optional<std::uint32_t> block_interval_ms{};
    std::optional<bool> create_empty_blocks{};
    std::uint32_t protocol_version = contracts::kProtocolVersion;  ///< that this program implements (GOV-8)
    std::optional<std::uint64_t> resume_at{};  ///< GOV-8: height of the block with which a halted chain goes on
    bool only_inspects = false;                ///< serves what the home has, without making blocks
    log::Options log{};
};
int run_start(const StartOptions& options);
/// Returns the settings of the home as environment and flags override them. Throws ConfigError.
Config read_settings(const StartOptions& options);
/// Prints each setting with its value and where it comes from.
int run_config_show(const StartOptions& options, bool json);
/// Makes a token for callers of the RPC server in the home.
int run_token(const Home& home, bool json);

struct ReplayOptions {
    Home home;
    std::optional<std::filesystem::path> log;  ///< instead of the home's, such as an archive of assayd prune
    bool json = false;
};
int run_replay(const ReplayOptions& options);

/// Backs the home up to a directory that does not exist yet.
int run_backup(const Home& home, const std::filesystem::path& out, bool with_keys, bool json);
/// Restores a backup to a home that does not exist yet.
int run_restore(const std::filesystem::path& from, const Home& home, bool json);

/// Cuts the embedded engine's block log.
int run_prune(const PruneOptions& options, bool json);

/// Seals the node key with a new password, or makes it readable without one. `password_file` may be empty.
int run_key_seal(const Home& home, const std::filesystem::path& password_file, bool json);
int run_key_unseal(const Home& home, const std::filesystem::path& password_file, bool json);

/// Prints the consensus key of a home that was made for CometBFT.
int run_show_validator(const Home& home, bool json);

int run_version(bool json);

}  // namespace assay::node
