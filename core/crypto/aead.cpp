// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/aead.hpp>

#include <crypto++/aes.h>
#include <crypto++/gcm.h>

#include <core/base/assert.hpp>

namespace assay::crypto {
namespace {

bool is_nonce(ByteView nonce) { return nonce.size() == kAeadNonceBytes || nonce.size() == kLongNonceBytes; }

}  // namespace

Bytes seal_aead(const AeadKey& key, ByteView nonce, ByteView associated, ByteView plaintext) {
    ASSERT(is_nonce(nonce));
    CryptoPP::GCM<CryptoPP::AES>::Encryption cipher;
    cipher.SetKeyWithIV(key.data.data(), key.data.size(), nonce.data(), nonce.size());
    Bytes out(plaintext.size() + kAeadTagBytes);
    cipher.EncryptAndAuthenticate(
        out.data(), out.data() + plaintext.size(), kAeadTagBytes, nonce.data(), static_cast<int>(nonce.size()),
        associated.data(), associated.size(), plaintext.data(), plaintext.size()
    );
    return out;
}

std::optional<Bytes> open_aead(const AeadKey& key, ByteView nonce, ByteView associated, ByteView sealed) {
    ASSERT(is_nonce(nonce));
    if (sealed.size() < kAeadTagBytes) {
        return std::nullopt;
    }
    CryptoPP::GCM<CryptoPP::AES>::Decryption cipher;
    cipher.SetKeyWithIV(key.data.data(), key.data.size(), nonce.data(), nonce.size());
    const std::size_t size = sealed.size() - kAeadTagBytes;
    Bytes out(size);
    const bool is_right = cipher.DecryptAndVerify(
        out.data(), sealed.data() + size, kAeadTagBytes, nonce.data(), static_cast<int>(nonce.size()),
        associated.data(), associated.size(), sealed.data(), size
    );
    return is_right ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace assay::crypto
