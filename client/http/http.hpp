// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <core/base/bytes.hpp>

/// HTTP/1.1 for everyone: the node's RPC server, the workers' artifact servers, and their clients (Boost.Beast).
namespace assay::http {

/// The other side could not be reached, broke off, or took too long. Never means that what it said is wrong.
class NetError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// It was reached, or may have been, and took too long.
class NetTimeout : public NetError {
  public:
    using NetError::NetError;
};

/// All that the host's name stands for are addresses that were not to be connected to.
class NetForbidden : public NetError {
  public:
    using NetError::NetError;
};

struct HttpRequest {
    std::string method;  ///< "GET", "POST", ...
    std::string target;  ///< "/artifact/ab12"
    std::string body;
    std::string host{};          ///< the field of that name, as it was sent; empty where there is none
    std::string content_type{};  ///< likewise
};

struct HttpResponse {
    unsigned status = 200;
    std::string content_type = "application/json";
    std::string body;
    std::optional<std::filesystem::path> file = std::nullopt;  ///< served instead of body, streamed
};

/// A connection has a place, a request a share of the memory. Where one of them runs out, the address that holds the
/// most of it loses something: who holds little is served however many others there are (ADR 32).
struct HttpServerOptions {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  ///< 0: any free one
    std::uint64_t body_max = 1U << 20U;
    /// And at most half of the descriptors that the process may have. A further one takes an idle one's place, or gets 503.
    std::uint32_t connections_max = 512;
    /// Of one IPv4 address or IPv6 /64. 0: 16; on a loopback address, where all clients are this machine's, 256.
    std::uint32_t connections_per_address = 0;
    std::uint64_t memory_max = 64U << 20U;    ///< of bodies and answers, all connections together
    std::uint32_t threads = 4;                ///< that run handlers
    std::chrono::seconds header_timeout{5};   ///< for a request's head, from its first byte or from the connection on
    std::chrono::seconds idle_timeout{60};    ///< between requests, for a body, and for each piece of an answer
    /// The answer to a request whose body exceeds body_max.
    HttpResponse too_large{413, "text/plain", "request body too large\n"};
};

/// A request that is being answered.
class HttpExchange {
  public:
    virtual ~HttpExchange() = default;
    /// Whether nobody waits for the answer any more: whoever works on it may stop.
    virtual bool is_over() const noexcept = 0;
    /// From any thread. Does nothing when there was an answer already or nobody waits for one.
    virtual void answer(HttpResponse response) = 0;
};

/// Serves until destroyed or stopped. One thread does all reading and writing; handlers run on a few others, addresses
/// taking turns, and must be thread-safe. One that throws answers 500.
class HttpServer {
  public:
    using Handler = std::function<HttpResponse(const HttpRequest&)>;
    /// One that may return nothing and answer the exchange later, without keeping a thread.
    using LateHandler =
        std::function<std::optional<HttpResponse>(const HttpRequest&, const std::shared_ptr<HttpExchange>&)>;
    /// Binds at once; throws NetError naming the address when it is taken.
    HttpServer(HttpServerOptions options, Handler handler);
    HttpServer(HttpServerOptions options, LateHandler handler);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    std::uint16_t port() const noexcept;
    /// Stops accepting, closes what is idle or waits for a late answer, lets handlers in progress end; a client that does
    /// not take its answer is cut off after a second. Idempotent.
    void stop();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// "http://host:port/path" taken apart; nullopt when it is not such a URL.
struct Url {
    std::string host;
    std::string port;
    std::string target;
};
std::optional<Url> decode_url(std::string_view text);

struct HttpLimits {
    std::chrono::milliseconds timeout{10'000};  ///< for the whole request, the name's resolution included
    std::uint64_t body_max = 64U << 20U;
    /// Within `timeout`, for the name and the connection.
    std::optional<std::chrono::milliseconds> connect_timeout = std::nullopt;
    /// As many bytes received extend `timeout` by a second; 0: none do.
    std::uint64_t bytes_per_s = 0;
    bool public_only = false;  ///< connects to no address of the machine's own network
    const std::atomic<bool>* stop = nullptr;  ///< gives the answer up when it becomes true
};

/// One request on a connection of its own. Throws NetError.
HttpResponse http_get(const std::string& url, HttpLimits limits = {});
HttpResponse http_post(const std::string& url, std::string body, HttpLimits limits = {});

}  // namespace assay::http
