// SPDX-License-Identifier: Apache-2.0
#include <verifier/relay/tunnel.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/write.hpp>

namespace assay::relay {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

constexpr std::size_t kPieceBytes = 65'536;
/// What may pass at once after a pause.
constexpr std::chrono::milliseconds kBurst{250};

}  // namespace

RelayClock::duration Rate::take(std::size_t bytes, RelayClock::time_point now) {
    if (bytes_per_s_ == 0) {
        return {};
    }
    const auto cost = std::chrono::microseconds(std::uint64_t{bytes} * 1'000'000 / bytes_per_s_);
    free_at_ = std::max(free_at_, now - kBurst) + cost;
    return std::max<RelayClock::duration>(free_at_ - now, RelayClock::duration::zero());
}

Tunnel::Tunnel(std::shared_ptr<Connection> client, std::shared_ptr<Connection> worker, std::shared_ptr<Rate> rate)
    : client_(std::move(client)),
      worker_(std::move(worker)),
      rate_(std::move(rate)),
      client_pause_(client_->socket.get_executor()),
      worker_pause_(client_->socket.get_executor()) {}

asio::awaitable<void> Tunnel::run(std::function<void(std::size_t bytes)> passed) {
    using asio::experimental::awaitable_operators::operator&&;
    const auto self = shared_from_this();
    passed_ = std::move(passed);
    co_await (pump(client_, worker_) && pump(worker_, client_));
    close();
}

void Tunnel::close() {
    client_->close();
    worker_->close();
    client_pause_.cancel();
    worker_pause_.cancel();
}

asio::awaitable<void> Tunnel::pump(std::shared_ptr<Connection> from, std::shared_ptr<Connection> to) {
    asio::steady_timer& pause = from == client_ ? client_pause_ : worker_pause_;
    Bytes piece(kPieceBytes);
    std::string early = std::exchange(from->unread, {});
    std::size_t size = early.size();
    std::copy_n(early.begin(), size, piece.begin());  // less than a head of HTTP may have
    for (;;) {
        if (size != 0) {
            const auto [error, sent] = co_await asio::async_write(to->socket, asio::buffer(piece, size), kReturned);
            if (error) {
                close();
                co_return;
            }
            active_at_ = RelayClock::now();
            passed_(sent);
            if (const auto wait = rate_->take(sent, active_at_); wait > RelayClock::duration::zero()) {
                pause.expires_after(wait);
                co_await pause.async_wait(kReturned);
            }
        }
        const auto [error, received] = co_await from->socket.async_read_some(asio::buffer(piece), kReturned);
        if (error == asio::error::eof) {
            ErrorCode ignored;
            to->socket.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
            co_return;
        }
        if (error) {
            close();
            co_return;
        }
        size = received;
    }
}

}  // namespace assay::relay
