// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include <core/base/bytes.hpp>
#include <verifier/relay/message.hpp>

namespace assay::relay {

struct RelayOptions {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  ///< 0: any free one
    /// HOST:PORT as locations name the relay; empty: the address and port on which it listens.
    std::string name{};
    std::set<AccountId> allowed{};           ///< who may register; empty: everybody
    std::uint32_t workers_max = 256;         ///< services that are registered at a time
    std::uint32_t workers_per_address = 8;   ///< of these, per IPv4 address or IPv6 /64
    std::uint32_t tunnels_per_worker = 64;   ///< at a time; a further one takes the place of the most crowded address's
    std::uint32_t tunnels_per_address = 16;  ///< at a time, per IPv4 address or IPv6 /64 of who fetches
    std::uint32_t connections_max = 4'096;   ///< also limited to half of the process's file descriptors
    std::uint64_t bytes_per_s = 0;           ///< for all tunnels of a worker together; 0: no limit
    std::chrono::milliseconds handshake{
        10'000};                              ///< for a head or a message, and for a worker that is asked to connect
    std::chrono::milliseconds idle{120'000};  ///< the longest time without a byte in either direction of a tunnel
    std::chrono::milliseconds ping{15'000};   ///< between questions whether a worker is there
};

/// Counts since the start, and what is there now.
struct RelayFigures {
    std::uint64_t workers = 0;
    std::uint64_t tunnels = 0;
    std::uint64_t tunnels_total = 0;
    std::uint64_t bytes_total = 0;
    std::map<std::string, std::uint64_t> refused{};  ///< by reason: of RefusalReason, or of a status of HTTP
};

/// Forwards TLS connections to workers that have connected to it themselves (ART-23). Whoever fetches asks by HTTP
/// CONNECT for NAME.ADDRESS. The relay asks that worker over the connection with which it registered; the worker makes
/// another connection for it, and the two are joined. What passes is encrypted between the ends: the relay sees who,
/// when and how much. It connects to nobody. One thread does all I/O.
class RelayServer {
  public:
    /// Called on the relay's thread: "registered", "replaced" or "left".
    using Told = std::function<void(std::string_view what, const Service& service)>;
    /// Starts to serve. Throws http::NetError with the address if it cannot be bound.
    explicit RelayServer(RelayOptions options, Told told = {});
    ~RelayServer();
    RelayServer(const RelayServer&) = delete;
    RelayServer& operator=(const RelayServer&) = delete;

    std::uint16_t port() const noexcept;
    const std::string& name() const noexcept;
    /// May be called on any thread.
    RelayFigures figures() const;
    /// Closes all connections. Idempotent.
    void stop();

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::relay
