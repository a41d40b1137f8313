// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <map>

#include <node/daemon/config.hpp>

using namespace assay;
using namespace assay::node;

namespace {

std::string error_of(const std::string& text) {
    try {
        Config config;
        apply_toml(config, text, "config.toml");
        return {};
    } catch (const ConfigError& error) {
        return error.what();
    }
}

Environment from(std::map<std::string, std::string> variables) {
    return [variables = std::move(variables)](const std::string& name) {
        const auto it = variables.find(name);
        return it == variables.end() ? std::nullopt : std::optional(it->second);
    };
}

}  // namespace

TEST_CASE("the default file names every setting and changes none") {
    Config config;
    apply_toml(config, to_config_toml(), "config.toml");
    CHECK(config.rpc_port == Config{}.rpc_port);
    std::string uncommented = to_config_toml();
    for (std::size_t at = 0; (at = uncommented.find("\n# ", at)) != std::string::npos;) {
        const std::size_t end = uncommented.find('\n', at + 1);
        if (uncommented.substr(at, end - at).find(" = ") != std::string::npos) {
            uncommented.erase(at + 1, 2);
        }
        at += 1;
    }
    Config all;
    apply_toml(all, uncommented, "config.toml");
    CHECK(all.rpc_address == Config{}.rpc_address);
    CHECK(all.block_interval_ms == Config{}.block_interval_ms);
}

TEST_CASE("metrics are off until they have an address") {
    Config config;
    CHECK(config.metrics_address.empty());
    CHECK(config.metrics_port == 26'660);
    apply_toml(config, "[metrics]\naddress = \"127.0.0.1\"\nport = 0\naccounts = \"a,b\"\n", "config.toml");
    apply_environment(config, from({{"ASSAY_METRICS_PORT", "9"}}));
    CHECK(config.metrics_address == "127.0.0.1");
    CHECK(config.metrics_port == 9);
    CHECK(config.metrics_accounts == "a,b");
    CHECK(error_of("[metrics]\nport = 65536\n") != "");
}

TEST_CASE("the environment wins over the file") {
    Config config;
    apply_toml(config, "[rpc]\nport = 1\naddress = \"::1\"\n[engine]\ncreate_empty_blocks = false\n", "config.toml");
    CHECK(config.rpc_port == 1);
    CHECK(config.rpc_address == "::1");
    CHECK_FALSE(config.create_empty_blocks);
    apply_environment(config, from({{"ASSAY_RPC_PORT", "2"}, {"ASSAY_ENGINE_BLOCK_INTERVAL_MS", "70"}}));
    CHECK(config.rpc_port == 2);
    CHECK(config.block_interval_ms == 70);
    CHECK(config.rpc_address == "::1");
}

TEST_CASE("an unknown or impossible setting is an error that names line and nearest key") {
    CHECK(error_of("[rpc]\nprot = 1\n") == "config.toml:2: unknown setting rpc.prot; nearest: rpc.port");
    CHECK(error_of("[mempol]\ntxs_max = 1\n").find("nearest: mempool.txs_max") != std::string::npos);
    CHECK(error_of("port = 1\n").find("must be in a section") != std::string::npos);
    CHECK(error_of("[rpc]\nport = \"1\"\n").find("must be a whole number") != std::string::npos);
    CHECK(error_of("[rpc]\nport = 65536\n").find("is not a value for rpc.port") != std::string::npos);
    CHECK(error_of("[rpc]\nport = -1\n").find("is not a value for rpc.port") != std::string::npos);
    CHECK(error_of("[engine]\nblock_interval_ms = 0\n").find("is not a value") != std::string::npos);
    CHECK(error_of("[engine]\ncreate_empty_blocks = 1\n").find("true or false") != std::string::npos);
    CHECK(error_of("[rpc\n").find("config.toml:1") != std::string::npos);
    Config config;
    CHECK_THROWS_AS(apply_environment(config, from({{"ASSAY_RPC_PORT", "many"}})), ConfigError);
    CHECK_THROWS_AS(read_config("/nonexistent/config.toml", from({})), ConfigError);
}

TEST_CASE("the engine's address is refused where strangers can reach it") {
    for (const char* const fine :
         {"", "unix:///a/b.sock", "tcp://127.0.0.1:26658", "tcp://localhost:1", "tcp://[::1]:1"}) {
        CHECK(check_application_address(fine));
    }
    for (const char* const warned :
         {"tcp://10.1.2.3:1", "tcp://172.16.0.9:1", "tcp://192.168.1.1:1", "tcp://engine:1"}) {
        CHECK_FALSE(check_application_address(warned));
    }
    for (const char* const open :
         {"tcp://0.0.0.0:26658", "tcp://8.8.8.8:1", "tcp://172.32.0.1:1", "tcp://[::]:1", "tcp://:1"}) {
        CHECK_THROWS_AS(static_cast<void>(check_application_address(open)), ConfigError);
    }
}

TEST_CASE("each setting tells what it was set by") {
    Config config;
    apply_toml(config, "[rpc]\nport = 7\nhosts = \"a\"\n", "config.toml");
    apply_environment(config, from({{"ASSAY_RPC_PORT", "8"}}));
    apply_flag(config, "engine.block_interval_ms", "9");
    const auto shown = [&config](const std::string& name) {
        for (const ShownSetting& setting : show_settings(config)) {
            if (setting.name == name) {
                return setting.value + " " + to_string(setting.source.origin) + " " + setting.source.where;
            }
        }
        return std::string();
    };
    CHECK(shown("rpc.hosts") == "\"a\" file config.toml:3");
    CHECK(shown("rpc.port") == "8 environment ASSAY_RPC_PORT");
    CHECK(shown("engine.block_interval_ms") == "9 flag ");
    CHECK(shown("rpc.address") == "\"127.0.0.1\" default ");
    CHECK(config.rpc_port == 8);
    CHECK(config.block_interval_ms == 9);
    CHECK_THROWS_AS(apply_flag(config, "engine.block_interval_ms", "0"), ConfigError);
    CHECK_THROWS_AS(apply_flag(config, "no.such", "0"), ConfigError);
}

TEST_CASE("an unknown variable is named with the nearest known one, and those of other programs are known") {
    const auto warnings = unknown_variables({"PATH", "ASSAY_RPC_PORT", "ASSAY_NODE", "ASSAY_RPC_PROT", "ASSAY_HOME"});
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find("ASSAY_RPC_PROT is not known") != std::string::npos);
    CHECK(warnings[0].find("ASSAY_RPC_PORT") != std::string::npos);
}

TEST_CASE("loopback addresses are those that only this machine reaches") {
    for (const char* address : {"127.0.0.1", "127.8.9.10", "::1"}) {
        CHECK(is_loopback(address));
    }
    for (const char* address : {"0.0.0.0", "10.0.0.1", "::", "127.0.0.1.example.org", "localhost"}) {
        CHECK_FALSE(is_loopback(address));
    }
}
