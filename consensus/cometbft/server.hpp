// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <consensus/cometbft/handler.hpp>

namespace assay::cometbft {

struct ServerOptions {
    std::string address = "tcp://127.0.0.1:26658";  ///< or unix:///a/path; with tcp, port 0 is any free one
    /// Called once, on a connection's thread, when a request could not be answered: the node cannot go on, and every
    /// connection has been closed. May be empty.
    std::function<void(const std::string&)> on_failure;
};

/// ABCI's socket server: any number of connections, each answered in the order of its requests (CMT-7). A request
/// that cannot be answered ends it (CMT-8).
class Server {
  public:
    /// Listens at once; throws std::runtime_error naming the address when it cannot. A socket file of a server that is
    /// gone is replaced. `handler` outlives the server.
    Server(Handler& handler, ServerOptions options);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Where it listens, as the engine's proxy_app takes it.
    std::string address() const;
    /// How many connections are open.
    std::size_t connections() const;
    /// Closes everything; what is being answered is finished first. Idempotent.
    void stop();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::cometbft
