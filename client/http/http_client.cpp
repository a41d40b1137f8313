// SPDX-License-Identifier: Apache-2.0
#include <client/http/http.hpp>

#include <algorithm>
#include <memory>
#include <vector>

#include <boost/asio/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <sys/socket.h>

#include <client/http/address.hpp>
#include <client/http/resolve.hpp>
#include <client/http/socket.hpp>

namespace assay::http {

namespace {

namespace beast_http = boost::beast::http;

[[noreturn]] void fail(const std::string& url, const std::string& what, const ErrorCode& error) {
    if (error == boost::asio::error::timed_out) {
        throw NetTimeout(url + ": " + what + ": timed out");
    }
    throw NetError(url + ": " + what + ": " + error.message());
}

std::unique_ptr<Socket> connect(const std::string& text, const Url& url, const HttpLimits& limits) {
    const auto span = std::min(limits.timeout, limits.connect_timeout.value_or(limits.timeout));
    const Clock::time_point deadline = Clock::now() + span;
    std::vector<SocketAddress> addresses;
    try {
        addresses = resolve(url.host, url.port, deadline);
    } catch (const NetTimeout& late) {
        throw NetTimeout(text + ": " + late.what());
    } catch (const NetError& unknown) {
        throw NetError(text + ": " + unknown.what());
    }
    ErrorCode error = boost::asio::error::host_not_found;
    bool is_forbidden = true;
    for (const SocketAddress& address : addresses) {
        // Asked of the address that is connected to: a name may stand for another one each time.
        if (limits.public_only && !is_public(address)) {
            continue;
        }
        is_forbidden = false;
        auto socket = std::make_unique<Socket>(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
        socket->expires_after(deadline - Clock::now());
        socket->connect(address.data(), address.size, error);
        if (!error) {
            return socket;
        }
    }
    if (is_forbidden) {
        throw NetForbidden(
            text + ": " + url.host + " is an address of a private network, from which nothing is fetched here"
        );
    }
    fail(text, "cannot connect", error);
}

using ResponseParser = beast_http::response_parser<beast_http::string_body>;

/// Reads until the answer is whole, within the limits.
void read_answer(
    Socket& socket, boost::beast::flat_buffer& buffer, ResponseParser& parser, const HttpLimits& limits,
    Clock::time_point deadline, ErrorCode& error
) {
    constexpr std::chrono::milliseconds kLook{200};  // how soon a stop is noticed
    parser.eager(true);
    parser.body_limit(limits.body_max);
    while (!parser.is_done()) {
        const auto left = deadline - Clock::now();
        socket.expires_after(limits.stop != nullptr ? std::min<Clock::duration>(left, kLook) : left);
        const std::size_t before = buffer.size();
        const std::size_t parsed = beast_http::read_some(socket, buffer, parser, error);
        if (limits.bytes_per_s != 0) {
            const std::uint64_t received = buffer.size() + parsed - before;
            deadline += std::chrono::microseconds(received * 1'000'000 / limits.bytes_per_s);
        }
        const bool is_stopped = limits.stop != nullptr && *limits.stop;
        if (error == boost::asio::error::timed_out && !is_stopped && Clock::now() < deadline) {
            error = {};
        }
        if (error) {
            return;
        }
    }
}

HttpResponse request(beast_http::verb verb, const std::string& text, std::string body, const HttpLimits& limits) {
    const auto url = decode_url(text);
    if (!url) {
        throw NetError("\"" + text + "\" is not a URL of the form http://HOST:PORT");
    }
    const Clock::time_point deadline = Clock::now() + limits.timeout;
    const auto socket = connect(text, *url, limits);
    socket->expires_after(deadline - Clock::now());

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
    ResponseParser parser;
    ErrorCode read_error;
    read_answer(*socket, buffer, parser, limits, deadline, read_error);
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

}  // namespace assay::http
