// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <core/base/bytes.hpp>
#include <client/http/push.hpp>

/// HTTP/1.1 for the node's RPC server, the workers' artifact servers, and their clients. Servers are
/// Boost.Beast, the client is libcurl.
namespace assay::http {

/// The other side could not be reached, closed the connection, or took too long. It never means that its answer is
/// wrong.
class NetError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The other side took too long. The request may have reached it.
class NetTimeout : public NetError {
  public:
    using NetError::NetError;
};

/// The answer is larger than was allowed.
class NetTooLarge : public NetError {
  public:
    using NetError::NetError;
};

/// All addresses of the host name are ones that must not be connected to.
class NetForbidden : public NetError {
  public:
    using NetError::NetError;
};

/// The client that a connection is counted for: an IPv4 address, or an IPv6 /64, which is what one customer gets.
using ClientAddress = std::array<std::uint8_t, 16>;
/// The client of every connection to a server's Unix socket: a multicast address, which is nobody's own.
inline constexpr ClientAddress kSocketClient{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

struct HttpRequest {
    std::string method;  ///< "GET", "POST", ...
    std::string target;  ///< "/artifact/ab12"
    std::string body;
    std::string host{};           ///< the Host field as it was sent; empty if absent
    std::string content_type{};   ///< the Content-Type field, likewise
    std::string origin{};         ///< the Origin field: of the page that a browser asks for
    std::string last_event_id{};  ///< the Last-Event-ID field of a reader of server-sent events
    bool is_upgrade = false;      ///< it asks for a WebSocket
    std::string if_none_match{};  ///< the If-None-Match field, likewise
    std::string authorization{};  ///< the Authorization field, likewise
    ClientAddress client{};       ///< who asks; kSocketClient: by the Unix socket
};

struct HttpResponse {
    unsigned status = 200;
    std::string content_type = "application/json";
    std::string body;
    /// Sent instead of body, streamed. A request with a field Range gets that part of it (206, or 416).
    std::optional<std::filesystem::path> file = std::nullopt;
    std::vector<std::pair<std::string, std::string>> fields{};  ///< further header fields, by name
    /// Instead of all that: turns the connection into a WebSocket, if the request asks for one, or else into a stream
    /// of server-sent events.
    std::shared_ptr<PushHandler> push{};
};

/// Each connection uses a slot and each request some memory. When either runs out, the client address that uses the
/// most of it loses a connection, so a client that uses little is served however many others there are (ADR 32).
struct HttpServerOptions {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  ///< 0: any free one
    /// A Unix socket of mode 0600 on which the server listens besides; empty: none. It is removed at the end.
    std::filesystem::path socket{};
    /// Certificate chain and key in PEM: the port then speaks TLS 1.2 or later, and nothing else. Empty: no TLS. The
    /// files are read again when they change, for connections that begin later.
    std::filesystem::path tls_certificate{};
    std::filesystem::path tls_key{};
    /// Is told, on the thread of the connections, that other files are used now (an empty text), or why those that are
    /// there cannot be used, so that the earlier ones stay. May be empty.
    std::function<void(const std::string& trouble)> on_tls_files{};
    std::uint64_t body_max = 1U << 20U;
    /// Also limited to half of the process's file descriptors. A further connection takes the slot of an idle one, or
    /// gets 503.
    std::uint32_t connections_max = 512;
    /// Per IPv4 address or IPv6 /64. 0: 16, or 256 on a loopback address, where all clients are on this machine.
    std::uint32_t connections_per_address = 0;
    std::uint64_t memory_max = 64U << 20U;  ///< for bodies and answers of all connections together
    std::uint32_t threads = 4;              ///< number of threads that run handlers
    /// For the head of a request, from its first byte or from the start of the connection.
    std::chrono::seconds header_timeout{5};
    std::chrono::seconds idle_timeout{60};  ///< between requests, for a body, and for each piece of an answer
    /// The answer if a request's body exceeds body_max.
    HttpResponse too_large{413, "text/plain", "request body too large\n"};
};

/// A request that has not been answered yet.
class HttpExchange {
  public:
    virtual ~HttpExchange() = default;
    /// Returns true if the client no longer waits for the answer, so that work on it can stop.
    virtual bool is_over() const noexcept = 0;
    /// Sends the answer. May be called on any thread. Does nothing if it was answered already or the client is gone.
    virtual void answer(HttpResponse response) = 0;
};

/// An HTTP server that runs until it is stopped or destroyed. One thread does all I/O. Handlers run on a few other
/// threads, with client addresses taking turns; they must be thread-safe. A handler that throws is answered with 500.
class HttpServer {
  public:
    using Handler = std::function<HttpResponse(const HttpRequest&)>;
    /// A handler that may return nothing and answer the exchange later, without occupying a thread.
    using LateHandler =
        std::function<std::optional<HttpResponse>(const HttpRequest&, const std::shared_ptr<HttpExchange>&)>;
    /// Starts to serve. Throws NetError with the address or file if it cannot be bound, and if the certificate or its
    /// key cannot be used.
    HttpServer(HttpServerOptions options, Handler handler);
    HttpServer(HttpServerOptions options, LateHandler handler);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    std::uint16_t port() const noexcept;
    /// Returns the number of open connections.
    std::size_t connections() const noexcept;
    /// Serves a connected socket of a protocol family, which must be non-blocking and which the server then owns, as a
    /// connection of kSocketClient. It is closed if the server stops or has no place.
    void serve(int family, int fd);
    /// Stops accepting, closes connections that are idle or wait for a late answer, and lets running handlers finish. A
    /// client that does not take its answer within a second is disconnected. Idempotent.
    void stop();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The parts of "http://host:port/path" or the same with https. decode_url() returns nullopt for anything else.
struct Url {
    std::string scheme;  ///< "http" or "https"
    std::string host;
    std::string port;
    std::string target;
};
std::optional<Url> decode_url(std::string_view text);

struct HttpLimits {
    std::chrono::milliseconds timeout{10'000};  ///< for the whole request, including name resolution
    std::uint64_t body_max = 64U << 20U;
    /// For name resolution and connecting, TLS included, each time that a redirect leads elsewhere; part of `timeout`.
    std::optional<std::chrono::milliseconds> connect_timeout = std::nullopt;
    /// Every so many received bytes extend `timeout` by a second; 0: no extension.
    std::uint64_t bytes_per_s = 0;
    /// The longest time without a received byte once connected; part of `timeout`.
    std::optional<std::chrono::milliseconds> idle_timeout = std::nullopt;
    bool public_only = false;      ///< connect to public addresses only, and through no proxy
    std::function<bool()> stop{};  ///< asked now and then; true aborts the request
};

/// How a server is reached that does not let everybody in.
struct HttpAccess {
    std::string bearer{};       ///< sent as "Authorization: Bearer ..."; such a request follows no redirect
    std::string socket{};       ///< path of the server's Unix socket, which is connected to in place of the URL's host
    std::string authorities{};  ///< file of certificates to trust in place of the system's
};

/// Sends one request on a new connection and returns the response. Throws NetError. Up to five redirects are followed,
/// each within the same limits and none from https to http; a POST only where the answer demands the same method (307,
/// 308). Certificates are verified by the system's authorities or those in $SSL_CERT_FILE. Proxies of the environment
/// ($http_proxy, $https_proxy, $all_proxy, $no_proxy) are used except for this machine and under `public_only`.
HttpResponse http_get(const std::string& url, const HttpLimits& limits = {}, const HttpAccess& access = {});
HttpResponse http_post(
    const std::string& url, const std::string& body, const HttpLimits& limits = {}, const HttpAccess& access = {}
);

/// Takes a piece of a file as it arrives. `offset` is the piece's place in the whole file. Returns false to end the
/// transfer, which is then no error.
using BodySink = std::function<bool(std::uint64_t offset, ByteView piece)>;

/// http_get() of a file's bytes from `first` to `last`, both included; nullopt: to its end. They are handed to `sink`
/// and not kept. A server that does not know ranges answers with status 200 and the whole file, whose offsets begin
/// at 0. Returns an answer without a body; for any other status than 200 and 206 nothing is handed to `sink`. Throws
/// what `sink` throws, and NetError, also if the server answers with another range.
HttpResponse http_get_file(
    const std::string& url, std::uint64_t first, std::optional<std::uint64_t> last, const BodySink& sink,
    const HttpLimits& limits = {}
);

}  // namespace assay::http
