// SPDX-License-Identifier: Apache-2.0
#include <core/base/amount.hpp>

#include <algorithm>
#include <charconv>

namespace assay {
namespace {

constexpr std::size_t kDecimals = 9;

Result<std::uint64_t, AmountError> decode_digits(std::string_view digits) {
    const bool are_digits =
        !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!are_digits) {
        return Unexpected{AmountError::kNumber};
    }
    std::uint64_t number = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc{}) {
        return Unexpected{AmountError::kTooLarge};
    }
    return number;
}

/// Takes `unit` and the space before it off the end.
bool take_unit(std::string_view& text, std::string_view unit) {
    if (!text.ends_with(unit)) {
        return false;
    }
    text.remove_suffix(unit.size());
    while (text.ends_with(' ')) {
        text.remove_suffix(1);
    }
    return true;
}

Result<Amount, AmountError> decode_asy(std::string_view text) {
    const std::size_t point = text.find('.');
    std::uint64_t fraction = 0;
    if (point != std::string_view::npos) {
        std::string decimals(text.substr(point + 1));
        if (decimals.empty() || decimals.size() > kDecimals) {
            return Unexpected{AmountError::kNumber};
        }
        decimals.resize(kDecimals, '0');
        TRY_ASSIGN(fraction, decode_digits(decimals));
    }
    TRY_ASSIGN(const std::uint64_t whole, decode_digits(text.substr(0, point)));
    const auto grains = checked_mul(whole, kGrainsPerAsy);
    const auto total = grains ? checked_add(*grains, fraction) : grains;
    if (!total) {
        return Unexpected{AmountError::kTooLarge};
    }
    return Amount{*total};
}

}  // namespace

const char* to_string(AmountError error) noexcept {
    switch (error) {
        case AmountError::kUnit:
            return "an amount needs its unit: \"1.5 ASY\" or \"1500000000 grains\"";
        case AmountError::kNumber:
            return "not an amount: write \"1.5 ASY\", with at most 9 decimals, or \"1500000000 grains\"";
        case AmountError::kTooLarge:
            return "more money than there can be";
    }
    return "?";
}

Result<Amount, AmountError> decode_amount(std::string_view text) {
    if (take_unit(text, "ASY")) {
        return decode_asy(text);
    }
    if (take_unit(text, "grains")) {
        TRY_ASSIGN(const std::uint64_t grains, decode_digits(text));
        return Amount{grains};
    }
    return Unexpected{AmountError::kUnit};
}

std::string to_text(Amount amount) {
    std::string out = std::to_string(amount.grains / kGrainsPerAsy);
    if (const std::uint64_t rest = amount.grains % kGrainsPerAsy; rest != 0) {
        std::string decimals = std::to_string(rest);
        decimals.insert(0, kDecimals - decimals.size(), '0');
        decimals.erase(decimals.find_last_not_of('0') + 1);
        out += "." + decimals;
    }
    return out + " ASY";
}

}  // namespace assay
