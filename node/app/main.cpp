// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <functional>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <consensus/cometbft/supervisor.hpp>
#include <consensus/solo/engine.hpp>
#include <node/app/commands.hpp>
#include <node/app/config.hpp>
#include <node/app/genesis_file.hpp>

namespace assay::node {
namespace {

int report(int code, const char* name, const std::string& message, bool json) {
    if (json) {
        std::cout << nlohmann::ordered_json{{"error", {{"code", code}, {"name", name}, {"message", message}}}}.dump()
                  << "\n";
    }
    std::cerr << "assayd: " << message << "\n";
    return code;
}

int guard(const std::function<int()>& command, bool json) {
    try {
        return command();
    } catch (const ConfigError& error) {
        return report(kExitConfig, "config", error.what(), json);
    } catch (const GenesisFileError& error) {
        return report(kExitConfig, "genesis", error.what(), json);
    } catch (const HomeError& error) {
        return report(kExitConfig, "home", error.what(), json);
    } catch (const cometbft::EngineError& error) {
        return report(kExitConfig, "engine", error.what(), json);
    } catch (const solo::AppHashMismatch& error) {
        return report(kExitMismatch, "mismatch", error.what(), json);
    } catch (const solo::HandshakeError& error) {
        return report(kExitMismatch, "chain_broken", error.what(), json);
    } catch (const std::exception& error) {
        return report(kExitFailure, "failed", error.what(), json);
    }
}

int run(int argc, char** argv) {
    CLI::App app{"Assay's node: chain, state and JSON-RPC in one process."};
    app.require_subcommand(1);
    std::string home = default_home().root.string();
    std::string output = "text";
    const auto add_common = [&](CLI::App* command, bool with_output) {
        command->add_option("--home", home, "The node's directory")->capture_default_str();
        if (with_output) {
            command->add_option("-o,--output", output, "text or json")->check(CLI::IsMember({"text", "json"}));
        }
    };
    InitOptions init;
    CLI::App* const init_command = app.add_subcommand("init", "Make a home: config.toml, genesis.json and a node key");
    add_common(init_command, true);
    std::string engine = "solo";
    std::string cometbft;
    const auto add_engine = [&](CLI::App* command) {
        command->add_option("--engine", engine, "Who makes the blocks: solo (this process) or cometbft (many validators)")
            ->check(CLI::IsMember({"solo", "cometbft"}));
        command->add_option("--cometbft", cometbft, "The cometbft program; default: looked for on the PATH and in ~/go/bin");
    };
    add_engine(init_command);
    init_command->add_option("--chain-id", init.chain_id, "Name of the chain")->capture_default_str();
    init_command->add_option("--genesis", init.genesis, "A genesis file to start from")->excludes("--chain-id");

    TestnetOptions testnet;
    std::string testnet_directory;
    CLI::App* const testnet_command =
        app.add_subcommand("testnet", "Make homes for many validators of one chain on this machine (CometBFT)");
    testnet_command->add_option("--home", testnet_directory, "The directory that gets node0, node1, ...")->required();
    testnet_command->add_option("-o,--output", output, "text or json")->check(CLI::IsMember({"text", "json"}));
    testnet_command->add_option("--validators", testnet.validators, "How many")->capture_default_str();
    testnet_command->add_option("--full-nodes", testnet.full_nodes, "And how many that only follow")->capture_default_str();
    testnet_command->add_option("--chain-id", testnet.chain_id, "Name of the chain")->capture_default_str();
    testnet_command->add_option("--genesis", testnet.genesis, "A genesis file to start from")->excludes("--chain-id");
    testnet_command->add_option("--base-port", testnet.base_port, "Node i has the ports from this plus 10 i on; 0: free ones")
        ->capture_default_str();
    testnet_command->add_option("--block-interval-ms", testnet.block_interval_ms, "What the engine waits after a block")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    testnet_command->add_option("--cometbft", cometbft, "The cometbft program; default: looked for on the PATH and in ~/go/bin");

    StartOptions start;
    CLI::App* const start_command = app.add_subcommand("start", "Run the node until SIGINT or SIGTERM");
    add_common(start_command, false);
    add_engine(start_command);
    start_command->add_option("--rpc-address", start.rpc_address, "Where JSON-RPC listens");
    start_command->add_option("--rpc-port", start.rpc_port, "Its port; 0 for any free one");
    start_command->add_option("--block-interval-ms", start.block_interval_ms, "Time between blocks")
        ->check(CLI::PositiveNumber);
    start_command->add_option("--create-empty-blocks", start.create_empty_blocks, "true or false");

    CLI::App* const replay_command =
        app.add_subcommand("replay", "Re-execute every block from genesis and compare the app hash at every height");
    add_common(replay_command, true);
    CLI::App* const validator_command =
        app.add_subcommand("show-validator", "Print the consensus key, for `assay validator register`");
    add_common(validator_command, true);
    CLI::App* const version_command = app.add_subcommand("version", "Print the version");
    version_command->add_option("-o,--output", output, "text or json")->check(CLI::IsMember({"text", "json"}));

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? kExitOk : kExitUsage;
    }
    const bool json = output == "json";
    if (*init_command) {
        init.home = {home};
        init.json = json;
        init.engine = *decode_engine(engine);
        init.cometbft_program = cometbft;
        return guard([&] { return run_init(init); }, json);
    }
    if (*testnet_command) {
        testnet.directory = testnet_directory;
        testnet.cometbft_program = cometbft;
        testnet.json = json;
        return guard([&] { return run_testnet(testnet); }, json);
    }
    if (*start_command) {
        start.home = {home};
        if (start_command->count("--engine") > 0) {
            start.engine = decode_engine(engine);
        }
        if (!cometbft.empty()) {
            start.cometbft_program = cometbft;
        }
        return guard([&] { return run_start(start); }, json);
    }
    if (*replay_command) {
        return guard([&] { return run_replay({.home = {home}, .json = json}); }, json);
    }
    if (*validator_command) {
        return guard([&] { return run_show_validator({home}, json); }, json);
    }
    return guard([&] { return run_version(json); }, json);
}

}  // namespace
}  // namespace assay::node

int main(int argc, char** argv) { return assay::node::run(argc, argv); }
