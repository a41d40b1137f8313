// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/account_links.hpp>

#include <memory>
#include <stdexcept>
#include <string_view>

#include <core/crypto/hash.hpp>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace assay::cell {
namespace {

constexpr std::string_view kLabel = "EXPORTER-Channel-Binding";
constexpr long kLifeSeconds = 3600;  // of what nobody looks at

}  // namespace

boost::asio::ssl::context make_certificate_context() {
    namespace ssl = boost::asio::ssl;
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
    ssl::context out(ssl::context::tlsv13);
    SSL_CTX* native = out.native_handle();
    const bool is_made = key && certificate && ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1) == 1 &&
                         X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0) != nullptr &&
                         X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kLifeSeconds) != nullptr &&
                         X509_set_pubkey(certificate.get(), key.get()) == 1 &&
                         X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0 &&
                         SSL_CTX_use_certificate(native, certificate.get()) == 1 &&
                         SSL_CTX_use_PrivateKey(native, key.get()) == 1;
    if (!is_made) {
        throw std::runtime_error("the cell: OpenSSL cannot make a certificate");
    }
    SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(native, "TLS_AES_128_GCM_SHA256");
    SSL_CTX_set_num_tickets(native, 0);
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
    out.set_verify_mode(ssl::verify_none);
    return out;
}

std::optional<Hash256> channel_binding(SSL* connection) {
    Hash256 out;
    const int is_exported = SSL_export_keying_material(
        connection, out.data.data(), out.data.size(), kLabel.data(), kLabel.size(), nullptr, 0, 0
    );
    return is_exported == 1 ? std::optional(out) : std::nullopt;
}

Hash256 link_digest(const Hash256& binding, const AccountId& signer, const AccountId& other) {
    static const crypto::TaggedHash kTag("assay/link");
    Bytes accounts;
    append(accounts, signer.view());
    append(accounts, other.view());
    return kTag(binding.view(), accounts);
}

}  // namespace assay::cell
