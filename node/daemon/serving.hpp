// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <node/daemon/config.hpp>
#include <node/daemon/home.hpp>
#include <node/rpc/server.hpp>

/// How a node's settings become those of its RPC server.
namespace assay::node {

/// Returns the limits that the settings name, or the defaults: none on loopback.
rpc::RateLimits rate_limits(const Config& config);

/// Returns the server's options. Reads the token. Throws ConfigError if settings contradict each other, and
/// crypto::KeyFileError if the token cannot be read.
rpc::RpcOptions rpc_options(const Config& config, const Home& home);

/// Returns what is unsafe about the settings, one sentence each.
std::vector<std::string> rpc_warnings(const Config& config);

/// Writes a new random token to `file` with mode 0600. Throws crypto::KeyFileError, also if the file exists.
void write_token(const std::filesystem::path& file);

}  // namespace assay::node
