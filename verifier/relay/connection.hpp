// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <client/http/http.hpp>

/// Internal to the relay and to its workers.
namespace assay::relay {

using RelayClock = std::chrono::steady_clock;
/// Operations return their error; none throws.
inline constexpr auto kReturned = boost::asio::as_tuple(boost::asio::use_awaitable);

/// A TCP connection with a deadline. Used on the thread of its I/O context.
class Connection : public std::enable_shared_from_this<Connection> {
  public:
    using Socket = boost::asio::ip::tcp::socket;

    Connection(Socket connected, http::ClientAddress from)
        : socket(std::move(connected)), client(from), deadline_(socket.get_executor()) {}

    /// Closes the connection after so long, unless this is called again.
    void expire_after(RelayClock::duration span);
    void expire_never() { deadline_.expires_at(RelayClock::time_point::max()); }
    /// Operations that run end with an error.
    void close();

    /// Reads more into `unread`. Returns false when the other side has ended or the connection is closed.
    boost::asio::awaitable<bool> read_more();
    /// Takes a line, without its end, from what arrives. nullopt when the other side has ended, the time is up, or the
    /// line is longer than a message's.
    boost::asio::awaitable<std::optional<std::string>> read_line();
    /// Returns false when the connection is closed.
    boost::asio::awaitable<bool> write(std::string bytes);

    Socket socket;
    const http::ClientAddress client;
    std::string unread{};  ///< what has arrived and is not taken yet

  private:
    boost::asio::steady_timer deadline_;
};

}  // namespace assay::relay
