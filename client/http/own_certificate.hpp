// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include <core/base/bytes.hpp>

/// TLS 1.3 with certificates that a process makes for itself. No authority has signed them. What vouches for their key,
/// if anything does, is an extension or something outside of TLS.
namespace assay::http {

/// What a certificate says besides its public key.
struct CertificateExtension {
    std::string oid;  ///< dotted decimal
    /// Returns the extension's bytes for a public key (DER of SubjectPublicKeyInfo, RFC 5280).
    std::function<Bytes(ByteView public_key)> value;
};

/// Returns a context for both sides of connections, of TLS 1.3 alone, without session tickets. It has a fresh P-256 key
/// and a certificate of its own, and accepts every certificate of the other side. Throws std::runtime_error if OpenSSL
/// cannot make one.
boost::asio::ssl::context make_own_certificate_context(
    const std::optional<CertificateExtension>& extension = std::nullopt
);

/// The parts of such a certificate.
struct OwnCertificate {
    Bytes public_key;  ///< DER of SubjectPublicKeyInfo
    Bytes extension;
};
/// Decodes a certificate (DER) that has the extension once; nullopt for anything else.
std::optional<OwnCertificate> decode_own_certificate(ByteView der, const std::string& oid);

}  // namespace assay::http
