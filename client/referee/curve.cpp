// SPDX-License-Identifier: Apache-2.0
#include <client/referee/curve.hpp>

namespace assay::referee::curve {

const Number kOrder{0xd0364141, 0xbfd25e8c, 0xaf48a03b, 0xbaaedce6, 0xfffffffe, 0xffffffff, 0xffffffff, 0xffffffff};
const Number kPrime{0xfffffc2f, 0xfffffffe, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff};
const Point kGenerator{
    {{0x16f81798, 0x59f2815b, 0x2dce28d9, 0x029bfcdb, 0xce870b07, 0x55a06295, 0xf9dcbbac, 0x79be667e}},
    {{0xfb10d4b8, 0x9c47d08f, 0xa6855419, 0xfd17b448, 0x0e1108a8, 0x5da4fbfc, 0x26a3c465, 0x483ada77}},
    {{1}}};

namespace {

/// The prime is 2^256 - 2^32 - kFold, so that 2^256 is congruent to 2^32 + kFold.
constexpr std::uint64_t kFold = 977;
/// The prime less 2: the exponent of inverses.
constexpr Number kInverse{0xfffffc2d, 0xfffffffe, 0xffffffff, 0xffffffff,
                          0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff};
/// Three times the 7 of y^2 = x^3 + 7.
constexpr Number kB3{21};

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }

/// a - b modulo 2^256 into `out`; returns the borrow.
std::uint32_t subtract(const Number& a, const Number& b, Number& out) {
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < kWords; ++i) {
        const std::uint64_t difference = std::uint64_t{a[i]} - b[i] - borrow;
        out[i] = low(difference);
        borrow = difference >> 63U;
    }
    return low(borrow);
}

/// a + b modulo 2^256 into `out`; returns the carry.
std::uint32_t add(const Number& a, const Number& b, Number& out) {
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < kWords; ++i) {
        carry += std::uint64_t{a[i]} + b[i];
        out[i] = low(carry);
        carry >>= 32U;
    }
    return low(carry);
}

/// a + carry * 2^256 less `modulus` if it is not below it; the sum is below twice the modulus.
Number reduce_once(const Number& a, std::uint32_t carry, const Number& modulus) {
    Number less{};
    const std::uint32_t borrow = subtract(a, modulus, less);
    return choose(mask_of(borrow & (carry ^ 1U)), a, less);
}

/// a + top * (2^32 + kFold) into `a`; returns what goes beyond 2^256. `top` is below 2^40.
std::uint64_t fold(Number& a, std::uint64_t top) {
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
    return carry >> 32U;
}

}  // namespace

Number decode(ByteView big_endian) {
    Number out{};
    for (std::size_t i = 0; i < 4 * kWords; ++i) {
        const std::size_t from_end = 4 * kWords - 1 - i;
        out[from_end / 4] |= std::uint32_t{big_endian[i]} << (8 * (from_end % 4));
    }
    return out;
}

std::array<std::uint8_t, 4 * kWords> encode(const Number& a) {
    std::array<std::uint8_t, 4 * kWords> out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t from_end = out.size() - 1 - i;
        out[i] = static_cast<std::uint8_t>(a[from_end / 4] >> (8 * (from_end % 4)));
    }
    return out;
}

std::uint32_t mask_of(std::uint32_t bit) {
    std::uint32_t mask = 0U - bit;
    asm volatile("" : "+r"(mask));
    return mask;
}

std::uint32_t is_zero(const Number& a) {
    std::uint32_t any = 0;
    for (const std::uint32_t word : a) {
        any |= word;
    }
    // The highest bit of any | -any is set unless it is 0.
    return mask_of(((any | (0U - any)) >> 31U) ^ 1U);
}

std::uint32_t is_below(const Number& a, const Number& b) {
    Number ignored{};
    return mask_of(subtract(a, b, ignored));
}

Number choose(std::uint32_t mask, const Number& yes, const Number& no) {
    Number out{};
    for (std::size_t i = 0; i < kWords; ++i) {
        out[i] = (yes[i] & mask) | (no[i] & ~mask);
    }
    return out;
}

Number add_modulo(const Number& a, const Number& b, const Number& modulus) {
    Number sum{};
    const std::uint32_t carry = add(a, b, sum);
    return reduce_once(sum, carry, modulus);
}

Number subtract(const Number& a, const Number& b) {
    Number out{};
    subtract(a, b, out);
    return out;
}

Number to_scalar(const Number& a) { return reduce_once(a, 0, kOrder); }

Element operator+(const Element& a, const Element& b) { return {add_modulo(a.value, b.value, kPrime)}; }

Element operator-(const Element& a, const Element& b) {
    Number out{};
    const std::uint32_t borrow = subtract(a.value, b.value, out);
    Number wrapped{};
    add(out, kPrime, wrapped);
    return {choose(mask_of(borrow), wrapped, out)};
}

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
    Number folded{};
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < kWords; ++i) {
        const std::uint32_t shifted = i == 0 ? 0 : product[kWords + i - 1];
        carry += product[i] + product[kWords + i] * kFold + shifted;
        folded[i] = low(carry);
        carry >>= 32U;
    }
    // What is left above 2^256 is below 2^34, then at most 1, then nothing.
    const std::uint64_t top = fold(folded, carry + product[2 * kWords - 1]);
    fold(folded, top);
    return {reduce_once(folded, 0, kPrime)};
}

Element power(const Element& base, const Number& exponent) {
    Element out{Number{1}};
    for (std::size_t i = kBits; i-- > 0;) {
        out = out * out;
        if (bit_of(exponent, i) != 0) {
            out = out * base;
        }
    }
    return out;
}

Element invert(const Element& a) { return power(a, kInverse); }

/// The complete formula for curves y^2 = x^3 + b: right for every pair of points, so nothing has to be distinguished
/// (Renes, Costello and Batina 2016, algorithm 7).
Point add(const Point& p, const Point& q) {
    const Element b3{kB3};
    const Element xx = p.x * q.x;
    const Element yy = p.y * q.y;
    const Element zz = p.z * q.z;
    const Element xy = (p.x + p.y) * (q.x + q.y) - (xx + yy);
    const Element yz = (p.y + p.z) * (q.y + q.z) - (yy + zz);
    const Element xz = (p.x + p.z) * (q.x + q.z) - (xx + zz);
    const Element xx3 = xx + xx + xx;
    const Element bzz = b3 * zz;
    const Element sum = yy + bzz;
    const Element difference = yy - bzz;
    const Element bxz = b3 * xz;
    return {xy * difference - yz * bxz, difference * sum + bxz * xx3, yz * sum + xy * xx3};
}

Point choose(std::uint32_t mask, const Point& yes, const Point& no) {
    return {
        {choose(mask, yes.x.value, no.x.value)},
        {choose(mask, yes.y.value, no.y.value)},
        {choose(mask, yes.z.value, no.z.value)}};
}

}  // namespace assay::referee::curve
