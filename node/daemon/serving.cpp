// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/serving.hpp>

#include <array>

#include <client/node_address.hpp>
#include <core/base/bytes.hpp>
#include <core/crypto/random.hpp>
#include <core/keys/key_file.hpp>
#include <node/rpc/host_names.hpp>

namespace assay::node {
namespace {

constexpr rpc::RateLimits kPublicRates{
    .reads_per_s = 200, .listings_per_s = 20, .submissions_per_s = 50, .waits_per_s = 20};

/// Relative paths begin at the home.
std::filesystem::path in_home(const Home& home, const std::string& path) {
    return path.empty() ? std::filesystem::path() : home.root / path;
}

}  // namespace

rpc::RateLimits rate_limits(const Config& config) {
    rpc::RateLimits out = is_loopback(config.rpc_address) ? rpc::RateLimits{} : kPublicRates;
    const auto choose = [](std::uint32_t& limit, std::uint32_t setting) { limit = setting != 0 ? setting : limit; };
    choose(out.reads_per_s, config.rpc_reads_per_s);
    choose(out.listings_per_s, config.rpc_listings_per_s);
    choose(out.submissions_per_s, config.rpc_submissions_per_s);
    choose(out.waits_per_s, config.rpc_waits_per_s);
    return out;
}

rpc::RpcOptions rpc_options(const Config& config, const Home& home) {
    if (config.rpc_tls_certificate.empty() != config.rpc_tls_key.empty()) {
        throw ConfigError("rpc.tls_certificate and rpc.tls_key belong together: set both or neither");
    }
    rpc::RpcOptions out;
    out.address = config.rpc_address;
    out.port = config.rpc_port;
    out.connections_max = config.rpc_connections_max;
    out.connections_per_address = config.rpc_connections_per_address;
    out.hosts = rpc::decode_host_names(config.rpc_hosts);
    out.socket = in_home(home, config.rpc_socket);
    out.tls_certificate = in_home(home, config.rpc_tls_certificate);
    out.tls_key = in_home(home, config.rpc_tls_key);
    out.rates = rate_limits(config);
    if (!config.rpc_token_file.empty()) {
        out.token = client::read_token(in_home(home, config.rpc_token_file));
    }
    return out;
}

std::vector<std::string> rpc_warnings(const Config& config) {
    std::vector<std::string> out;
    if (is_loopback(config.rpc_address)) {
        return out;
    }
    if (config.rpc_token_file.empty()) {
        out.push_back(
            "rpc.address is " + config.rpc_address +
            " and there is no rpc.token_file: everybody who reaches the port may call this node"
        );
    } else if (config.rpc_tls_certificate.empty()) {
        out.push_back(
            "rpc.address is " + config.rpc_address +
            " and there is no rpc.tls_certificate: whoever sees the traffic can read the token, unless a proxy or a "
            "tunnel encrypts it"
        );
    }
    return out;
}

void write_token(const std::filesystem::path& file) {
    std::array<std::uint8_t, 32> secret{};
    crypto::fill_random(secret);
    crypto::write_private_file(file, to_hex(secret) + "\n");
}

}  // namespace assay::node
