// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <core/base/integers.hpp>
#include <core/base/result.hpp>

/// Money as people write it.
namespace assay {

enum class [[nodiscard]] AmountError : std::uint8_t {
    kUnit = 1,       ///< neither "ASY" nor "grains" at the end: a bare number could mean either
    kNumber = 2,     ///< not a number, or a sign, or a fraction of a grain
    kTooLarge = 3,   ///< more than 2^64-1 grains
};
const char* to_string(AmountError error) noexcept;

/// "1.5 ASY" or "1500000000 grains"; the space may be left out.
Result<Amount, AmountError> decode_amount(std::string_view text);

/// "1.5 ASY": exact, without trailing zeros.
std::string to_text(Amount amount);

}  // namespace assay
