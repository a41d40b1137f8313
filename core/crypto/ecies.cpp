// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/ecies.hpp>

#include <algorithm>

#include <crypto++/hkdf.h>
#include <crypto++/sha.h>

#include <core/crypto/aead.hpp>
#include <core/crypto/random.hpp>

namespace assay::crypto {
namespace {

constexpr std::size_t kLongPointBytes = 65;

/// HKDF-SHA256 (RFC 5869) over both points, without salt and info.
std::optional<AeadKey> derive_key(const CurvePoint& ephemeral, const CurvePoint& shared) {
    const auto first = uncompressed(ephemeral);
    const auto second = uncompressed(shared);
    if (!first || !second) {
        return std::nullopt;
    }
    std::array<std::uint8_t, 2 * kLongPointBytes> points{};
    std::copy(first->begin(), first->end(), points.begin());
    std::copy(second->begin(), second->end(), points.begin() + kLongPointBytes);
    AeadKey key;
    CryptoPP::HKDF<CryptoPP::SHA256>().DeriveKey(
        key.data.data(), key.data.size(), points.data(), points.size(), nullptr, 0, nullptr, 0
    );
    wipe(points);
    return key;
}

}  // namespace

EciesEntropy draw_ecies_entropy() {
    EciesEntropy out;
    out.ephemeral = SecretKey::generate().bytes();
    fill_random(out.nonce);
    return out;
}

std::optional<Bytes> seal_to(const AccountId& reader, ByteView plaintext, const EciesEntropy& entropy) noexcept {
    const auto point = lift_x(reader.view());
    const auto secret = SecretKey::from_bytes(entropy.ephemeral);
    if (!point || !secret) {
        return std::nullopt;
    }
    const CurvePoint ephemeral = public_point(*secret);
    const auto shared = multiply(*secret, *point);
    auto key = derive_key(ephemeral, *shared);
    const Bytes sealed = seal_aead(*key, entropy.nonce, {}, plaintext);
    wipe(key->data);
    // The scheme has the tag before the ciphertext.
    const ByteView ciphertext = ByteView(sealed).first(plaintext.size());
    const ByteView tag = ByteView(sealed).last(kAeadTagBytes);
    Bytes out;
    out.reserve(kEciesOverhead + plaintext.size());
    const auto shown = uncompressed(ephemeral);
    for (const ByteView part : {ByteView(*shown), ByteView(entropy.nonce), tag, ciphertext}) {
        append(out, part);
    }
    return out;
}

std::optional<CurvePoint> ephemeral_point(ByteView sealed) noexcept {
    return sealed.size() < kEciesOverhead ? std::nullopt : decode_point(sealed.first(kLongPointBytes));
}

std::optional<CurvePoint> shared_point(const SecretKey& reader, ByteView sealed) noexcept {
    const auto ephemeral = ephemeral_point(sealed);
    return ephemeral ? multiply(with_even_y(reader), *ephemeral) : std::nullopt;
}

std::optional<Bytes> open_with_key(const SecretKey& reader, ByteView sealed) noexcept {
    const auto shared = shared_point(reader, sealed);
    return shared ? open_with_shared_point(*shared, sealed) : std::nullopt;
}

std::optional<Bytes> open_with_shared_point(const CurvePoint& shared, ByteView sealed) noexcept {
    const auto ephemeral = ephemeral_point(sealed);
    auto key = ephemeral ? derive_key(*ephemeral, shared) : std::nullopt;
    if (!key) {
        return std::nullopt;
    }
    const ByteView nonce = sealed.subspan(kLongPointBytes, kLongNonceBytes);
    const ByteView tag = sealed.subspan(kLongPointBytes + kLongNonceBytes, kAeadTagBytes);
    Bytes ordered;
    append(ordered, sealed.subspan(kEciesOverhead));
    append(ordered, tag);
    auto plaintext = open_aead(*key, nonce, {}, ordered);
    wipe(key->data);
    return plaintext;
}

}  // namespace assay::crypto
