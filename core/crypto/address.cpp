// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/address.hpp>

#include <algorithm>

namespace assay::crypto {
namespace {

constexpr std::string_view kCharset = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
constexpr std::string_view kPrefix = "assay";
constexpr std::uint32_t kConstant = 0x2bc830a3;
constexpr std::size_t kMaxLength = 90;
constexpr std::size_t kChecksumLength = 6;
constexpr std::size_t kAddressGroups = 52;  // ceil(256 / 5)

std::uint32_t polymod(ByteView groups) {
    constexpr std::array<std::uint32_t, 5> kGenerator{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3};
    std::uint32_t check = 1;
    for (const std::uint8_t group : groups) {
        const std::uint32_t top = check >> 25U;
        check = ((check & 0x1ffffffU) << 5U) ^ group;
        for (std::size_t i = 0; i < kGenerator.size(); ++i) {
            check ^= ((top >> i) & 1U) != 0 ? kGenerator[i] : 0;
        }
    }
    return check;
}

Bytes expand(std::string_view prefix) {
    Bytes out;
    for (const std::uint8_t c : as_bytes(prefix)) {
        out.push_back(static_cast<std::uint8_t>(c >> 5U));
    }
    out.push_back(0);
    for (const std::uint8_t c : as_bytes(prefix)) {
        out.push_back(static_cast<std::uint8_t>(c & 31U));
    }
    return out;
}

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

Result<std::string, AddressError> lower_case(std::string_view text) {
    if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= 33 && c <= 126; })) {
        return Unexpected{AddressError::kBadCharacter};
    }
    if (std::any_of(text.begin(), text.end(), is_lower) && std::any_of(text.begin(), text.end(), is_upper)) {
        return Unexpected{AddressError::kMixedCase};
    }
    std::string out(text);
    for (char& c : out) {
        c = is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return out;
}

}  // namespace

Result<Bech32m, AddressError> decode_bech32m(std::string_view text) {
    if (text.size() > kMaxLength) {
        return Unexpected{AddressError::kBadLength};
    }
    TRY_ASSIGN(const std::string lower, lower_case(text));
    const std::size_t separator = lower.rfind('1');
    if (separator == std::string::npos || separator == 0) {
        return Unexpected{AddressError::kWrongPrefix};
    }
    Bech32m out{lower.substr(0, separator), {}};
    for (const char c : std::string_view(lower).substr(separator + 1)) {
        const std::size_t group = kCharset.find(c);
        if (group == std::string_view::npos) {
            return Unexpected{AddressError::kBadCharacter};
        }
        out.data.push_back(static_cast<std::uint8_t>(group));
    }
    if (out.data.size() < kChecksumLength) {
        return Unexpected{AddressError::kBadLength};
    }
    Bytes groups = expand(out.prefix);
    append(groups, out.data);
    if (polymod(groups) != kConstant) {
        return Unexpected{AddressError::kBadChecksum};
    }
    out.data.resize(out.data.size() - kChecksumLength);
    return out;
}

std::string encode_bech32m(std::string_view prefix, ByteView data5) {
    ASSERT(!prefix.empty() && prefix.size() + 1 + data5.size() + kChecksumLength <= kMaxLength);
    Bytes groups = expand(prefix);
    append(groups, data5);
    groups.resize(groups.size() + kChecksumLength);
    const std::uint32_t check = polymod(groups) ^ kConstant;
    std::string out(prefix);
    out.push_back('1');
    for (const std::uint8_t group : data5) {
        ASSERT(group < 32);
        out.push_back(kCharset[group]);
    }
    for (std::size_t i = 0; i < kChecksumLength; ++i) {
        out.push_back(kCharset[(check >> (5 * (kChecksumLength - 1 - i))) & 31U]);
    }
    return out;
}

std::string to_address(const AccountId& account) {
    Bytes groups;
    std::uint32_t buffer = 0;
    std::uint32_t bits = 0;
    for (const std::uint8_t byte : account.data) {
        buffer = ((buffer << 8U) | byte) & 0xfffU;
        bits += 8;
        while (bits >= 5) {
            bits -= 5;
            groups.push_back(static_cast<std::uint8_t>((buffer >> bits) & 31U));
        }
    }
    groups.push_back(static_cast<std::uint8_t>((buffer << (5 - bits)) & 31U));
    return encode_bech32m(kPrefix, groups);
}

Result<AccountId, AddressError> decode_address(std::string_view text) {
    TRY_ASSIGN(const Bech32m parts, decode_bech32m(text));
    if (parts.prefix != kPrefix) {
        return Unexpected{AddressError::kWrongPrefix};
    }
    if (parts.data.size() != kAddressGroups) {
        return Unexpected{AddressError::kBadLength};
    }
    AccountId out;
    std::size_t at = 0;
    std::uint32_t buffer = 0;
    std::uint32_t bits = 0;
    for (const std::uint8_t group : parts.data) {
        buffer = ((buffer << 5U) | group) & 0xfffU;
        bits += 5;
        if (bits >= 8) {
            bits -= 8;
            out.data[at++] = static_cast<std::uint8_t>(buffer >> bits);
        }
    }
    if ((buffer & ((1U << bits) - 1)) != 0) {
        return Unexpected{AddressError::kBadCharacter};
    }
    return out;
}

std::optional<Bytes> decode_address_prefix(std::string_view text) {
    if (text.size() <= kPrefix.size() || !text.starts_with(kPrefix) || text[kPrefix.size()] != '1') {
        return std::nullopt;
    }
    text.remove_prefix(kPrefix.size() + 1);
    Bytes groups;
    for (const char c : text.substr(0, kAddressGroups)) {
        const std::size_t group = kCharset.find(c);
        if (group == std::string_view::npos) {
            return std::nullopt;
        }
        groups.push_back(static_cast<std::uint8_t>(group));
    }
    return text.size() <= kAddressGroups + kChecksumLength ? std::optional(std::move(groups)) : std::nullopt;
}

}  // namespace assay::crypto
