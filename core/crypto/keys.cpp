// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/keys.hpp>

#include <algorithm>
#include <bit>
#include <iterator>

#include <secp256k1.h>
#include <secp256k1_extrakeys.h>
#include <secp256k1_schnorrsig.h>

#include <core/crypto/curve_context.hpp>
#include <core/crypto/random.hpp>
#include <core/crypto/signing_key.hpp>

namespace assay::crypto {
namespace {

struct Keypair {
    secp256k1_keypair pair{};
    explicit Keypair(const std::array<std::uint8_t, 32>& secret) {
        ASSERT(secp256k1_keypair_create(curve_context(), &pair, secret.data()) == 1);
    }
    ~Keypair() { wipe(pair.data); }
    Keypair(const Keypair&) = delete;
    Keypair& operator=(const Keypair&) = delete;
};

Signature signature_of(const secp256k1_keypair& pair, ByteView message, std::array<std::uint8_t, 32> randomness) {
    secp256k1_schnorrsig_extraparams extra = SECP256K1_SCHNORRSIG_EXTRAPARAMS_INIT;
    extra.ndata = randomness.data();
    Signature out;
    ASSERT(
        secp256k1_schnorrsig_sign_custom(
            curve_context(), out.data.data(), message.data(), message.size(), &pair, &extra
        ) == 1
    );
    return out;
}

}  // namespace

const secp256k1_context* curve_context() {
    static const secp256k1_context* const kContext = [] {
        secp256k1_context* made = secp256k1_context_create(SECP256K1_CONTEXT_SIGN | SECP256K1_CONTEXT_VERIFY);
        std::array<std::uint8_t, 32> seed{};
        fill_random(seed);
        ASSERT(secp256k1_context_randomize(made, seed.data()) == 1);
        wipe(seed);
        return made;
    }();
    return kContext;
}

Result<SecretKey, KeyError> SecretKey::from_bytes(ByteView bytes32) noexcept {
    if (bytes32.size() != 32 || secp256k1_ec_seckey_verify(curve_context(), bytes32.data()) != 1) {
        return Unexpected{KeyError::kSecretOutOfRange};
    }
    SecretKey key;
    std::copy(bytes32.begin(), bytes32.end(), key.secret_.begin());
    return key;
}

SecretKey SecretKey::generate() {
    SecretKey key;
    do {
        fill_random(key.secret_);
    } while (secp256k1_ec_seckey_verify(curve_context(), key.secret_.data()) != 1);
    return key;
}

SecretKey::~SecretKey() { wipe(secret_); }

AccountId SecretKey::account() const noexcept {
    const Keypair keypair(secret_);
    secp256k1_xonly_pubkey point{};
    ASSERT(secp256k1_keypair_xonly_pub(curve_context(), &point, nullptr, &keypair.pair) == 1);
    AccountId out;
    ASSERT(secp256k1_xonly_pubkey_serialize(curve_context(), out.data.data(), &point) == 1);
    return out;
}

Signature SecretKey::sign(ByteView message, const std::array<std::uint8_t, 32>& aux) const noexcept {
    const Keypair keypair(secret_);
    return signature_of(keypair.pair, message, aux);
}

SigningKey::SigningKey(const SecretKey& key) noexcept {
    const Keypair keypair(key.bytes());
    static_assert(sizeof keypair.pair.data == sizeof pair_);
    std::copy(std::begin(keypair.pair.data), std::end(keypair.pair.data), pair_.begin());
}

SigningKey::~SigningKey() { wipe(pair_); }

Signature SigningKey::sign(ByteView message) const noexcept {
    secp256k1_keypair pair{};
    std::copy(pair_.begin(), pair_.end(), std::begin(pair.data));
    const Signature out = signature_of(pair, message, {});
    wipe(pair.data);
    return out;
}

std::optional<PublicKey> PublicKey::of(const AccountId& account) noexcept {
    secp256k1_xonly_pubkey point{};
    if (secp256k1_xonly_pubkey_parse(curve_context(), &point, account.data.data()) != 1) {
        return std::nullopt;
    }
    PublicKey key;
    static_assert(sizeof(point.data) == sizeof(key.point_));
    key.point_ = std::bit_cast<decltype(key.point_)>(point);
    return key;
}

bool PublicKey::verifies(ByteView message, const Signature& signature) const noexcept {
    const auto point = std::bit_cast<secp256k1_xonly_pubkey>(point_);
    return secp256k1_schnorrsig_verify(
               curve_context(), signature.data.data(), message.data(), message.size(), &point
           ) == 1;
}

bool verify_signature(const AccountId& signer, ByteView message, const Signature& signature) noexcept {
    const auto key = PublicKey::of(signer);
    return key && key->verifies(message, signature);
}

}  // namespace assay::crypto
