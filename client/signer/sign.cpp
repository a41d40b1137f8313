// SPDX-License-Identifier: Apache-2.0
#include <client/signer/sign.hpp>

#include <algorithm>
#include <string_view>

#include <client/referee/schnorr.hpp>
#include <client/referee/sha256.hpp>
#include <client/signer/curve.hpp>

namespace assay::signer {
namespace {

using referee::curve::choose;
using referee::curve::decode;
using referee::curve::encode;
using referee::curve::is_below;
using referee::curve::is_zero;
using referee::curve::kOrder;
using referee::curve::to_scalar;

using Bytes32 = std::array<std::uint8_t, 32>;

/// BIP-340's hash of parts under a tag.
Hash256 tagged(std::string_view tag, ByteView first, ByteView second = {}, ByteView third = {}) {
    const Hash256 digest = referee::PlainSha256().update(as_bytes(tag)).finish();
    return referee::PlainSha256()
        .update(digest.view())
        .update(digest.view())
        .update(first)
        .update(second)
        .update(third)
        .finish();
}

/// The key as BIP-340 uses it: the secret whose point has an even y.
struct Key {
    Number secret;
    Bytes32 x;
};

std::optional<Key> key_of(const Secret& secret) {
    Number number = decode(secret);
    // Whether a secret is valid is no secret.
    if (is_zero(number) != 0 || is_below(number, kOrder) == 0) {
        return std::nullopt;
    }
    const AffinePoint point = multiply_generator(number);
    Key key{choose(point.y_is_odd, negate_scalar(number), number), encode(point.x)};
    wipe(number);
    return key;
}

}  // namespace

std::optional<AccountId> account_of(const Secret& secret) noexcept {
    auto key = key_of(secret);
    if (!key) {
        return std::nullopt;
    }
    wipe(key->secret);
    return AccountId{key->x};
}

std::optional<Signature> sign_schnorr(const Secret& secret, ByteView message, const Bytes32& aux) noexcept {
    auto key = key_of(secret);
    if (!key) {
        return std::nullopt;
    }
    Bytes32 masked = encode(key->secret);
    const Hash256 mask = tagged("BIP0340/aux", aux);
    std::transform(masked.begin(), masked.end(), mask.data.begin(), masked.begin(), [](auto a, auto b) {
        return static_cast<std::uint8_t>(a ^ b);
    });
    Hash256 seed = tagged("BIP0340/nonce", masked, key->x, message);
    Number nonce = to_scalar(decode(seed.view()));
    std::optional<Signature> out;
    if (is_zero(nonce) == 0) {  // happens with a chance of 2^-256
        const AffinePoint point = multiply_generator(nonce);
        nonce = choose(point.y_is_odd, negate_scalar(nonce), nonce);
        const Bytes32 r = encode(point.x);
        const Number challenge = to_scalar(decode(tagged("BIP0340/challenge", r, key->x, message).view()));
        const Bytes32 s = encode(add_scalars(nonce, multiply_scalars(challenge, key->secret)));
        Signature signature;
        std::copy(r.begin(), r.end(), signature.data.begin());
        std::copy(s.begin(), s.end(), signature.data.begin() + 32);
        // A fault in the computation could give the secret away with the signature.
        if (referee::verify_schnorr(AccountId{key->x}, message, signature)) {
            out = signature;
        }
    }
    wipe(key->secret);
    wipe(masked);
    wipe(seed);
    wipe(nonce);
    return out;
}

}  // namespace assay::signer
