// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/ssl/context.hpp>

#include <core/base/bytes.hpp>
#include <core/crypto/keys.hpp>

/// Certificates that an account vouches for (ART-23), for TLS between whoever fetches and a worker behind a relay.
namespace assay::relay {

/// Returns a context whose certificate has a fresh key, which the account signs in an extension. Throws
/// std::runtime_error if OpenSSL cannot make one.
boost::asio::ssl::context make_account_context(const crypto::SecretKey& key);

/// Whether the account has signed the key of a certificate (DER).
bool is_of_account(ByteView certificate, const AccountId& account);

}  // namespace assay::relay
