// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <node/api/node_api.hpp>
#include <node/rpc/rate_limiter.hpp>

/// The node's JSON-RPC over HTTP (docs/rpc.md).
namespace assay::rpc {

/// What /readyz asks besides the node's status.
struct EngineState {
    bool is_restoring = false;             ///< takes a snapshot of the state from its peers
    std::optional<bool> is_catching_up{};  ///< nullopt: the engine cannot be asked
    bool makes_empty_blocks = true;
    bool is_inspected = false;  ///< there is no engine: the node only serves what it has
};

struct RpcOptions {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  ///< 0: any free one
    std::uint64_t body_max = 1U << 20U;
    std::uint32_t connections_max = 512;
    std::uint32_t connections_per_address = 0;  ///< 0: the default of http::HttpServerOptions
    std::chrono::seconds idle_timeout{60};
    /// Host names by which clients may address the node, besides IP addresses and localhost.
    std::vector<std::string> hosts{};
    std::filesystem::path socket{};           ///< a Unix socket of mode 0600 to listen on besides; empty: none
    std::filesystem::path tls_certificate{};  ///< with a key: the port speaks TLS
    std::filesystem::path tls_key{};
    std::function<void(const std::string& trouble)> on_tls_files{};  ///< as http::HttpServerOptions has it
    std::string token{};  ///< who calls by the port must send it; empty: everybody may call
    RateLimits rates{};
    /// What the engine does, for /readyz. Called on threads of the server. Empty: it makes blocks.
    std::function<EngineState()> engine_state{};
    /// Is told of each call: its method, empty if there is none of that name; "ok" or the error's name; and its time.
    /// Called on threads of the server. May be empty.
    std::function<void(std::string_view method, std::string_view outcome, std::chrono::nanoseconds time)> on_call{};
};

class RpcServer {
  public:
    /// Starts to serve. Throws http::NetError with the address if it is in use. `api` must outlive the server.
    RpcServer(const RpcOptions& options, node::NodeApi& api);
    ~RpcServer();
    RpcServer(const RpcServer&) = delete;
    RpcServer& operator=(const RpcServer&) = delete;
    std::uint16_t port() const;
    std::size_t connections() const;  ///< open ones; those of subscribers are among them
    std::size_t subscribers() const;  ///< connections that get events
    /// Stops accepting connections and waits for calls in progress. Idempotent.
    void stop();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::rpc
