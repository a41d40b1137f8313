// SPDX-License-Identifier: Apache-2.0
#include <core/base/bytes.hpp>

#include <limits>
#include <string>

#include <doctest/doctest.h>

#include <core/base/integers.hpp>
#include <core/base/result.hpp>

namespace assay {
namespace {

enum class Refusal : std::uint8_t { kOdd = 1, kZero = 2 };

Result<int, Refusal> half(int value) {
    if (value % 2 != 0) {
        return Unexpected{Refusal::kOdd};
    }
    return value / 2;
}

Result<void, Refusal> refuse_zero(int value) {
    if (value == 0) {
        return Unexpected{Refusal::kZero};
    }
    return {};
}

Result<std::string, Refusal> quarter_text(int value) {
    TRY(refuse_zero(value));
    TRY_ASSIGN(const int once, half(value));
    TRY_ASSIGN(const int twice, half(once));
    return std::to_string(twice);
}

TEST_CASE("a result carries a value or the error of the first step that failed") {
    CHECK(*quarter_text(8) == "2");
    CHECK(quarter_text(8)->size() == 1);
    CHECK(quarter_text(0).error() == Refusal::kZero);
    CHECK(quarter_text(3).error() == Refusal::kOdd);
    CHECK(quarter_text(6).error() == Refusal::kOdd);
    CHECK(refuse_zero(1).has_value());
}

TEST_CASE("checked sums and products are exact or an error") {
    struct Row {
        std::uint8_t a, b;
    };
    constexpr std::uint8_t kMax = std::numeric_limits<std::uint8_t>::max();
    for (int a = 0; a <= kMax; ++a) {
        for (int b = 0; b <= kMax; ++b) {
            const Row row{static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)};
            const auto sum = checked_add(row.a, row.b);
            const auto difference = checked_sub(row.a, row.b);
            const auto product = checked_mul(row.a, row.b);
            REQUIRE(sum.has_value() == (a + b <= kMax));
            REQUIRE(difference.has_value() == (a >= b));
            REQUIRE(product.has_value() == (a * b <= kMax));
            REQUIRE((!sum || int{*sum} == a + b));
            REQUIRE((!difference || int{*difference} == a - b));
            REQUIRE((!product || int{*product} == a * b));
        }
    }
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
    CHECK(checked_add<std::int64_t>(kLeast, -1).error() == ArithmeticError::kOverflow);
}

TEST_CASE("checked mul div keeps the whole product before it divides") {
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    CHECK(*checked_mul_div(kMax, kMax, kMax) == kMax);
    CHECK(*checked_mul_div(kMax, 2, 4) == kMax / 2);
    CHECK(*checked_mul_div(7, 3, 2) == 10);
    CHECK(checked_mul_div(kMax, 2, 1).error() == ArithmeticError::kOverflow);
    CHECK(checked_mul_div(1, 1, 0).error() == ArithmeticError::kDivisionByZero);
    CHECK(div_ceil<std::uint64_t>(kMax, 2) == (kMax / 2) + 1);
    CHECK(div_ceil<std::uint32_t>(8, 4) == 2);
}

TEST_CASE("amounts never wrap") {
    const Amount one{1};
    const Amount most{std::numeric_limits<std::uint64_t>::max()};
    CHECK(checked_add(most, one).error() == ArithmeticError::kOverflow);
    CHECK(checked_sub(one, most).error() == ArithmeticError::kOverflow);
    CHECK(*checked_sub(most, most) == Amount{0});
}

TEST_CASE("hex is read in both cases and written in lower case") {
    CHECK(to_hex(Bytes{0x00, 0x9a, 0xff}) == "009aff");
    CHECK(from_hex("009AfF") == Bytes{0x00, 0x9a, 0xff});
    CHECK(from_hex("")->empty());
    for (const char* bad : {"0", "0g", "g0", "0x", " 0", "00 "}) {
        CHECK_FALSE(from_hex(bad).has_value());
    }
    const std::string digest(64, 'a');
    CHECK(to_hex(fixed_from_hex<Hash256>(digest)->view()) == digest);
    CHECK_FALSE(fixed_from_hex<Hash256>(digest + "aa").has_value());
    CHECK_FALSE(fixed_from_hex<Hash256>("aa").has_value());
    CHECK(Hash256{}.is_zero());
}

TEST_CASE("fixed bytes are ordered from the first byte on, by the compiler and by the machine alike") {
    using Three = FixedBytes<struct OrderTag, 3>;
    constexpr Three kLow{{1, 2, 255}};
    constexpr Three kHigh{{1, 200, 0}};
    static_assert(kLow < kHigh && kHigh > kLow && kLow != kHigh);
    static_assert((kLow <=> kLow) == std::strong_ordering::equal);
    const Three low = kLow;
    Three high = kHigh;
    CHECK(low < high);
    CHECK(high > low);
    CHECK((low <=> high) == std::strong_ordering::less);
    high.data[1] = 2;
    CHECK(high < low);
    high.data[2] = 255;
    CHECK((low <=> high) == std::strong_ordering::equal);
}

}  // namespace
}  // namespace assay
