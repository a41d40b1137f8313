// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <verifier/relay/connection.hpp>

/// Internal to the relay.
namespace assay::relay {

/// How much may pass in a second for all tunnels of one worker together.
class Rate {
  public:
    /// In bytes; 0: any amount.
    explicit Rate(std::uint64_t bytes_per_s) : bytes_per_s_(bytes_per_s) {}
    /// Counts bytes, and returns how long to wait before more are read.
    RelayClock::duration take(std::size_t bytes, RelayClock::time_point now);

  private:
    std::uint64_t bytes_per_s_;
    RelayClock::time_point free_at_{};  ///< when what has passed is paid for
};

/// Two connections of which each gets what the other sends. A side that does not read stops the other one: no more than
/// a piece is kept for it.
class Tunnel : public std::enable_shared_from_this<Tunnel> {
  public:
    Tunnel(std::shared_ptr<Connection> client, std::shared_ptr<Connection> worker, std::shared_ptr<Rate> rate);

    /// Passes bytes on until both sides have ended. `passed` is told of them.
    boost::asio::awaitable<void> run(std::function<void(std::size_t bytes)> passed);
    void close();

    const http::ClientAddress& address() const { return client_->client; }
    /// When a byte last passed.
    RelayClock::time_point active_at() const { return active_at_; }

  private:
    boost::asio::awaitable<void> pump(std::shared_ptr<Connection> from, std::shared_ptr<Connection> to);

    std::shared_ptr<Connection> client_;
    std::shared_ptr<Connection> worker_;
    std::shared_ptr<Rate> rate_;
    boost::asio::steady_timer client_pause_;
    boost::asio::steady_timer worker_pause_;
    std::function<void(std::size_t bytes)> passed_;
    RelayClock::time_point active_at_ = RelayClock::now();
};

}  // namespace assay::relay
