// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace assay {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

/// A fixed-size byte string with a distinct type: a Hash256 is not an AccountId.
template <class Tag, std::size_t kSize>
struct FixedBytes {
    static constexpr std::size_t kSizeBytes = kSize;
    std::array<std::uint8_t, kSize> data{};

    constexpr bool operator==(const FixedBytes&) const = default;
    /// Byte by byte. Written out, since the standard library of the build for browsers has no order of arrays.
    constexpr std::strong_ordering operator<=>(const FixedBytes& other) const {
        if (!std::is_constant_evaluated()) {
            return std::memcmp(data.data(), other.data.data(), kSize) <=> 0;
        }
        for (std::size_t i = 0; i < kSize; ++i) {
            if (data[i] != other.data[i]) {
                return data[i] <=> other.data[i];
            }
        }
        return std::strong_ordering::equal;
    }
    constexpr ByteView view() const { return data; }
    constexpr bool is_zero() const { return *this == FixedBytes{}; }
};

/// A SHA-256 or tagged-hash digest, a Merkle node, a root.
using Hash256 = FixedBytes<struct Hash256Tag, 32>;
/// An account: the x-only secp256k1 public key that signs for it (BIP-340).
using AccountId = FixedBytes<struct AccountIdTag, 32>;
/// A BIP-340 signature.
using Signature = FixedBytes<struct SignatureTag, 64>;

/// The bytes of `text`, without a terminator.
inline ByteView as_bytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Conversions between bytes and text; those that return std::string or Bytes copy.
inline std::string_view as_text(ByteView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
inline std::string string_of(ByteView bytes) { return {bytes.begin(), bytes.end()}; }
template <class Tag, std::size_t kSize>
std::string string_of(const FixedBytes<Tag, kSize>& bytes) {
    return string_of(bytes.view());
}
inline Bytes to_bytes(std::string_view text) { return {text.begin(), text.end()}; }

/// Lower-case hexadecimal.
std::string to_hex(ByteView bytes);
/// Both cases accepted; nullopt on odd length or a character that is no hex digit.
std::optional<Bytes> from_hex(std::string_view hex);

/// A FixedBytes of exactly the right length from hex, or nullopt.
template <class Fixed>
std::optional<Fixed> fixed_from_hex(std::string_view hex) {
    const auto bytes = from_hex(hex);
    if (!bytes || bytes->size() != Fixed::kSizeBytes) {
        return std::nullopt;
    }
    Fixed out;
    for (std::size_t i = 0; i < Fixed::kSizeBytes; ++i) {
        out.data[i] = (*bytes)[i];
    }
    return out;
}

/// Appends `part` to `out`.
inline void append(Bytes& out, ByteView part) { out.insert(out.end(), part.begin(), part.end()); }

}  // namespace assay
