// SPDX-License-Identifier: Apache-2.0
#include <client/referee/schnorr.hpp>

#include <array>
#include <cstddef>
#include <optional>

#include <client/referee/curve.hpp>
#include <client/referee/sha256.hpp>

namespace assay::referee {
namespace {

using curve::Element;
using curve::Number;
using curve::Point;

/// A quarter of the prime plus 1: the exponent of square roots.
constexpr Number kRoot{0xbfffff0c, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x3fffffff};
constexpr Number kSeven{7};

bool is_below(const Number& a, const Number& b) { return curve::is_below(a, b) != 0; }
bool is_odd(const Element& a) { return (a.value[0] & 1U) != 0; }
Element negate(const Element& a) { return Element{} - a; }

/// The point with this x and an even y.
std::optional<Point> lift(const Number& x) {
    if (!is_below(x, curve::kPrime)) {
        return std::nullopt;
    }
    const Element element{x};
    const Element square = element * element * element + Element{kSeven};
    const Element y = power(square, kRoot);
    if (y * y != square) {
        return std::nullopt;
    }
    return Point{element, is_odd(y) ? negate(y) : y, {Number{1}}};
}

/// a * P + b * Q, by going through the bits of both factors at once. They are public.
Point add_multiples(const Number& a, const Point& p, const Number& b, const Point& q) {
    const std::array<Point, 4> sums{Point{}, p, q, add(p, q)};
    Point out;
    for (std::size_t i = curve::kBits; i-- > 0;) {
        out = add(out, out);
        if (const std::size_t both = curve::bit_of(a, i) + 2 * curve::bit_of(b, i); both != 0) {
            out = add(out, sums[both]);
        }
    }
    return out;
}

Number challenge(ByteView r, const AccountId& signer, ByteView message) {
    static const Hash256 kTag = PlainSha256().update(as_bytes("BIP0340/challenge")).finish();
    const Hash256 digest =
        PlainSha256().update(kTag.view()).update(kTag.view()).update(r).update(signer.view()).update(message).finish();
    return curve::to_scalar(curve::decode(digest.view()));
}

}  // namespace

bool is_x_of_point(ByteView x32) noexcept { return lift(curve::decode(x32)).has_value(); }

bool verify_schnorr(const AccountId& signer, ByteView message, const Signature& signature) noexcept {
    const ByteView r_bytes = signature.view().first(4 * curve::kWords);
    const Number r = curve::decode(r_bytes);
    const Number s = curve::decode(signature.view().subspan(4 * curve::kWords));
    const auto key = lift(curve::decode(signer.view()));
    if (!key || !is_below(r, curve::kPrime) || !is_below(s, curve::kOrder)) {
        return false;
    }
    const Point minus_key{key->x, negate(key->y), key->z};
    const Point point = add_multiples(s, curve::kGenerator, challenge(r_bytes, signer, message), minus_key);
    if (point.z == Element{}) {
        return false;
    }
    const Element inverse = invert(point.z);
    return point.x * inverse == Element{r} && !is_odd(point.y * inverse);
}

}  // namespace assay::referee
