// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The alphabet of byte-level vocabularies: each of the 256 bytes is written as one printable character, so that a JSON
/// string can hold any sequence of bytes.
namespace assay::text {

/// The character of `byte`, in UTF-8. Printable characters of Latin-1 stand for themselves; the other 68 bytes are
/// U+0100 and up, in order.
std::string symbol_of(std::uint8_t byte);

/// The bytes that `token` stands for; nullopt if it has a character outside the alphabet.
std::optional<std::string> bytes_of(std::string_view token);

}  // namespace assay::text
