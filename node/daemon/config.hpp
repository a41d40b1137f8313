// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <node/api/engine_kind.hpp>

namespace assay::node {

/// The database is synced every so many blocks. After a crash at most so many blocks are executed again.
inline constexpr std::uint64_t kSyncBlocks = 50;
/// The minimum number of blocks that a pruning node keeps: the engine must still have every block that may be executed
/// again.
inline constexpr std::uint64_t kKeepBlocksMin = 2 * kSyncBlocks;

/// The settings of a node. Flags take precedence over the environment, that over config.toml, that over these defaults.
struct Config {
    std::string rpc_address = "127.0.0.1";
    std::uint16_t rpc_port = 26'600;  ///< 0: any free one
    std::uint32_t rpc_connections_max = 512;
    std::uint32_t rpc_connections_per_address = 0;  ///< 0: 16, or 256 on a loopback address
    std::string rpc_token_file;                     ///< empty: everybody may call; relative paths begin at the home
    std::string rpc_socket;                         ///< empty: none
    std::string rpc_tls_certificate;                ///< empty: no TLS
    std::string rpc_tls_key;
    std::uint32_t rpc_reads_per_s = 0;  ///< calls of one client; 0: the default of rate_limits()
    std::uint32_t rpc_listings_per_s = 0;
    std::uint32_t rpc_submissions_per_s = 0;
    std::uint32_t rpc_waits_per_s = 0;
    std::string rpc_hosts;  ///< allowed host names besides IP addresses and localhost, separated by commas
    EngineKind engine = EngineKind::kSolo;
    std::uint32_t block_interval_ms = 1'000;
    bool create_empty_blocks = true;
    std::string cometbft_program;      ///< empty: found on the PATH
    bool cometbft_attach = false;      ///< the engine is not run by assayd; it connects by itself
    std::string cometbft_application;  ///< address at which the engine connects; empty: a socket in the home
    std::string cometbft_rpc_address = "127.0.0.1";
    std::uint16_t cometbft_rpc_port = 26'657;
    std::string cometbft_p2p_address = "127.0.0.1";
    std::uint16_t cometbft_p2p_port = 26'656;
    bool cometbft_test_network = false;  ///< allows peers that share an IP address or have private ones
    std::string cometbft_peers;          ///< ID@HOST:PORT, separated by commas
    std::string cometbft_remote_signer;  ///< where CometBFT awaits the program that holds its key; empty: a file
    /// CometBFT JSON-RPC servers of other nodes, separated by commas; empty: no state sync.
    std::string cometbft_state_sync_rpc;
    std::uint64_t cometbft_state_sync_trust_height = 0;
    std::string cometbft_state_sync_trust_hash;
    std::uint64_t snapshot_interval_blocks = 0;  ///< 0: none
    std::uint32_t snapshot_keep = 2;
    std::uint64_t pruning_keep_blocks = 0;  ///< 0: all
    std::uint64_t mempool_txs_max = 10'000;
    std::uint64_t mempool_bytes_max = 64U << 20U;
    std::uint64_t mempool_sender_txs_max = 1'000;
    std::string metrics_address;           ///< empty: no metrics
    std::uint16_t metrics_port = 26'660;   ///< 0: any free one
    std::string metrics_accounts;          ///< addresses besides the node key's, separated by commas
    std::uint32_t status_interval_s = 10;  ///< interval of status lines in the log; 0: none

    enum class Origin : std::uint8_t { kDefault, kFile, kEnvironment, kFlag };
    struct Source {
        Origin origin = Origin::kDefault;
        std::string where{};  ///< "FILE:LINE", the variable's name, or empty
    };
    std::map<std::string, Source> sources{};  ///< of the settings that were set, by name: "rpc.port"
};
const char* to_string(Config::Origin origin);

/// The message names the file, line or variable, and for an unknown key the most similar known one.
class ConfigError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Returns the environment variable `name`. Tests replace it.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

/// Returns the names of all variables of this process.
std::vector<std::string> environment_names();
/// Returns a warning for each name that begins with ASSAY_ and that no program of Assay knows, with the nearest known
/// one.
std::vector<std::string> unknown_variables(const std::vector<std::string>& names);

/// Overrides settings with those in the TOML text. `source` names the text in errors. Throws ConfigError.
void apply_toml(Config& config, std::string_view text, const std::string& source);
/// Overrides settings with ASSAY_RPC_ADDRESS, ASSAY_ENGINE_BLOCK_INTERVAL_MS and so on: ASSAY_<SECTION>_<KEY>. Throws
/// ConfigError.
void apply_environment(Config& config, const Environment& environment);
/// Returns the defaults, overridden by the file and then by the environment. Throws ConfigError.
Config read_config(const std::filesystem::path& file, const Environment& environment);
/// Overrides the setting `name` with a flag's value, written as in the file without quotes. Throws ConfigError.
void apply_flag(Config& config, const std::string& name, const std::string& text);

/// A setting as operators see it.
struct ShownSetting {
    std::string name;   ///< "rpc.port"
    std::string value;  ///< as in config.toml
    Config::Source source;
};
/// Returns all settings in the order of the file.
std::vector<ShownSetting> show_settings(const Config& config);

/// Returns true if only this machine reaches the IP address.
bool is_loopback(const std::string& address);

/// CMT-14: throws ConfigError if `config` prunes blocks that are still needed: after a crash, for evidence on a chain
/// with `unbonding_blocks`, or by a node that joins from a snapshot.
void check_pruning(const Config& config, std::uint64_t unbonding_blocks);
/// Returns true if `listen`, the address at which the engine connects, is a Unix socket or a loopback address; false
/// for an address of a private network or a host name. Throws ConfigError for tcp:// on all addresses or on a public
/// one: whoever connects there can take the engine's place.
bool check_application_address(const std::string& listen);
/// Returns a config.toml with every setting; those that have their default value are commented out.
std::string to_config_toml(const Config& config = {});

}  // namespace assay::node
