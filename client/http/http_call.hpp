// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <client/http/http.hpp>
#include <core/base/bytes.hpp>

/// Requests of any method, with header fields, a body of bytes, and a signature that object stores demand.
namespace assay::http {

/// What libcurl signs a request with (AWS Signature Version 4, service s3). Nothing of it is ever printed.
struct HttpSigning {
    std::string key_id;
    std::string secret;
    std::string session_token{};  ///< of temporary credentials; empty: none
    std::string region;
    std::string payload_sha256{};  ///< hex digits of the body's hash, which the signature covers
};

/// A way through a relay: it is asked by HTTP CONNECT for the URL's host, and TLS 1.3 goes on to that host, so that the
/// relay sees the host's name, sizes and times. No authority vouches for the host. HttpLimits::connect_timeout counts
/// three times.
struct HttpTunnel {
    std::string relay;  ///< "HOST:PORT"
    /// Returns true if the certificate (DER) is that of the host. Called on the thread that calls.
    std::function<bool(ByteView certificate)> admits;
};

struct HttpCall {
    std::string method = "GET";
    std::string url;
    std::vector<std::pair<std::string, std::string>> fields{};  ///< header fields, by name
    ByteView body{};                                            ///< has to outlive the call
    bool is_form = false;                                       ///< the body is sent as the file of a multipart form
    std::optional<HttpSigning> signing{};
    std::string socket{};  ///< path of a Unix socket that is connected to in place of the URL's host; empty: none
    std::optional<HttpTunnel> tunnel{};  ///< for an https:// URL; such a request follows no redirect
};

/// Sends one request on a new connection and returns the answer with its header fields, their names in lower case.
/// Throws NetError. A request that is signed or is no GET follows no redirect. What is sent extends the time limit as
/// what is received does.
HttpResponse http_call(const HttpCall& call, const HttpLimits& limits);

/// http_get_file() for such a request.
HttpResponse http_call_file(
    const HttpCall& call, std::uint64_t first, std::optional<std::uint64_t> last, const BodySink& sink,
    const HttpLimits& limits
);

}  // namespace assay::http
