// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>

namespace assay::http {

/// Returns a server's context for TLS 1.2 and later. Throws NetError if the files are not a certificate chain and its
/// key, in PEM.
boost::asio::ssl::context make_tls_context(const std::filesystem::path& certificate, const std::filesystem::path& key);

/// Ends TLS for one connection: hands what it decrypts to an HttpSession through a pair of Unix sockets, and encrypts
/// what the session sends. So sessions, WebSockets and streams of events know nothing of TLS, and a session's limits of
/// time and number hold for the handshake too. Everything runs on the thread of the I/O context.
class TlsRelay {
  public:
    virtual ~TlsRelay() = default;
    /// Ends both connections at once.
    virtual void close() = 0;
};

struct RelayedSockets {
    int family = 0;  ///< of the client's connection
    int client = -1;
    int session = -1;  ///< one end of the pair
};

/// Takes ownership of the sockets, which must be non-blocking. `on_end` is called once, when both are closed. The
/// I/O context must outlive the relay.
std::shared_ptr<TlsRelay> start_tls_relay(
    boost::asio::io_context& context, std::shared_ptr<boost::asio::ssl::context> tls, RelayedSockets sockets,
    std::function<void(TlsRelay&)> on_end
);

}  // namespace assay::http
