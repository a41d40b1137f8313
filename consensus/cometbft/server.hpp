// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <consensus/cometbft/handler.hpp>

namespace assay::cometbft {

struct ServerOptions {
    std::string address = "tcp://127.0.0.1:26658";  ///< or unix:///a/path; with tcp, port 0 means any free port
    /// Called once, on a connection's thread, when a request could not be answered. All connections are closed by then
    /// and the node cannot continue. May be empty.
    std::function<void(const std::string&)> on_failure;
};

/// ABCI socket server. It accepts any number of connections and answers the requests of each in order (CMT-7). A
/// request that cannot be answered stops the server (CMT-8).
class Server {
  public:
    /// Starts to listen. Throws std::runtime_error with the address if that fails. Replaces the socket file of a server
    /// that no longer runs. `handler` must outlive the server.
    Server(Handler& handler, ServerOptions options);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Returns the address of the server in the form that CometBFT's proxy_app setting takes.
    std::string address() const;
    /// Returns the number of open connections.
    std::size_t connections() const;
    /// Closes the server and all connections; requests in progress are finished first. Idempotent.
    void stop();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::cometbft
