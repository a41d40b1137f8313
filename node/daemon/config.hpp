// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <node/api/engine_kind.hpp>

namespace assay::node {

/// How often the database is synced. After a crash at most so many blocks are executed again.
inline constexpr std::uint64_t kSyncBlocks = 50;
/// The least number of blocks that a pruning node keeps: the engine must not forget one that is executed again.
inline constexpr std::uint64_t kKeepBlocksMin = 2 * kSyncBlocks;

/// The settings of a node. Flags win over the environment, that over config.toml, that over these defaults.
struct Config {
    std::string rpc_address = "127.0.0.1";
    std::uint16_t rpc_port = 26'600;  ///< 0: any free one
    std::uint32_t rpc_connections_max = 512;
    std::uint32_t rpc_connections_per_address = 0;  ///< 0: 16, on loopback 256
    std::string rpc_hosts;  ///< names beside IP addresses and localhost, separated by commas
    EngineKind engine = EngineKind::kSolo;
    std::uint32_t block_interval_ms = 1'000;
    bool create_empty_blocks = true;
    std::string cometbft_program;      ///< empty: found on the PATH
    bool cometbft_attach = false;      ///< the engine is run by somebody else and connects by itself
    std::string cometbft_application;  ///< where it finds this node; empty: a socket in the home
    std::string cometbft_rpc_address = "127.0.0.1";
    std::uint16_t cometbft_rpc_port = 26'657;
    std::string cometbft_p2p_address = "127.0.0.1";
    std::uint16_t cometbft_p2p_port = 26'656;
    bool cometbft_test_network = false;  ///< peers may share an address, and have private ones
    std::string cometbft_peers;        ///< ID@HOST:PORT, separated by commas
    std::string cometbft_state_sync_rpc;  ///< CometBFT's JSON-RPC of others, separated by commas; empty: no state sync
    std::uint64_t cometbft_state_sync_trust_height = 0;
    std::string cometbft_state_sync_trust_hash;
    std::uint64_t snapshot_interval_blocks = 0;  ///< 0: none
    std::uint32_t snapshot_keep = 2;
    std::uint64_t pruning_keep_blocks = 0;  ///< 0: all
    std::uint64_t mempool_txs_max = 10'000;
    std::uint64_t mempool_bytes_max = 64U << 20U;
    std::uint64_t mempool_sender_txs_max = 1'000;
    std::uint32_t status_interval_s = 10;  ///< between status lines on stderr; 0: none
};

/// The text names file, line or variable, and for an unknown key the nearest known one.
class ConfigError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Reads `name` of the environment; for tests replaceable.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

/// Overlays what the TOML text says. `source` names it in errors.
void apply_toml(Config& config, std::string_view text, const std::string& source);
/// Overlays ASSAY_RPC_ADDRESS, ASSAY_ENGINE_BLOCK_INTERVAL_MS, ...: ASSAY_, section and key.
void apply_environment(Config& config, const Environment& environment);
/// Defaults, then the file, then the environment.
Config read_config(const std::filesystem::path& file, const Environment& environment);
/// CMT-14: throws ConfigError when `config` prunes what a chain of `unbonding_blocks`, or a snapshot, still needs.
void check_pruning(const Config& config, std::uint64_t unbonding_blocks);
/// Whether `listen`, where the engine finds this node, is out of strangers' reach: a socket file or an address of this machine.
/// Whoever connects there can take the engine's place. Throws ConfigError for tcp:// on every address or on a public one; false
/// for one of a private network, or a name.
bool check_application_address(const std::string& listen);
/// config.toml with every setting; what has its default is commented out.
std::string to_config_toml(const Config& config = {});

}  // namespace assay::node
