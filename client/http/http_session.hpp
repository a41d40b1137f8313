// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <client/http/http.hpp>

namespace boost::asio {
class io_context;
}

/// One connection of an HttpServer. Everything here runs on the server's I/O thread.
namespace assay::http {

class HttpSession;

/// Returns a plain text response.
HttpResponse text_response(unsigned status, std::string text);

/// What a connection needs from its server.
class HttpSessionHost {
  public:
    virtual const HttpServerOptions& options() const = 0;
    virtual bool is_stopping() const = 0;
    /// Counts memory for the connection. Returns false if the budget is used up and no other address holds more.
    virtual bool take_memory(HttpSession& session, std::size_t bytes) = 0;
    /// Counts memory that is already in use, without a limit.
    virtual void add_memory(HttpSession& session, std::size_t bytes) = 0;
    virtual void give_memory(HttpSession& session, std::size_t bytes) = 0;
    /// Called when a whole request has arrived. It must be answered by HttpSession::answer with the same number.
    virtual void begin(HttpSession& session, std::uint64_t exchange, HttpRequest request) = 0;
    /// Called when the client of the exchange has disconnected.
    virtual void abandon(HttpSession& session) = 0;
    /// Called when the connection is closed. The host must then drop the session.
    virtual void ended(HttpSession& session) = 0;
    /// Called when a session has given its socket to `session`, after ended(). The host must keep and start it.
    virtual void adopt(const std::shared_ptr<HttpSession>& session) = 0;

  protected:
    ~HttpSessionHost() = default;
};

class HttpSession {
  public:
    using Time = std::chrono::steady_clock::time_point;

    enum class State : std::uint8_t {
        kIdle,     ///< no byte of a request has arrived
        kHead,     ///< a part of the head has arrived
        kBody,     ///< a part of the body has arrived
        kRunning,  ///< the handler runs or is about to
        kWaiting,  ///< the handler has returned and will answer later
        kSending,
        kLingering,  ///< all is sent: further input is read and dropped, because closing now would destroy the answer
        kClosed,
    };

    virtual ~HttpSession() = default;
    virtual std::shared_ptr<HttpSession> shared() = 0;
    virtual void start() = 0;
    /// Closes the connection and tells the host. Idempotent.
    virtual void close() = 0;
    /// The handler has returned without an answer; from now on only an answer ends the exchange.
    virtual void wait(std::uint64_t exchange) = 0;
    virtual void answer(std::uint64_t exchange, HttpResponse response) = 0;

    State state() const noexcept { return state_; }
    const ClientAddress& address() const noexcept { return address_; }
    std::size_t bytes() const noexcept { return bytes_; }
    Time deadline() const noexcept { return deadline_; }
    /// Returns when data was last received from the client or sent to it.
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

/// Takes ownership of the connected, non-blocking socket `fd` of protocol family `family`. `host` and `context` must
/// outlive the session.
std::shared_ptr<HttpSession> make_http_session(
    const std::shared_ptr<boost::asio::io_context>& context, int family, int fd, const ClientAddress& address,
    HttpSessionHost& host
);

}  // namespace assay::http
