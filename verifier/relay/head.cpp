// SPDX-License-Identifier: Apache-2.0
#include <verifier/relay/head.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

namespace assay::relay {

boost::asio::awaitable<std::optional<RequestHead>> read_head(Connection& connection) {
    namespace beast_http = boost::beast::http;
    beast_http::request_parser<beast_http::empty_body> parser;
    parser.header_limit(kHeadMax);
    for (;;) {
        boost::system::error_code error;
        const std::size_t taken = parser.put(boost::asio::buffer(connection.unread), error);
        connection.unread.erase(0, taken);
        if (parser.is_header_done()) {
            break;
        }
        if ((error && error != beast_http::error::need_more) || connection.unread.size() >= kHeadMax) {
            co_return std::nullopt;
        }
        const bool has_more = co_await connection.read_more();
        if (!has_more) {
            co_return std::nullopt;
        }
    }
    RequestHead out;
    out.is_connect = parser.get().method() == beast_http::verb::connect;
    out.target = std::string(parser.get().target());
    co_return out;
}

std::string answer_of(unsigned status, std::string_view phrase, std::string_view text) {
    return "HTTP/1.1 " + std::to_string(status) + " " + std::string(phrase) +
           "\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: " + std::to_string(text.size() + 1) +
           "\r\n\r\n" + std::string(text) + "\n";
}

}  // namespace assay::relay
