// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/commands.hpp>

#include <algorithm>
#include <iostream>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <consensus/cometbft/supervisor.hpp>
#include <core/crypto/address.hpp>
#include <node/daemon/config.hpp>
#include <node/api/genesis_file.hpp>

namespace assay::node {
namespace {

constexpr std::uint32_t kNodesMax = 64;
constexpr std::uint16_t kPortsPerNode = 10;
constexpr Amount kBalance{1'000'000'000'000'000};
constexpr Amount kStake{10'000'000'000'000};

struct Ports {
    std::uint16_t rpc = 0;
    std::uint16_t engine_rpc = 0;
    std::uint16_t p2p = 0;
};

/// Ports that nobody listens on, all different; held until they have all been found.
std::vector<std::uint16_t> find_free_ports(std::size_t count) {
    std::vector<int> sockets;
    std::vector<std::uint16_t> ports;
    for (std::size_t i = 0; i < count; ++i) {
        const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* any = static_cast<sockaddr*>(static_cast<void*>(&address));
        if (fd < 0 || ::bind(fd, any, size) != 0 || ::getsockname(fd, any, &size) != 0) {
            throw std::runtime_error("the system has no free port on the loopback: give --base-port");
        }
        sockets.push_back(fd);
        ports.push_back(ntohs(address.sin_port));
    }
    for (const int fd : sockets) {
        ::close(fd);
    }
    return ports;
}

std::uint32_t homes_of(const TestnetOptions& options) { return options.validators + options.full_nodes; }

std::vector<Ports> choose_ports(const TestnetOptions& options) {
    std::vector<Ports> out(homes_of(options));
    if (options.base_port == 0) {
        const auto free = find_free_ports(3 * out.size());
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = {.rpc = free[3 * i], .engine_rpc = free[3 * i + 1], .p2p = free[3 * i + 2]};
        }
        return out;
    }
    const std::uint32_t last = options.base_port + std::uint32_t{kPortsPerNode} * homes_of(options);
    if (last > 65'535) {
        throw ConfigError(
            "--base-port " + std::to_string(options.base_port) +
            " leaves too few ports: each node takes ten, and the last port is 65535"
        );
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto base = static_cast<std::uint16_t>(options.base_port + kPortsPerNode * i);
        out[i] = {
            .rpc = base,
            .engine_rpc = static_cast<std::uint16_t>(base + 1),
            .p2p = static_cast<std::uint16_t>(base + 2)};
    }
    return out;
}

/// With the accounts of the nodes that vote as its validators, equal in stake.
contracts::Genesis make_genesis(
    const TestnetOptions& options, const std::vector<crypto::SecretKey>& keys,
    const std::vector<cometbft::Validator>& validators
) {
    contracts::Genesis genesis{.chain_id = options.chain_id, .params = {}, .balances = {}};
    if (options.genesis) {
        genesis = read_genesis(*options.genesis);
    } else {
        genesis.params.block_ms = options.block_interval_ms;
        for (const crypto::SecretKey& key : keys) {
            genesis.balances[key.account()] = kBalance;
        }
    }
    if (genesis.validators.empty()) {
        for (std::uint32_t i = 0; i < options.validators; ++i) {
            genesis.validators.push_back(
                {.account = keys[i].account(), .key = consensus_key(validators[i]), .stake = kStake}
            );
        }
    }
    return decode_genesis_json(to_genesis_json(genesis));  // with the checks of a file
}

void report(
    const TestnetOptions& options, const contracts::Genesis& genesis, const std::vector<Home>& homes,
    const std::vector<Ports>& ports, const std::vector<crypto::SecretKey>& keys
) {
    auto nodes = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < homes.size(); ++i) {
        nodes.push_back(
            {{"home", homes[i].root.string()},
             {"validator", i < options.validators},
             {"account", crypto::to_address(keys[i].account())},
             {"rpc", "http://127.0.0.1:" + std::to_string(ports[i].rpc)},
             {"cometbft_rpc", "http://127.0.0.1:" + std::to_string(ports[i].engine_rpc)},
             {"start", "assayd start --home " + homes[i].root.string()}}
        );
    }
    if (options.json) {
        std::cout << nlohmann::ordered_json{{"chain_id", genesis.chain_id}, {"nodes", nodes}}.dump() << "\n";
        return;
    }
    std::cout << "wrote " << homes.size() << " homes of chain " << genesis.chain_id << "\n";
    for (const auto& node : nodes) {
        std::cout << "  " << node.at("home").get<std::string>() << "  " << node.at("rpc").get<std::string>() << "  "
                  << node.at("account").get<std::string>() << "\n";
    }
    std::cout << "next: assay testnet up --testnet " << options.directory.string()
              << "\nor each alone, in a terminal of its own, where Ctrl-C stops it and the same command goes on:\n";
    for (const auto& node : nodes) {
        std::cout << "  " << node.at("start").get<std::string>() << "\n";
    }
}

}  // namespace

int run_testnet(const TestnetOptions& options) {
    if (options.validators == 0 || homes_of(options) > kNodesMax) {
        throw ConfigError("--validators and --full-nodes are 1 to " + std::to_string(kNodesMax) + " together");
    }
    const auto engine = cometbft::find_engine(options.cometbft_program);
    const auto ports = choose_ports(options);
    std::vector<Home> homes;
    std::vector<crypto::SecretKey> keys;
    std::vector<cometbft::Validator> validators;
    std::vector<std::string> peers;
    for (std::uint32_t i = 0; i < homes_of(options); ++i) {
        const Home& home = homes.emplace_back(Home{options.directory / ("node" + std::to_string(i))});
        if (std::filesystem::exists(home.config())) {
            throw HomeError(
                home.config().string() + " exists already: this directory has a testnet; give another --home"
            );
        }
        std::filesystem::create_directories(home.data());
        keys.push_back(crypto::SecretKey::generate());
        validators.push_back(cometbft::make_home(engine, home.cometbft()));
        validators.back().name = "node" + std::to_string(i);
        peers.push_back(cometbft::node_id(engine, home.cometbft()) + "@127.0.0.1:" + std::to_string(ports[i].p2p));
    }
    validators.resize(options.validators);
    const auto genesis = make_genesis(options, keys, validators);
    const std::string time = utc_now();
    for (std::uint32_t i = 0; i < homes_of(options); ++i) {
        Config config;
        config.engine = EngineKind::kCometBft;
        config.rpc_port = ports[i].rpc;
        config.block_interval_ms = options.block_interval_ms;
        config.cometbft_program = engine.string();
        config.cometbft_rpc_port = ports[i].engine_rpc;
        config.cometbft_p2p_port = ports[i].p2p;
        config.cometbft_test_network = true;
        for (std::uint32_t k = 0; k < homes_of(options); ++k) {
            if (k != i) {
                config.cometbft_peers += (config.cometbft_peers.empty() ? "" : ",") + peers[k];
            }
        }
        write_text(homes[i].config(), to_config_toml(config));
        write_genesis(homes[i].genesis(), genesis, EngineKind::kCometBft);
        write_node_key(homes[i].node_key(), keys[i]);
        cometbft::write_genesis(homes[i].cometbft(), genesis.chain_id, time, validators, genesis.params);
    }
    report(options, genesis, homes, ports, keys);
    return kExitOk;
}

}  // namespace assay::node
