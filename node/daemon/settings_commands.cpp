// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/commands.hpp>

#include <filesystem>
#include <iostream>
#include <type_traits>

#include <nlohmann/json.hpp>

#include <node/api/genesis_file.hpp>
#include <node/daemon/serving.hpp>

namespace assay::node {
namespace {

/// The settings of a home. What is inspected need have none: a genesis file and the data are enough.
Config start_config(const StartOptions& options) {
    if (!options.only_inspects || std::filesystem::exists(options.home.config())) {
        return read_config(options.home.config(), process_environment());
    }
    Config config;
    config.engine = read_genesis_engine(options.home.genesis()).value_or(config.engine);
    return config;
}

}  // namespace

Config read_settings(const StartOptions& options) {
    Config config = start_config(options);
    const auto flag = [&config](const std::string& name, const auto& value) {
        if (value) {
            using Value = std::remove_cvref_t<decltype(*value)>;
            if constexpr (std::is_same_v<Value, std::string>) {
                apply_flag(config, name, *value);
            } else if constexpr (std::is_same_v<Value, bool>) {
                apply_flag(config, name, *value ? "true" : "false");
            } else if constexpr (std::is_same_v<Value, EngineKind>) {
                apply_flag(config, name, to_string(*value));
            } else {
                apply_flag(config, name, std::to_string(*value));
            }
        }
    };
    flag("engine.kind", options.engine);
    flag("cometbft.program", options.cometbft_program);
    flag("rpc.address", options.rpc_address);
    flag("rpc.port", options.rpc_port);
    flag("metrics.address", options.metrics_address);
    flag("metrics.port", options.metrics_port);
    flag("engine.block_interval_ms", options.block_interval_ms);
    flag("engine.create_empty_blocks", options.create_empty_blocks);
    return config;
}

int run_config_show(const StartOptions& options, bool json) {
    const Config config = read_settings(options);
    auto list = nlohmann::ordered_json::array();
    std::string text;
    for (const ShownSetting& each : show_settings(config)) {
        const std::string origin = to_string(each.source.origin);
        list.push_back({{"name", each.name}, {"value", each.value}, {"origin", origin}, {"where", each.source.where}});
        const bool has_place = !each.source.where.empty();
        text += each.name + " = " + each.value + "  # " + origin + (has_place ? ": " + each.source.where : "") + "\n";
    }
    const auto unknown = unknown_variables(environment_names());
    if (json) {
        std::cout << nlohmann::ordered_json{{"settings", list}, {"warnings", unknown}}.dump() << "\n";
        return kExitOk;
    }
    std::cout << text;
    for (const std::string& warning : unknown) {
        std::cerr << "assayd: warning: " << warning << "\n";
    }
    return kExitOk;
}

int run_token(const Home& home, bool json) {
    const auto file = home.root / "rpc_token";
    write_token(file);
    if (json) {
        std::cout << nlohmann::ordered_json{{"token_file", file.string()}}.dump() << "\n";
        return kExitOk;
    }
    std::cout << "wrote " << file.string() << "\nnext: set rpc.token_file = \"rpc_token\" in " << home.config().string()
              << ", start the node again, and give callers a copy of the file:\n"
              << "  assay --node-token-file FILE ..., or ASSAY_RPC_TOKEN_FILE=FILE\n";
    return kExitOk;
}

}  // namespace assay::node
