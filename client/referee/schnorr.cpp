// SPDX-License-Identifier: Apache-2.0
#include <client/referee/schnorr.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <client/referee/sha256.hpp>

namespace assay::referee {
namespace {

constexpr std::size_t kWords = 8;
/// A number below 2^256; the word of the least weight first.
using Number = std::array<std::uint32_t, kWords>;

/// The prime of the field is 2^256 - 2^32 - kFold, so that 2^256 is congruent to 2^32 + kFold.
constexpr std::uint64_t kFold = 977;
constexpr Number kPrime{0xfffffc2f, 0xfffffffe, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff};
/// The prime less 2, and a quarter of the prime plus 1: exponents of inverses and of square roots.
constexpr Number kInverse{0xfffffc2d, 0xfffffffe, 0xffffffff, 0xffffffff,
                          0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff};
constexpr Number kRoot{0xbfffff0c, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x3fffffff};
/// The order of the group.
constexpr Number kOrder{0xd0364141, 0xbfd25e8c, 0xaf48a03b, 0xbaaedce6, 0xfffffffe, 0xffffffff, 0xffffffff, 0xffffffff};
/// The generator.
constexpr Number kX{0x16f81798, 0x59f2815b, 0x2dce28d9, 0x029bfcdb, 0xce870b07, 0x55a06295, 0xf9dcbbac, 0x79be667e};
constexpr Number kY{0xfb10d4b8, 0x9c47d08f, 0xa6855419, 0xfd17b448, 0x0e1108a8, 0x5da4fbfc, 0x26a3c465, 0x483ada77};
constexpr Number kOne{1};
constexpr Number kSeven{7};

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }

Number decode(ByteView big_endian) {
    Number out{};
    for (std::size_t i = 0; i < 4 * kWords; ++i) {
        const std::size_t from_end = 4 * kWords - 1 - i;
        out[from_end / 4] |= std::uint32_t{big_endian[i]} << (8 * (from_end % 4));
    }
    return out;
}

bool is_below(const Number& a, const Number& b) {
    for (std::size_t i = kWords; i-- > 0;) {
        if (a[i] != b[i]) {
            return a[i] < b[i];
        }
    }
    return false;
}

bool is_odd(const Number& a) { return (a[0] & 1U) != 0; }
bool bit_of(const Number& a, std::size_t index) { return (a[index / 32] >> (index % 32) & 1U) != 0; }

/// a - b modulo 2^256.
Number subtract(const Number& a, const Number& b) {
    Number out{};
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < kWords; ++i) {
        const std::uint64_t difference = std::uint64_t{a[i]} - b[i] - borrow;
        out[i] = low(difference);
        borrow = difference >> 63U;
    }
    return out;
}

/// a + top * 2^256 modulo the prime, for `top` below 2^40.
Number reduce(Number a, std::uint64_t top) {
    while (top != 0) {
        const std::uint64_t upper = top >> 32U;
        std::uint64_t carry = a[0] + low(top) * kFold;
        a[0] = low(carry);
        carry = (carry >> 32U) + a[1] + low(top) + upper * kFold;
        a[1] = low(carry);
        carry = (carry >> 32U) + a[2] + upper;
        a[2] = low(carry);
        for (std::size_t i = 3; i < kWords; ++i) {
            carry = (carry >> 32U) + a[i];
            a[i] = low(carry);
        }
        top = carry >> 32U;
    }
    return is_below(a, kPrime) ? a : subtract(a, kPrime);
}

/// An element of the field. Always below the prime.
struct Element {
    Number value{};
    bool operator==(const Element&) const = default;
    bool is_zero() const { return value == Number{}; }
};

Element operator+(const Element& a, const Element& b) {
    Number sum{};
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < kWords; ++i) {
        carry += std::uint64_t{a.value[i]} + b.value[i];
        sum[i] = low(carry);
        carry >>= 32U;
    }
    return {reduce(sum, carry)};
}

Element negate(const Element& a) { return a.is_zero() ? a : Element{subtract(kPrime, a.value)}; }
Element operator-(const Element& a, const Element& b) { return a + negate(b); }

Element operator*(const Element& a, const Element& b) {
    std::array<std::uint32_t, 2 * kWords> product{};
    for (std::size_t i = 0; i < kWords; ++i) {
        std::uint64_t carry = 0;
        for (std::size_t j = 0; j < kWords; ++j) {
            carry += product[i + j] + std::uint64_t{a.value[i]} * b.value[j];
            product[i + j] = low(carry);
            carry >>= 32U;
        }
        product[i + kWords] = low(carry);
    }
    // The upper half weighs 2^256, which is 2^32 + kFold.
    Number folded{};
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < kWords; ++i) {
        const std::uint32_t shifted = i == 0 ? 0 : product[kWords + i - 1];
        carry += product[i] + product[kWords + i] * kFold + shifted;
        folded[i] = low(carry);
        carry >>= 32U;
    }
    return {reduce(folded, carry + product[2 * kWords - 1])};
}

