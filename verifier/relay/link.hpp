// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <core/crypto/keys.hpp>
#include <verifier/relay/message.hpp>

namespace assay::relay {

struct LinkOptions {
    std::string relay;  ///< HOST:PORT, as locations name it
    std::string name;   ///< of the service
    crypto::SecretKey key;
    std::uint32_t tunnels_max = 64;  ///< at a time; the worker does not answer for more
    std::chrono::milliseconds backoff_first{500};
    std::chrono::milliseconds backoff_max{8'000};
    std::chrono::milliseconds after_refusal{60'000};
    std::chrono::milliseconds handshake{10'000};  ///< to connect and to register
    std::chrono::milliseconds silence{45'000};    ///< of the relay, after which it counts as gone
};

/// A worker's connection to a relay: connects, registers the account's service, and connects again whenever it is lost,
/// after waits that double. Ends TLS for whoever comes through the relay, and hands the connections on. It never
/// listens. A thread of its own does all that.
class RelayLink {
  public:
    /// Takes a connected, non-blocking socket of a protocol family, on which a client of the service speaks in clear.
    /// Called on the link's thread.
    using Serve = std::function<void(int family, int fd)>;
    /// Told once of each change: that the service is registered (an empty text), or why it is not. Called on the link's
    /// thread.
    using Told = std::function<void(const std::string& trouble)>;

    /// Begins to connect. Throws std::runtime_error if TLS cannot be had.
    RelayLink(LinkOptions options, Serve serve, Told told);
    /// Closes all connections. Takes no longer than a name server takes to answer, five seconds at most.
    ~RelayLink();
    RelayLink(const RelayLink&) = delete;
    RelayLink& operator=(const RelayLink&) = delete;

    /// May be called on any thread.
    bool is_registered() const noexcept;
    std::size_t tunnels() const noexcept;

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::relay
