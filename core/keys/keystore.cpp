// SPDX-License-Identifier: Apache-2.0
#include <core/keys/keystore.hpp>

#include <algorithm>
#include <bit>
#include <optional>

#include <crypto++/chachapoly.h>
#include <crypto++/scrypt.h>

#include <core/crypto/random.hpp>

namespace assay::crypto {
namespace {

constexpr std::size_t kTagSize = 16;
constexpr std::uint64_t kMaxN = std::uint64_t{1} << 20U;
constexpr std::uint32_t kMaxRTimesP = 64;
constexpr std::uint64_t kMaxMemory = std::uint64_t{1} << 30U;  // bytes; scrypt takes 128 * n * r

using Secret = std::array<std::uint8_t, 32>;

std::optional<KeystoreError> refuse_cost(const KeystoreCost& cost) {
    if (cost.n > kMaxN || cost.r > kMaxRTimesP || cost.p > kMaxRTimesP || cost.r * cost.p > kMaxRTimesP ||
        128 * cost.n * cost.r > kMaxMemory) {
        return KeystoreError::kCostTooHigh;
    }
    if (cost.n < 2 || !std::has_single_bit(cost.n) || cost.r == 0 || cost.p == 0) {
        return KeystoreError::kMalformed;
    }
    return std::nullopt;
}

Secret derive(const SealedKey& sealed, std::string_view password) {
    Secret out{};
    const ByteView bytes = as_bytes(password);
    CryptoPP::Scrypt().DeriveKey(
        out.data(), out.size(), bytes.data(), bytes.size(), sealed.salt.data(), sealed.salt.size(), sealed.cost.n,
        sealed.cost.r, sealed.cost.p
    );
    return out;
}

}  // namespace

SealedKey seal_key(const SecretKey& key, std::string_view password, KeystoreCost cost) {
    ASSERT(!refuse_cost(cost));
    SealedKey out;
    out.account = key.account();
    out.cost = cost;
    fill_random(out.salt);
    fill_random(out.nonce);
    out.ciphertext.resize(key.bytes().size() + kTagSize);
    Secret sealing = derive(out, password);
    CryptoPP::ChaCha20Poly1305::Encryption cipher;
    cipher.SetKeyWithIV(sealing.data(), sealing.size(), out.nonce.data(), out.nonce.size());
    wipe(sealing);
    cipher.EncryptAndAuthenticate(
        out.ciphertext.data(), out.ciphertext.data() + key.bytes().size(), kTagSize, out.nonce.data(),
        static_cast<int>(out.nonce.size()), out.account.data.data(), out.account.data.size(), key.bytes().data(),
        key.bytes().size()
    );
    return out;
}

Result<SecretKey, KeystoreError> open_key(const SealedKey& sealed, std::string_view password) {
    if (const auto refused = refuse_cost(sealed.cost)) {
        return Unexpected{*refused};
    }
    Secret secret{};
    if (sealed.ciphertext.size() != secret.size() + kTagSize) {
        return Unexpected{KeystoreError::kMalformed};
    }
    Secret sealing = derive(sealed, password);
    CryptoPP::ChaCha20Poly1305::Decryption cipher;
    cipher.SetKeyWithIV(sealing.data(), sealing.size(), sealed.nonce.data(), sealed.nonce.size());
    wipe(sealing);
    const bool genuine = cipher.DecryptAndVerify(
        secret.data(), sealed.ciphertext.data() + secret.size(), kTagSize, sealed.nonce.data(),
        static_cast<int>(sealed.nonce.size()), sealed.account.data.data(), sealed.account.data.size(),
        sealed.ciphertext.data(), secret.size()
    );
    if (!genuine) {
        wipe(secret);
        return Unexpected{KeystoreError::kWrongPassword};
    }
    auto key = SecretKey::from_bytes(secret);
    wipe(secret);
    if (!key || key->account() != sealed.account) {
        return Unexpected{KeystoreError::kMalformed};
    }
    return *key;
}

}  // namespace assay::crypto
