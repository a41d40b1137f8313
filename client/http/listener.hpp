// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <client/http/http_session.hpp>

namespace assay::http {

/// A socket on which a server accepts connections: a TCP port, or a Unix socket. Everything but the constructor and the
/// destructor runs on the thread of the I/O context.
class Listener {
  public:
    struct Events {
        /// Takes a connected, non-blocking socket. The protocol family is needed to read from it.
        std::function<void(int family, int fd, const ClientAddress& from)> accepted;
        /// Called when no connection can be accepted for want of descriptors or memory, before the next attempt.
        std::function<void()> out_of_resources;
    };

    /// Listens on an IP address. Throws ListenError.
    Listener(boost::asio::io_context& context, const std::string& address, std::uint16_t port);
    /// Listens on a Unix socket that only this user can connect to. A file left behind by a process that is gone is
    /// replaced. Throws ListenError, also if another process listens there.
    Listener(boost::asio::io_context& context, std::filesystem::path file);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    std::uint16_t port() const noexcept { return port_; }
    void start(Events events);
    void close();

  private:
    using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>;

    void accept();
    void pause();

    Acceptor acceptor_;
    boost::asio::steady_timer pauser_;
    Events events_;
    std::filesystem::path file_;  ///< of a Unix socket
    std::uint16_t port_ = 0;
};

}  // namespace assay::http
