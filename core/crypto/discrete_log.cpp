// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/discrete_log.hpp>

#include <algorithm>
#include <initializer_list>

#include <secp256k1.h>

#include <core/base/assert.hpp>
#include <core/crypto/curve_context.hpp>
#include <core/crypto/curve_points.hpp>
#include <core/crypto/hash.hpp>
#include <core/crypto/random.hpp>

namespace assay::crypto {
namespace {

using Scalar = std::array<std::uint8_t, 32>;

// The order n of the group (SEC 2, section 2.4.1).
constexpr Scalar kGroupOrder{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                             0xff, 0xff, 0xff, 0xff, 0xfe, 0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48,
                             0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41};

/// The number modulo n. One subtraction is enough, since 2 n exceeds 2^256. Takes the same time for every number.
Scalar reduced(const Scalar& number) {
    Scalar difference{};
    unsigned borrow = 0;
    for (std::size_t i = 32; i-- > 0;) {
        const unsigned digit = 256U + number[i] - kGroupOrder[i] - borrow;
        difference[i] = static_cast<std::uint8_t>(digit & 0xffU);
        borrow = 1U - (digit >> 8U);
    }
    const auto keep = static_cast<std::uint8_t>(0U - borrow);  // all ones if the number is below n
    for (std::size_t i = 0; i < 32; ++i) {
        difference[i] =
            static_cast<std::uint8_t>((number[i] & keep) | (difference[i] & static_cast<std::uint8_t>(~keep)));
    }
    return difference;
}

bool is_zero(const Scalar& scalar) {
    return std::all_of(scalar.begin(), scalar.end(), [](std::uint8_t byte) { return byte == 0; });
}

/// BIP-374's challenge, not yet reduced modulo n.
Scalar challenge(const EqualLogs& s, const CurvePoint& r1, const CurvePoint& r2, ByteView message) {
    static const TaggedHash kHash("BIP0374/challenge");
    Bytes points;
    for (const CurvePoint* point : {&s.key, &s.base, &s.product, &s.generator, &r1, &r2}) {
        append(points, point->view());
    }
    return kHash(points, message).data;
}

/// BIP-374's deterministic nonce; nullopt if it is zero.
std::optional<SecretKey> make_nonce(
    const SecretKey& secret, const Scalar& aux, const CurvePoint& key, const CurvePoint& product, ByteView message
) {
    static const TaggedHash kAux("BIP0374/aux");
    static const TaggedHash kNonce("BIP0374/nonce");
    Scalar masked = kAux(aux).data;
    for (std::size_t i = 0; i < masked.size(); ++i) {
        masked[i] ^= secret.bytes()[i];
    }
    Bytes rest;
    for (const ByteView part : {key.view(), product.view(), message}) {
        append(rest, part);
    }
    Scalar drawn = kNonce(masked, rest).data;
    Scalar scalar = reduced(drawn);
    const auto nonce = SecretKey::from_bytes(scalar);
    wipe(masked);
    wipe(drawn);
    wipe(scalar);
    return nonce ? std::optional(*nonce) : std::nullopt;
}

/// s * g - e * p for public numbers; nullopt if it is the point at infinity, or one of the points is none.
std::optional<CurvePoint> combination(const CurvePoint& g, const Scalar& s, const CurvePoint& p, const Scalar& e) {
    auto first = to_library(g.view());
    auto second = to_library(p.view());
    if (!first || !second) {
        return std::nullopt;
    }
    std::array<const secp256k1_pubkey*, 2> terms{};
    std::size_t count = 0;
    if (!is_zero(s)) {
        const int made = g == generator() ? secp256k1_ec_pubkey_create(curve_context(), &*first, s.data())
                                          : secp256k1_ec_pubkey_tweak_mul(curve_context(), &*first, s.data());
        ASSERT(made == 1);
        terms[count++] = &*first;
    }
    if (!is_zero(e)) {
        ASSERT(secp256k1_ec_pubkey_tweak_mul(curve_context(), &*second, e.data()) == 1);
        ASSERT(secp256k1_ec_pubkey_negate(curve_context(), &*second) == 1);
        terms[count++] = &*second;
    }
    secp256k1_pubkey sum{};
    if (count == 0 || secp256k1_ec_pubkey_combine(curve_context(), &sum, terms.data(), count) != 1) {
        return std::nullopt;
    }
    return from_library(sum);
}

}  // namespace

std::optional<DlogProof> prove_equal_logs(
    const SecretKey& secret, const CurvePoint& base, const std::array<std::uint8_t, 32>& aux, ByteView message,
    const CurvePoint& generator
) noexcept {
    const auto key = multiply(secret, generator);
    const auto product = multiply(secret, base);
    if (!key || !product || (!message.empty() && message.size() != 32)) {
        return std::nullopt;
    }
    const EqualLogs statement{.key = *key, .base = base, .product = *product, .generator = generator};
    const auto nonce = make_nonce(secret, aux, *key, *product, message);
    if (!nonce) {
        return std::nullopt;
    }
    const auto r1 = multiply(*nonce, generator);
    const auto r2 = multiply(*nonce, base);
    const Scalar drawn = challenge(statement, *r1, *r2, message);
    const Scalar e = reduced(drawn);
    Scalar s = secret.bytes();
    const bool made = secp256k1_ec_seckey_tweak_mul(curve_context(), s.data(), e.data()) == 1 &&
                      secp256k1_ec_seckey_tweak_add(curve_context(), s.data(), nonce->bytes().data()) == 1;
    DlogProof proof;
    std::copy(drawn.begin(), drawn.end(), proof.data.begin());
    std::copy(s.begin(), s.end(), proof.data.begin() + 32);
    if (!made || !verify_equal_logs(statement, proof, message)) {
        wipe(s);
        return std::nullopt;
    }
    return proof;
}

bool verify_equal_logs(const EqualLogs& statement, const DlogProof& proof, ByteView message) noexcept {
    Scalar drawn{};
    Scalar s{};
    std::copy_n(proof.data.begin(), 32, drawn.begin());
    std::copy_n(proof.data.begin() + 32, 32, s.begin());
    if ((!message.empty() && message.size() != 32) || reduced(s) != s) {
        return false;
    }
    const Scalar e = reduced(drawn);
    const auto r1 = combination(statement.generator, s, statement.key, e);
    const auto r2 = combination(statement.base, s, statement.product, e);
    return r1 && r2 && challenge(statement, *r1, *r2, message) == drawn;
}

}  // namespace assay::crypto
