// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>

#include <core/base/fields.hpp>
#include <core/base/result.hpp>

namespace assay {

enum class [[nodiscard]] ArithmeticError : std::uint8_t{
    kOverflow = 1,
    kDivisionByZero = 2,
};

template <std::integral T>
constexpr Result<T, ArithmeticError> checked_add(T a, T b) {
    T out{};
    if (__builtin_add_overflow(a, b, &out)) {
        return Unexpected{ArithmeticError::kOverflow};
    }
    return out;
}

template <std::integral T>
constexpr Result<T, ArithmeticError> checked_sub(T a, T b) {
    T out{};
    if (__builtin_sub_overflow(a, b, &out)) {
        return Unexpected{ArithmeticError::kOverflow};
    }
    return out;
}

template <std::integral T>
constexpr Result<T, ArithmeticError> checked_mul(T a, T b) {
    T out{};
    if (__builtin_mul_overflow(a, b, &out)) {
        return Unexpected{ArithmeticError::kOverflow};
    }
    return out;
}

/// floor(a * b / c) with a 128-bit product; kOverflow when the quotient does not fit.
constexpr Result<std::uint64_t, ArithmeticError> checked_mul_div(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    if (c == 0) {
        return Unexpected{ArithmeticError::kDivisionByZero};
    }
    __extension__ using Wide = unsigned __int128;
    const Wide quotient = static_cast<Wide>(a) * b / c;
    if (quotient > std::numeric_limits<std::uint64_t>::max()) {
        return Unexpected{ArithmeticError::kOverflow};
    }
    return static_cast<std::uint64_t>(quotient);
}

/// ceil(a / b) for b > 0.
template <std::unsigned_integral T>
constexpr T div_ceil(T a, T b) {
    return a / b + (a % b != 0 ? T{1} : T{0});
}

inline constexpr std::uint64_t kMaxU64 = std::numeric_limits<std::uint64_t>::max();

inline constexpr std::uint64_t kGrainsPerAsy = 1'000'000'000;

/// Money in grains; kGrainsPerAsy of them are 1 ASY. Arithmetic is checked: there is no operator+.
struct Amount {
    std::uint64_t grains = 0;
    constexpr auto operator<=>(const Amount&) const = default;
    static constexpr auto fields() { return Fields<&Amount::grains>{}; }
};

constexpr Result<Amount, ArithmeticError> checked_add(Amount a, Amount b) {
    TRY_ASSIGN(const std::uint64_t grains, checked_add(a.grains, b.grains));
    return Amount{grains};
}

constexpr Result<Amount, ArithmeticError> checked_sub(Amount a, Amount b) {
    TRY_ASSIGN(const std::uint64_t grains, checked_sub(a.grains, b.grains));
    return Amount{grains};
}

/// A block's position in the chain; genesis state is height 0, the first block is 1.
struct Height {
    std::uint64_t value = 0;
    constexpr auto operator<=>(const Height&) const = default;
    static constexpr auto fields() { return Fields<&Height::value>{}; }
};

}  // namespace assay
