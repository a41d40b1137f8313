// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/psk.hpp>

#include <array>
#include <memory>
#include <stdexcept>
#include <string_view>

#include <openssl/ssl.h>

namespace assay::cell {
namespace {

constexpr std::string_view kIdentity = "assay/cell";
/// TLS_AES_128_GCM_SHA256: an external key is bound to a hash, and this is that of RFC 8446's default.
constexpr std::array<unsigned char, 2> kCipher{0x13, 0x01};

const unsigned char* identity() { return reinterpret_cast<const unsigned char*>(kIdentity.data()); }

void free_key(void* /*parent*/, void* key, CRYPTO_EX_DATA* /*data*/, int /*index*/, long /*number*/, void* /*more*/) {
    delete static_cast<Hash256*>(key);
}

int key_index() {
    static const int kIndex = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, free_key);
    return kIndex;
}

// The key as OpenSSL takes it: a session to be resumed. nullptr where OpenSSL has no memory or no such cipher.
SSL_SESSION* session_of(SSL* connection) {
    const auto* key = static_cast<const Hash256*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), key_index()));
    const SSL_CIPHER* cipher = SSL_CIPHER_find(connection, kCipher.data());
    std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)> out(SSL_SESSION_new(), SSL_SESSION_free);
    if (key == nullptr || cipher == nullptr || out == nullptr ||
        SSL_SESSION_set1_master_key(out.get(), key->data.data(), key->data.size()) != 1 ||
        SSL_SESSION_set_cipher(out.get(), cipher) != 1 ||
        SSL_SESSION_set_protocol_version(out.get(), TLS1_3_VERSION) != 1 ||
        SSL_SESSION_set1_id_context(out.get(), identity(), kIdentity.size()) != 1) {
        return nullptr;
    }
    return out.release();
}

int offer_key(SSL* connection, const EVP_MD* hash, const unsigned char** id, std::size_t* id_size, SSL_SESSION** out) {
    *out = nullptr;
    if (hash != nullptr && hash != EVP_sha256()) {
        return 1;  // the server asked for another hash: there is no key for it
    }
    *out = session_of(connection);
    *id = identity();
    *id_size = kIdentity.size();
    return *out == nullptr ? 0 : 1;
}

int find_key(SSL* connection, const unsigned char* id, std::size_t id_size, SSL_SESSION** out) {
    const std::string_view name(reinterpret_cast<const char*>(id), id_size);
    *out = name == kIdentity ? session_of(connection) : nullptr;
    return 1;
}

}  // namespace

boost::asio::ssl::context make_psk_context(const Hash256& key) {
    namespace ssl = boost::asio::ssl;
    ssl::context out(ssl::context::tlsv13);
    SSL_CTX* native = out.native_handle();
    auto held = std::make_unique<Hash256>(key);
    if (SSL_CTX_set_ex_data(native, key_index(), held.get()) != 1) {
        throw std::runtime_error("the cell: OpenSSL has no memory");
    }
    static_cast<void>(held.release());
    SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(native, "TLS_AES_128_GCM_SHA256");
    SSL_CTX_set_num_tickets(native, 0);
    // Asked for wherever a peer is to be verified; the key is taken for a session of this context.
    SSL_CTX_set_session_id_context(native, identity(), kIdentity.size());
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_psk_use_session_callback(native, offer_key);
    SSL_CTX_set_psk_find_session_callback(native, find_key);
    out.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
    return out;
}

bool used_key(SSL* connection) { return SSL_session_reused(connection) == 1; }

}  // namespace assay::cell
