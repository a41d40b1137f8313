// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <client/http/http.hpp>

namespace boost::asio {
class io_context;
}

/// One connection of an HttpServer. Everything here happens on the server's I/O thread.
namespace assay::http {

/// Whom a connection counts for: an IPv4 address, or an IPv6 /64, which is what one customer is given.
using ClientAddress = std::array<std::uint8_t, 16>;

class HttpSession;

/// An answer of plain text.
HttpResponse text_response(unsigned status, std::string text);

/// What a connection needs of its server.
class HttpSessionHost {
  public:
    virtual const HttpServerOptions& options() const = 0;
    virtual bool is_stopping() const = 0;
    /// Counts memory for the connection; false when the budget is used up and nobody else holds more.
    virtual bool take_memory(HttpSession& session, std::size_t bytes) = 0;
    /// Counts memory that is in use already, however much there is.
    virtual void add_memory(HttpSession& session, std::size_t bytes) = 0;
    virtual void give_memory(HttpSession& session, std::size_t bytes) = 0;
    /// A whole request is there. It is answered by HttpSession::answer with the same number.
    virtual void begin(HttpSession& session, std::uint64_t exchange, HttpRequest request) = 0;
    /// The client of the exchange has gone.
    virtual void abandon(HttpSession& session) = 0;
    /// The connection is closed; the session is forgotten.
    virtual void ended(HttpSession& session) = 0;

  protected:
    ~HttpSessionHost() = default;
};

class HttpSession {
  public:
    using Time = std::chrono::steady_clock::time_point;

    enum class State : std::uint8_t {
        kIdle,       ///< no byte of a request yet
        kHead,       ///< some of its head
        kBody,       ///< some of its body
        kRunning,    ///< its handler runs or is about to
        kWaiting,    ///< its answer comes later
        kSending,
        kLingering,  ///< it was refused: what is still coming is read and dropped, or closing would destroy the answer
        kClosed,
    };

    virtual ~HttpSession() = default;
    virtual std::shared_ptr<HttpSession> shared() = 0;
    virtual void start() = 0;
    /// Idempotent; tells the host.
    virtual void close() = 0;
    /// Nothing but an answer ends the exchange from here on: its handler has given its thread back.
    virtual void wait(std::uint64_t exchange) = 0;
    virtual void answer(std::uint64_t exchange, HttpResponse response) = 0;

    State state() const noexcept { return state_; }
    const ClientAddress& address() const noexcept { return address_; }
    std::size_t bytes() const noexcept { return bytes_; }
    Time deadline() const noexcept { return deadline_; }
    /// When something last came from the client or went to it.
    Time progress_at() const noexcept { return progress_at_; }
    void count_bytes(std::size_t bytes) noexcept { bytes_ = bytes; }

  protected:
    explicit HttpSession(const ClientAddress& address) : address_(address) {}

    State state_ = State::kIdle;
    Time deadline_{};
    Time progress_at_{};

  private:
    ClientAddress address_;
    std::size_t bytes_ = 0;
};

/// Takes the connected, non-blocking socket `fd` of protocol family `family` over. `host` and `context` outlive it.
std::shared_ptr<HttpSession> make_http_session(
    boost::asio::io_context& context, int family, int fd, const ClientAddress& address, HttpSessionHost& host
);

}  // namespace assay::http
