// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <core/base/amount.hpp>

namespace assay {
namespace {

std::uint64_t grains(std::string_view text) { return decode_amount(text).value().grains; }

TEST_CASE("amounts are read in ASY and in grains") {
    CHECK(grains("1.5 ASY") == 1'500'000'000);
    CHECK(grains("1.5ASY") == 1'500'000'000);
    CHECK(grains("20 ASY") == 20'000'000'000);
    CHECK(grains("0.000000001 ASY") == 1);
    CHECK(grains("17 grains") == 17);
    CHECK(grains("0 grains") == 0);
    CHECK(grains("18446744073.709551615 ASY") == 18'446'744'073'709'551'615U);
    CHECK(grains("18446744073709551615 grains") == 18'446'744'073'709'551'615U);
}

TEST_CASE("an amount without a unit is refused") {
    for (const char* text : {"", "5", "5.0", "5 asy", "5 grain", "ASYASY 5"}) {
        CAPTURE(text);
        CHECK(decode_amount(text).error() == AmountError::kUnit);
    }
}

TEST_CASE("what is no number of grains is refused") {
    for (const char* text :
         {"ASY", " ASY", "-1 ASY", "+1 ASY", "1. ASY", ".5 ASY", "1.0000000001 ASY", "1.2.3 ASY", "1e3 ASY", " 1 ASY",
          "0x10 grains", "1.5 grains", "-1 grains", "grains", "1,5 ASY"}) {
        CAPTURE(text);
        CHECK(decode_amount(text).error() == AmountError::kNumber);
    }
}

TEST_CASE("more grains than 64 bits hold are refused") {
    for (const char* text :
         {"18446744073.709551616 ASY", "99999999999 ASY", "18446744073709551616 grains",
          "99999999999999999999999 ASY"}) {
        CAPTURE(text);
        CHECK(decode_amount(text).error() == AmountError::kTooLarge);
    }
}

TEST_CASE("amounts are written exactly and read back") {
    CHECK(to_text(Amount{1'500'000'000}) == "1.5 ASY");
    CHECK(to_text(Amount{0}) == "0 ASY");
    CHECK(to_text(Amount{1}) == "0.000000001 ASY");
    CHECK(to_text(Amount{20'000'000'000}) == "20 ASY");
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{999'999'999}, std::uint64_t{1'000'000'001},
          ~std::uint64_t{0}}) {
        CHECK(grains(to_text(Amount{value})) == value);
    }
}

}  // namespace
}  // namespace assay
