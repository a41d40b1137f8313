// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <core/canonical/tile.hpp>

/// The safetensors file format: named tensors behind a JSON header. Only what a canonical tensor can be is taken:
/// F32, I32 and I64, of at most two dimensions, none of them zero.
namespace assay::artifacts {

struct NamedTensor {
    std::string name;
    canonical::Tensor tensor;
    bool operator==(const NamedTensor&) const = default;
};

struct SafetensorsFile {
    std::vector<NamedTensor> tensors;             ///< in the header's order
    std::map<std::string, std::string> metadata;  ///< "__metadata__"; empty when there is none
    bool operator==(const SafetensorsFile&) const = default;
};

inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;
inline constexpr std::size_t kMaxSafetensorsTensors = 100'000;

/// Why bytes are not a safetensors file that we take (ART rules).
enum class [[nodiscard]] SafetensorsError : std::uint8_t {
    kTruncated = 1,      ///< ART-1: fewer bytes than the header length, the header or the data ask for
    kHeaderTooLong = 2,  ///< ART-1: a header beyond kMaxSafetensorsHeader, or more than kMaxSafetensorsTensors
    kHeaderJson = 3,     ///< ART-2: not a JSON object in UTF-8 that begins with '{' and ends in nothing but spaces
    kDuplicateKey = 4,   ///< ART-2: a name, or a key of a tensor, given twice
    kHeaderField = 5,    ///< ART-3: a key missing, unknown or of the wrong type
    kDType = 6,          ///< ART-3: a type other than F32, I32, I64
    kShape = 7,          ///< ART-3: more than two dimensions, a dimension of 0 or beyond 2^32-1
    kSize = 8,           ///< ART-4: a range that is not as long as shape and type say
    kLayout = 9,         ///< ART-4: ranges that overlap or leave a gap
    kTrailingBytes = 10, ///< ART-4: data beyond the last range
};

/// ART-5: one encoding: metadata first, tensors in the given order without gaps, the header padded with spaces to a
/// multiple of eight. Names are UTF-8, distinct, and not "__metadata__".
Bytes encode_safetensors(const SafetensorsFile& file);

/// Checks everything before it allocates a tensor. A vector [n] is taken as [1, n], a scalar as [1, 1].
Result<SafetensorsFile, SafetensorsError> decode_safetensors(ByteView bytes);

}  // namespace assay::artifacts
