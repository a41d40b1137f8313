// SPDX-License-Identifier: Apache-2.0
#include <client/http/own_certificate.hpp>

#include <array>
#include <limits>
#include <memory>
#include <stdexcept>

#include <openssl/asn1.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <client/http/freed.hpp>

namespace assay::http {

namespace {

constexpr long kLifeSeconds = 3600;  // of what nobody looks at
constexpr long kVersion3 = 2;        // as X.509 numbers it

using PrivateKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using ObjectId = std::unique_ptr<ASN1_OBJECT, Freed<ASN1_OBJECT_free>>;
using OctetString = std::unique_ptr<ASN1_OCTET_STRING, Freed<ASN1_OCTET_STRING_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;

ObjectId object_of(const std::string& oid) { return ObjectId(OBJ_txt2obj(oid.c_str(), 1)); }

Bytes public_key_of(const X509* certificate) {
    unsigned char* encoded = nullptr;
    const int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded);
    Bytes out;
    if (size > 0) {
        out.assign(encoded, encoded + size);
        OPENSSL_free(encoded);
    }
    return out;
}

/// A name that says nothing, which clients want nevertheless.
bool add_name(X509* certificate) {
    static constexpr std::array<unsigned char, 5> kName{'a', 's', 's', 'a', 'y'};
    X509_NAME* name = X509_get_subject_name(certificate);
    return X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_ASC, kName.data(), kName.size(), -1, 0) == 1 &&
           X509_set_issuer_name(certificate, name) == 1;
}

bool add_extension(X509* certificate, const CertificateExtension& extension) {
    const Bytes value = extension.value(public_key_of(certificate));
    const ObjectId oid = object_of(extension.oid);
    const OctetString octets(ASN1_OCTET_STRING_new());
    if (!oid || !octets || ASN1_OCTET_STRING_set(octets.get(), value.data(), static_cast<int>(value.size())) != 1) {
        return false;
    }
    const Extension made(X509_EXTENSION_create_by_OBJ(nullptr, oid.get(), 0, octets.get()));
    return made && X509_add_ext(certificate, made.get(), -1) == 1;
}

}  // namespace

boost::asio::ssl::context make_own_certificate_context(const std::optional<CertificateExtension>& extension) {
    namespace ssl = boost::asio::ssl;
    const PrivateKey key(EVP_EC_gen("P-256"));
    const Certificate certificate(X509_new());
    ssl::context out(ssl::context::tlsv13);
    SSL_CTX* native = out.native_handle();
    const bool is_made = key && certificate && X509_set_version(certificate.get(), kVersion3) == 1 &&
                         ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1) == 1 &&
                         X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0) != nullptr &&
                         X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kLifeSeconds) != nullptr &&
                         X509_set_pubkey(certificate.get(), key.get()) == 1 && add_name(certificate.get()) &&
                         (!extension || add_extension(certificate.get(), *extension)) &&
                         X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0 &&
                         SSL_CTX_use_certificate(native, certificate.get()) == 1 &&
                         SSL_CTX_use_PrivateKey(native, key.get()) == 1;
    if (!is_made) {
        throw std::runtime_error("OpenSSL cannot make a certificate for TLS");
    }
    SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(native, "TLS_AES_128_GCM_SHA256");
    SSL_CTX_set_num_tickets(native, 0);
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
    out.set_verify_mode(ssl::verify_none);
    return out;
}

std::optional<OwnCertificate> decode_own_certificate(ByteView der, const std::string& oid) {
    const auto* at = der.data();
    if (der.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
        return std::nullopt;
    }
    const Certificate certificate(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
    const ObjectId wanted = object_of(oid);
    if (!certificate || !wanted || at != der.data() + der.size()) {
        return std::nullopt;
    }
    const int found = X509_get_ext_by_OBJ(certificate.get(), wanted.get(), -1);
    if (found < 0 || X509_get_ext_by_OBJ(certificate.get(), wanted.get(), found) >= 0) {
        return std::nullopt;
    }
    const ASN1_OCTET_STRING* octets = X509_EXTENSION_get_data(X509_get_ext(certificate.get(), found));
    const auto* data = ASN1_STRING_get0_data(octets);
    OwnCertificate out{.public_key = public_key_of(certificate.get()), .extension = {}};
    out.extension.assign(data, data + ASN1_STRING_length(octets));
    return out.public_key.empty() ? std::nullopt : std::optional(std::move(out));
}

}  // namespace assay::http
