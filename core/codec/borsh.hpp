// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/member_count.hpp>
#include <core/base/result.hpp>

/// Borsh (borsh.io, specification 1.0): one encoding per value, little-endian, no padding.
///
/// A struct becomes encodable by listing its members:
///     static constexpr auto fields() { return Fields<&Foo::a, &Foo::b>{}; }
/// An enum class over std::uint8_t becomes encodable by a function, found by ADL, that tells which numbers are valid:
///     constexpr bool is_valid(Role role) { return role >= Role::kSolver && role <= Role::kWhistleblower; }
/// Supported: unsigned and signed integers of 8 to 64 bits, bool, std::string (UTF-8), std::vector, std::array,
/// std::optional, std::map (ascending keys), std::variant (u8 index), FixedBytes, structs with fields().
namespace assay::codec {

/// Why bytes are not the encoding of a value (COD rules).
enum class [[nodiscard]] DecodeError : std::uint8_t{
    kTruncated = 1,      ///< COD-1: the input ends inside a value
    kTrailingBytes = 2,  ///< COD-2: bytes are left after the value
    kBadTag = 3,         ///< COD-3: enum number, variant index or option tag out of range
    kBadBool = 4,        ///< COD-3: a bool other than 0 or 1
    kBadUtf8 = 5,        ///< COD-4: a string that is not UTF-8
    kLengthTooLong = 6,  ///< COD-5: a length that exceeds the bytes left
    kKeysNotSorted = 7,  ///< COD-6: map keys not strictly ascending
};

/// The one encoding of `value`.
template <class T>
Bytes encode(const T& value);

/// The value that `bytes` encodes, or why they encode none; every byte must be used.
/// `encode(*decode<T>(b)) == b` whenever decoding succeeds. Allocates at most in proportion to bytes.size().
template <class T>
Result<T, DecodeError> decode(ByteView bytes);

}  // namespace assay::codec

#include <core/codec/borsh_impl.hpp>
