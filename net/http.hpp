// SPDX-License-Identifier: Apache-2.0
#pragma once

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
namespace assay::net {

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

struct HttpRequest {
    std::string method;  ///< "GET", "POST", ...
    std::string target;  ///< "/artifact/ab12"
    std::string body;
};

struct HttpResponse {
    unsigned status = 200;
    std::string content_type = "application/json";
    std::string body;
    std::optional<std::filesystem::path> file = std::nullopt;  ///< served instead of body, streamed
};

struct HttpServerOptions {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  ///< 0: any free one
    std::uint64_t body_max = 1U << 20U;
    std::uint32_t connections_max = 128;  ///< further ones get 503
    std::chrono::seconds idle_timeout{60};    ///< between requests, for a whole request, and for each piece of an answer
    /// The answer to a request whose body exceeds body_max.
    HttpResponse too_large{413, "text/plain", "request body too large\n"};
};

/// Serves until destroyed or stopped. Handlers run on the connections' threads and must be thread-safe; one that
/// throws answers 500.
class HttpServer {
  public:
    using Handler = std::function<HttpResponse(const HttpRequest&)>;
    /// Binds at once; throws NetError naming the address when it is taken.
    HttpServer(HttpServerOptions options, Handler handler);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    std::uint16_t port() const noexcept;
    /// Stops accepting, closes what is idle, waits for handlers in progress; a client that does not take its answer is
    /// cut off after a second. Idempotent.
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
    std::chrono::milliseconds timeout{10'000};
    std::uint64_t body_max = 64U << 20U;
};

/// One request on a connection of its own. Throws NetError.
HttpResponse http_get(const std::string& url, HttpLimits limits = {});
HttpResponse http_post(const std::string& url, std::string body, HttpLimits limits = {});

}  // namespace assay::net
