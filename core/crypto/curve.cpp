// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/curve.hpp>

#include <algorithm>

#include <secp256k1.h>
#include <secp256k1_ecdh.h>

#include <core/base/assert.hpp>
#include <core/crypto/curve_context.hpp>
#include <core/crypto/curve_points.hpp>
#include <core/crypto/random.hpp>

namespace assay::crypto {
namespace {

// SEC 2, section 2.4.1.
constexpr CurvePoint kBasePoint{{0x02, 0x79, 0xbe, 0x66, 0x7e, 0xf9, 0xdc, 0xbb, 0xac, 0x55, 0xa0,
                                 0x62, 0x95, 0xce, 0x87, 0x0b, 0x07, 0x02, 0x9b, 0xfc, 0xdb, 0x2d,
                                 0xce, 0x28, 0xd9, 0x59, 0xf2, 0x81, 0x5b, 0x16, 0xf8, 0x17, 0x98}};

// secp256k1_ecdh calls this with the coordinates of the product.
int compress(unsigned char* output, const unsigned char* x32, const unsigned char* y32, void* /*data*/) {
    output[0] = static_cast<unsigned char>(2U | (y32[31] & 1U));
    std::copy_n(x32, 32, output + 1);
    return 1;
}

}  // namespace

std::optional<secp256k1_pubkey> to_library(ByteView sec1) noexcept {
    secp256k1_pubkey point{};
    if (sec1.empty() || secp256k1_ec_pubkey_parse(curve_context(), &point, sec1.data(), sec1.size()) != 1) {
        return std::nullopt;
    }
    return point;
}

CurvePoint from_library(const secp256k1_pubkey& point) noexcept {
    CurvePoint out;
    std::size_t size = out.data.size();
    ASSERT(
        secp256k1_ec_pubkey_serialize(curve_context(), out.data.data(), &size, &point, SECP256K1_EC_COMPRESSED) == 1
    );
    return out;
}

bool is_on_curve(const CurvePoint& point) noexcept { return to_library(point.view()).has_value(); }

std::optional<CurvePoint> lift_x(ByteView x32) noexcept {
    if (x32.size() != 32) {
        return std::nullopt;
    }
    CurvePoint out;
    out.data[0] = 2;
    std::copy(x32.begin(), x32.end(), out.data.begin() + 1);
    return is_on_curve(out) ? std::optional(out) : std::nullopt;
}

const CurvePoint& generator() noexcept { return kBasePoint; }

CurvePoint public_point(const SecretKey& secret) noexcept {
    secp256k1_pubkey point{};
    ASSERT(secp256k1_ec_pubkey_create(curve_context(), &point, secret.bytes().data()) == 1);
    return from_library(point);
}

SecretKey with_even_y(const SecretKey& secret) noexcept {
    if (public_point(secret).data[0] == 2) {
        return secret;
    }
    std::array<std::uint8_t, 32> negative = secret.bytes();
    ASSERT(secp256k1_ec_seckey_negate(curve_context(), negative.data()) == 1);
    auto out = SecretKey::from_bytes(negative);
    wipe(negative);
    return *std::move(out);
}

std::optional<CurvePoint> multiply(const SecretKey& secret, const CurvePoint& point) noexcept {
    const auto factor = to_library(point.view());
    if (!factor) {
        return std::nullopt;
    }
    CurvePoint out;
    ASSERT(secp256k1_ecdh(curve_context(), out.data.data(), &*factor, secret.bytes().data(), compress, nullptr) == 1);
    return out;
}

std::optional<std::array<std::uint8_t, 65>> uncompressed(const CurvePoint& point) noexcept {
    const auto parsed = to_library(point.view());
    if (!parsed) {
        return std::nullopt;
    }
    std::array<std::uint8_t, 65> out{};
    std::size_t size = out.size();
    ASSERT(secp256k1_ec_pubkey_serialize(curve_context(), out.data(), &size, &*parsed, SECP256K1_EC_UNCOMPRESSED) == 1);
    return out;
}

std::optional<CurvePoint> decode_point(ByteView bytes) noexcept {
    // The library also takes 65 bytes that begin with 6 or 7, which SEC 1 calls hybrid.
    if (bytes.size() != 33 && (bytes.size() != 65 || bytes[0] != 4)) {
        return std::nullopt;
    }
    const auto parsed = to_library(bytes);
    return parsed ? std::optional(from_library(*parsed)) : std::nullopt;
}

}  // namespace assay::crypto
