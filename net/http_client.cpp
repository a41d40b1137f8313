// SPDX-License-Identifier: Apache-2.0
#include <net/http.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <sys/socket.h>

#include <net/socket.hpp>

namespace assay::net {

namespace {

namespace beast_http = boost::beast::http;
using boost::asio::ip::tcp;

[[noreturn]] void fail(const std::string& url, const std::string& what, const ErrorCode& error) {
    if (error == boost::asio::error::timed_out) {
        throw NetTimeout(url + ": " + what + ": timed out");
    }
    throw NetError(url + ": " + what + ": " + error.message());
}

std::unique_ptr<Socket> connect(const std::string& text, const Url& url, Clock::time_point deadline) {
    boost::asio::io_context context(1);
    tcp::resolver resolver(context);
    ErrorCode error;
    const auto results = resolver.resolve(url.host, url.port, error);
    if (error) {
        fail(text, "cannot resolve " + url.host, error);
    }
    error = boost::asio::error::host_not_found;
    for (const auto& result : results) {
        const tcp::endpoint endpoint = result.endpoint();
        auto socket = std::make_unique<Socket>(::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
        socket->expires_after(deadline - Clock::now());
        socket->connect(endpoint.data(), endpoint.size(), error);
        if (!error) {
            return socket;
        }
    }
    fail(text, "cannot connect", error);
}

HttpResponse request(beast_http::verb verb, const std::string& text, std::string body, HttpLimits limits) {
    const auto url = decode_url(text);
    if (!url) {
        throw NetError("not an http:// URL: " + text);
    }
    const Clock::time_point deadline = Clock::now() + limits.timeout;
    const auto socket = connect(text, *url, deadline);

    beast_http::request<beast_http::string_body> message(verb, url->target, 11);
    const bool is_ipv6 = url->host.find(':') != std::string::npos;
    message.set(beast_http::field::host, (is_ipv6 ? "[" + url->host + "]" : url->host) + ":" + url->port);
    message.set(beast_http::field::user_agent, "assay");
    message.set(beast_http::field::connection, "close");
    if (verb == beast_http::verb::post) {
        message.set(beast_http::field::content_type, "application/json");
    }
    message.body() = std::move(body);
    message.prepare_payload();

    ErrorCode write_error;
    beast_http::write(*socket, message, write_error);
    if (write_error == boost::asio::error::timed_out) {
        fail(text, "cannot send", write_error);
    }
    // A server may refuse a body before it has read all of it: its answer says more than the broken pipe.
    boost::beast::flat_buffer buffer;
    beast_http::response_parser<beast_http::string_body> parser;
    parser.body_limit(limits.body_max);
    ErrorCode read_error;
    beast_http::read(*socket, buffer, parser, read_error);
    if (read_error) {
        fail(text, write_error ? "cannot send" : "no answer", write_error ? write_error : read_error);
    }
    auto& answer = parser.get();
    HttpResponse response;
    response.status = answer.result_int();
    response.content_type = std::string(answer[beast_http::field::content_type]);
    response.body = std::move(answer.body());
    return response;
}

}  // namespace

HttpResponse http_get(const std::string& url, HttpLimits limits) {
    return request(beast_http::verb::get, url, {}, limits);
}

HttpResponse http_post(const std::string& url, std::string body, HttpLimits limits) {
    return request(beast_http::verb::post, url, std::move(body), limits);
}

}  // namespace assay::net
