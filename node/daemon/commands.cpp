// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/commands.hpp>

#include <iostream>

#include <nlohmann/json.hpp>

#include <consensus/cometbft/supervisor.hpp>
#include <core/crypto/address.hpp>
#include <node/daemon/config.hpp>
#include <node/daemon/node_key.hpp>
#include <node/daemon/replay.hpp>
#include <node/daemon/serving.hpp>
#include <node/api/genesis_file.hpp>

namespace assay::node {
namespace {

constexpr Amount kFirstStake{10'000 * kGrainsPerAsy};
constexpr Amount kFirstBalance{1'000'000 * kGrainsPerAsy};

int report_init(const InitOptions& options, const contracts::Genesis& genesis, const std::string& address) {
    const Home& home = options.home;
    if (options.json) {
        std::cout << nlohmann::ordered_json{{"home", home.root.string()},
                                            {"chain_id", genesis.chain_id},
                                            {"engine", to_string(options.engine)},
                                            {"proposer", address},
                                            {"funded_here", !options.genesis.has_value()}}
                         .dump()
                  << "\n";
        return kExitOk;
    }
    std::cout << "initialised " << home.root.string() << "\n  chain     " << genesis.chain_id << "\n  engine    "
              << to_string(options.engine) << "\n  "
              << (options.engine == EngineKind::kSolo ? "proposer  " : "account   ") << address << "\n";
    if (!options.genesis) {
        std::cout << "  funds     " << kFirstBalance.grains / kGrainsPerAsy << " ASY with this account; its key is in "
                  << home.node_key().string() << "\n";
    }
    std::cout << "next: assayd start --home " << home.root.string() << "\n";
    return kExitOk;
}

}  // namespace

int run_init(const InitOptions& options) {
    const Home& home = options.home;
    for (const auto& file : {home.config(), home.genesis(), home.node_key()}) {
        if (std::filesystem::exists(file)) {
            throw HomeError(
                file.string() + " exists already: this home is initialised; start it, or give another --home"
            );
        }
    }
    // Before anything is written: whoever gives up at the prompt leaves no home behind.
    const crypto::SecretText password =
        options.seals ? node_password(process_environment(), options.password_file, true) : crypto::SecretText();
    std::filesystem::create_directories(home.data());
    const auto key = crypto::SecretKey::generate();
    contracts::Genesis genesis{.chain_id = options.chain_id, .params = {}, .balances = {}};
    if (options.genesis) {
        genesis = read_genesis(*options.genesis);
        const auto meant = read_genesis_engine(*options.genesis);
        if (meant && *meant != options.engine) {
            throw ConfigError(
                options.genesis->string() + " is for the engine \"" + to_string(*meant) + "\": give --engine " +
                to_string(*meant)
            );
        }
    } else {
        genesis.balances[key.account()] = kFirstBalance;
    }
    std::vector<cometbft::Validator> validators;
    if (options.engine == EngineKind::kCometBft) {
        const auto engine = cometbft::find_engine(options.cometbft_program);
        validators.push_back(cometbft::make_home(engine, home.cometbft()));
        if (!options.genesis) {
            genesis.validators.push_back(
                {.account = key.account(), .key = consensus_key(validators[0]), .stake = kFirstStake}
            );
        }
    }
    genesis = decode_genesis_json(to_genesis_json(genesis));  // with the checks of a file
    Config config;
    config.engine = options.engine;
    if (options.has_token) {
        write_token(home.root / "rpc_token");
        config.rpc_token_file = "rpc_token";
    }
    write_text(home.config(), to_config_toml(config));
    write_genesis(home.genesis(), genesis, options.engine);
    write_node_key(home.node_key(), key);
    if (options.seals) {
        seal_node_key(home.node_key(), password.view());
    }
    if (options.engine == EngineKind::kCometBft) {
        cometbft::write_genesis(home.cometbft(), genesis.chain_id, utc_now(), validators, genesis.params);
    }
    return report_init(options, genesis, crypto::to_address(key.account()));
}

int run_replay(const ReplayOptions& options) {
    const Home& home = options.home;
    const auto genesis = read_genesis(home.genesis());
    const auto log = options.log ? *options.log : home.block_log();
    const auto base = options.log ? std::filesystem::path() : home.log_base();
    const ReplayReport report = replay_log(genesis, log, base, [](Height done, Height of) {
        std::cerr << "replayed " << done.value << " of " << of.value << "\n";
    });
    if (options.json) {
        std::cout << nlohmann::ordered_json{{"ok", true},
                                            {"chain_id", genesis.chain_id},
                                            {"from_height", report.from.value},
                                            {"blocks", report.blocks},
                                            {"height", report.height.value},
                                            {"app_hash", to_hex(report.app_hash.view())},
                                            {"seconds", report.seconds}}
                         .dump()
                  << "\n";
    } else {
        const std::string from =
            report.from.value == 0 ? "" : ", from the state at height " + std::to_string(report.from.value) + ",";
        std::cout << "replayed " << report.blocks << " blocks of " << genesis.chain_id << from << " in "
                  << report.seconds << " s: the app hash is the stored one at every height; at " << report.height.value
                  << " it is " << to_hex(report.app_hash.view()) << "\n";
    }
    return kExitOk;
}

int run_show_validator(const Home& home, bool json) {
    const std::string key = to_hex(consensus_key(cometbft::read_validator(home.cometbft())).view());
    if (json) {
        std::cout << nlohmann::ordered_json{{"consensus_key", key}}.dump() << "\n";
    } else {
        std::cout << key << "\n";
    }
    return kExitOk;
}

int run_version(bool json) {
    if (json) {
        std::cout
            << nlohmann::ordered_json{{"name", "assayd"}, {"version", ASSAY_VERSION}, {"compiler", __VERSION__}}.dump()
            << "\n";
    } else {
        std::cout << "assayd " << ASSAY_VERSION << " (g++ " << __VERSION__ << ")\n";
    }
    return kExitOk;
}

}  // namespace assay::node
