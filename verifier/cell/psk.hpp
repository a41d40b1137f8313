// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/ssl.hpp>

#include <core/base/bytes.hpp>

/// Internal to the cell: TLS 1.3 whose only credential is a key that both sides have.
namespace assay::cell {

/// Returns a context for both sides of connections, which has no certificate and accepts none.
boost::asio::ssl::context make_psk_context(const Hash256& key);

/// Whether the handshake that has ended used the key. A client has to ask: TLS lets a server answer with a certificate.
bool used_key(SSL* connection);

}  // namespace assay::cell
