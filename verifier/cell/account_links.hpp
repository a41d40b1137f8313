// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <boost/asio/ssl.hpp>

#include <core/base/bytes.hpp>
#include <core/crypto/keys.hpp>

/// Internal to the cell: TLS 1.3 between accounts. The certificates say nothing: they are made for the session
/// (make_own_certificate_context()), and neither side looks at the other's. Instead each account signs what only the
/// two ends of this channel know.
namespace assay::cell {

/// RFC 9266: the value `tls-exporter` of a channel whose handshake has ended. Whoever stands between two accounts has
/// a channel with each, and another value in either. nullopt if OpenSSL has none.
std::optional<Hash256> channel_binding(SSL* connection);

/// What `signer` signs for a channel with `other`: "assay/link" over the channel's value and both accounts.
Hash256 link_digest(const Hash256& binding, const AccountId& signer, const AccountId& other);

/// Signs the channel as the key's account, for the other side's. Throws std::runtime_error if TLS has no exporter.
Signature sign_channel(SSL* connection, const crypto::SecretKey& key, const AccountId& other);
/// Whether `signer` has signed the channel for `other`.
bool is_channel_signed(SSL* connection, const AccountId& signer, const AccountId& other, const Signature& signature);

}  // namespace assay::cell
