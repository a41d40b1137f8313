// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>

namespace assay::crypto {

enum class [[nodiscard]] AddressError : std::uint8_t{
    kBadCharacter = 1, kMixedCase = 2, kBadLength = 3, kBadChecksum = 4, kWrongPrefix = 5,
};

/// ENC-3: bech32m (BIP-350) of the account under the prefix "assay": `assay1...`.
std::string to_address(const AccountId& account);
/// The inverse of to_address(); fails with what is wrong with the text.
Result<AccountId, AddressError> decode_address(std::string_view text);

/// Returns the 5-bit groups that the beginning of an address stands for, without the checksum of a whole one; nullopt
/// if no address begins like that.
std::optional<Bytes> decode_address_prefix(std::string_view text);

/// Generic bech32m, for tests against BIP-350's lists. `data` are 5-bit groups.
struct Bech32m {
    std::string prefix;
    Bytes data;
};
Result<Bech32m, AddressError> decode_bech32m(std::string_view text);
std::string encode_bech32m(std::string_view prefix, ByteView data5);

}  // namespace assay::crypto
