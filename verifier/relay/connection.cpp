// SPDX-License-Identifier: Apache-2.0
#include <verifier/relay/connection.hpp>

#include <array>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include <verifier/relay/message.hpp>

namespace assay::relay {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

void Connection::expire_after(RelayClock::duration span) {
    deadline_.expires_after(span);
    deadline_.async_wait([weak = weak_from_this()](const ErrorCode& error) {
        const auto self = weak.lock();
        // What was due when the deadline moved is void.
        if (!error && self && self->deadline_.expiry() <= RelayClock::now()) {
            self->close();
        }
    });
}

void Connection::close() {
    ErrorCode ignored;
    deadline_.cancel();
    socket.close(ignored);
}

asio::awaitable<bool> Connection::read_more() {
    std::array<char, 4'096> piece{};
    const auto [error, size] = co_await socket.async_read_some(asio::buffer(piece), kReturned);
    unread.append(piece.data(), size);
    co_return !error;
}

asio::awaitable<std::optional<std::string>> Connection::read_line() {
    std::size_t end = unread.find('\n');
    while (end == std::string::npos && unread.size() < kLineMax) {
        const bool has_more = co_await read_more();
        if (!has_more) {
            co_return std::nullopt;
        }
        end = unread.find('\n');
    }
    if (end >= kLineMax) {
        co_return std::nullopt;
    }
    std::string line = unread.substr(0, end);
    unread.erase(0, end + 1);
    co_return line;
}

asio::awaitable<bool> Connection::write(std::string bytes) {
    const auto [error, size] = co_await asio::async_write(socket, asio::buffer(bytes), kReturned);
    co_return !error;
}

}  // namespace assay::relay