Element power(const Element& base, const Number& exponent) {
    Element out{kOne};
    for (std::size_t i = 32 * kWords; i-- > 0;) {
        out = out * out;
        if (bit_of(exponent, i)) {
            out = out * base;
        }
    }
    return out;
}

/// A point of the curve y^2 = x^3 + 7 in Jacobian coordinates: x / z^2, y / z^3; z is 0 for the neutral element.
struct Point {
    Element x;
    Element y;
    Element z;
    bool is_neutral() const { return z.is_zero(); }
};

Point twice(const Point& p) {
    if (p.is_neutral() || p.y.is_zero()) {
        return {};
    }
    const Element yy = p.y * p.y;
    const Element xyy = p.x * yy;
    const Element s = xyy + xyy + xyy + xyy;
    const Element xx = p.x * p.x;
    const Element m = xx + xx + xx;
    const Element yyyy = yy * yy;
    const Element yyyy2 = yyyy + yyyy;
    const Element yyyy8 = yyyy2 + yyyy2 + yyyy2 + yyyy2;
    const Element yz = p.y * p.z;
    Point out;
    out.x = m * m - s - s;
    out.y = m * (s - out.x) - yyyy8;
    out.z = yz + yz;
    return out;
}

Point add(const Point& p, const Point& q) {
    if (p.is_neutral() || q.is_neutral()) {
        return p.is_neutral() ? q : p;
    }
    const Element pzz = p.z * p.z;
    const Element qzz = q.z * q.z;
    const Element px = p.x * qzz;
    const Element qx = q.x * pzz;
    const Element py = p.y * qzz * q.z;
    const Element qy = q.y * pzz * p.z;
    if (px == qx) {
        return py == qy ? twice(p) : Point{};
    }
    const Element h = qx - px;
    const Element r = qy - py;
    const Element hh = h * h;
    const Element hhh = hh * h;
    const Element v = px * hh;
    Point out;
    out.x = r * r - hhh - v - v;
    out.y = r * (v - out.x) - py * hhh;
    out.z = p.z * q.z * h;
    return out;
}

/// The point with this x and an even y.
std::optional<Point> lift(const Number& x) {
    if (!is_below(x, kPrime)) {
        return std::nullopt;
    }
    const Element element{x};
    const Element square = element * element * element + Element{kSeven};
    const Element y = power(square, kRoot);
    if (y * y != square) {
        return std::nullopt;
    }
    return Point{element, is_odd(y.value) ? negate(y) : y, {kOne}};
}

/// a * P + b * Q, by going through the bits of both factors at once.
Point add_multiples(const Number& a, const Point& p, const Number& b, const Point& q) {
    const std::array<Point, 4> sums{Point{}, p, q, add(p, q)};
    Point out;
    for (std::size_t i = 32 * kWords; i-- > 0;) {
        out = add(twice(out), sums[(bit_of(a, i) ? 1U : 0U) + (bit_of(b, i) ? 2U : 0U)]);
    }
    return out;
}

Number challenge(ByteView r, const AccountId& signer, ByteView message) {
    static const Hash256 kTag = PlainSha256().update(as_bytes("BIP0340/challenge")).finish();
    const Hash256 digest =
        PlainSha256().update(kTag.view()).update(kTag.view()).update(r).update(signer.view()).update(message).finish();
    const Number e = decode(digest.view());
    return is_below(e, kOrder) ? e : subtract(e, kOrder);
}

}  // namespace

bool is_x_of_point(ByteView x32) noexcept { return lift(decode(x32)).has_value(); }

bool verify_schnorr(const AccountId& signer, ByteView message, const Signature& signature) noexcept {
    const ByteView r_bytes = signature.view().first(4 * kWords);
    const Number r = decode(r_bytes);
    const Number s = decode(signature.view().subspan(4 * kWords));
    const auto key = lift(decode(signer.view()));
    if (!key || !is_below(r, kPrime) || !is_below(s, kOrder)) {
        return false;
    }
    const Point minus_key{key->x, negate(key->y), key->z};
    const Point point = add_multiples(s, {{kX}, {kY}, {kOne}}, challenge(r_bytes, signer, message), minus_key);
    if (point.is_neutral()) {
        return false;
    }
    const Element inverse = power(point.z, kInverse);
    const Element inverse2 = inverse * inverse;
    return point.x * inverse2 == Element{r} && !is_odd((point.y * inverse2 * inverse).value);
}

}  // namespace assay::referee
