// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <core/base/integers.hpp>
#include <core/base/result.hpp>

/// Amounts of money as text.
namespace assay {

enum class [[nodiscard]] AmountError : std::uint8_t{
    kUnit = 1,      ///< does not end in "ASY" or "grains", so the unit is ambiguous
    kNumber = 2,    ///< not a number, has a sign, or has a fraction of a grain
    kTooLarge = 3,  ///< more than 2^64-1 grains
};
const char* to_string(AmountError error) noexcept;

/// Parses "1.5 ASY" or "1500000000 grains"; the space is optional.
Result<Amount, AmountError> decode_amount(std::string_view text);

/// Formats as "1.5 ASY": exact, without trailing zeros.
std::string to_text(Amount amount);

}  // namespace assay
