// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/comet_start.hpp>

#include <filesystem>
#include <optional>
#include <utility>

#include <node/daemon/comet_driver.hpp>

namespace assay::node {
namespace {

/// CMT-13: a node that joins by a snapshot is told whom to ask and what to trust.
std::optional<cometbft::StateSyncSettings> state_sync_of(const Config& config, const contracts::Params& params) {
    const auto hash = from_hex(config.cometbft_state_sync_trust_hash);
    const bool is_hash = hash && hash->size() == Hash256::kSizeBytes;
    if (config.cometbft_state_sync_rpc.empty()) {
        return std::nullopt;
    }
    if (config.cometbft_state_sync_rpc.find(',') == std::string::npos) {
        throw ConfigError("cometbft.state_sync_rpc must name two or more of CometBFT's JSON-RPCs, separated by commas");
    }
    if (config.cometbft_state_sync_trust_height == 0 || !is_hash) {
        throw ConfigError(
            "cometbft.state_sync_rpc needs cometbft.state_sync_trust_height, a height that you trust, "
            "and cometbft.state_sync_trust_hash, the hash of its block in 64 hex digits"
        );
    }
    return cometbft::StateSyncSettings{
        .rpc_servers = config.cometbft_state_sync_rpc,
        .trust_height = config.cometbft_state_sync_trust_height,
        .trust_hash = config.cometbft_state_sync_trust_hash,
        .trust_period_ms = params.trusting_period_ms};
}

void check_remote_signer(const Config& config) {
    const std::string& address = config.cometbft_remote_signer;
    if (!address.empty() && config.cometbft_attach) {
        throw ConfigError(
            "cometbft.remote_signer has no effect with cometbft.attach: set priv_validator_laddr in the config.toml of "
            "the CometBFT that runs by itself"
        );
    }
    if (!address.empty() && !address.starts_with("tcp://") && !address.starts_with("unix://")) {
        throw ConfigError("cometbft.remote_signer is " + address + " and must be tcp://ADDRESS:PORT or unix:///PATH");
    }
}

CometOptions comet_options(const NodeOptions& options, std::function<void(const std::string&)> on_failure) {
    const Config& config = options.config;
    if (!check_application_address(config.cometbft_application) && options.on_note) {
        options.on_note(
            "warning: cometbft.application is " + config.cometbft_application +
            ": nothing authenticates who connects there, and it can take the engine's place"
        );
    }
    const std::string rpc = config.cometbft_rpc_address + ":" + std::to_string(config.cometbft_rpc_port);
    CometOptions out{
        .genesis = options.genesis,
        .software_version = ASSAY_VERSION,
        .listen = config.cometbft_application.empty() ? "unix://" + options.home.abci_socket().string()
                                                      : config.cometbft_application,
        .engine_rpc = "http://" + rpc,
        .engine = std::nullopt,
        .engine_log = options.home.cometbft_log(),
        .state_sync =
            {.directory = options.home.snapshots(),
             .interval_blocks = config.snapshot_interval_blocks,
             .keep = config.snapshot_keep,
             .on_note = options.on_note,
             .on_restored = {}},
        .mempool = mempool_limits(config),
        .on_note = options.on_note,
        .on_failure = std::move(on_failure)};
    check_remote_signer(config);
    if (!config.cometbft_attach) {
        cometbft::EngineSettings engine;
        engine.program = cometbft::find_engine(config.cometbft_program);
        engine.home = options.home.cometbft();
        if (!std::filesystem::exists(engine.home / "config" / "genesis.json")) {
            throw HomeError(engine.home.string() + " is not there: make the home with assayd init --engine cometbft");
        }
        engine.rpc_address = "tcp://" + rpc;
        engine.p2p_address = "tcp://" + config.cometbft_p2p_address + ":" + std::to_string(config.cometbft_p2p_port);
        if (!config.cometbft_peers.empty()) {
            engine.peers = {config.cometbft_peers};
        }
        engine.test_network = config.cometbft_test_network;
        engine.block_interval_ms = config.block_interval_ms;
        engine.remote_signer = config.cometbft_remote_signer;
        engine.state_sync = state_sync_of(config, options.genesis.params);
        engine.create_empty_blocks = config.create_empty_blocks;
        out.engine = std::move(engine);
    }
    return out;
}

}  // namespace

std::unique_ptr<Driver> make_comet_driver(
    const NodeOptions& options, Application& application, std::function<void(const std::string&)> on_failure
) {
    return std::make_unique<CometDriver>(application, comet_options(options, std::move(on_failure)));
}

}  // namespace assay::node
