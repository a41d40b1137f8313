// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/result.hpp>
#include <core/canonical/tile.hpp>

/// The safetensors file format: named tensors after a JSON header. Only types of canonical tensors are accepted: F32,
/// I32 and I64, with at most two dimensions, none of them zero.
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
/// What a file has besides the tensors' bytes: the header and its length.
inline constexpr std::uint64_t kMaxSafetensorsFraming = 8 + kMaxSafetensorsHeader;
inline constexpr std::size_t kMaxSafetensorsTensors = 100'000;

/// Why bytes are not an accepted safetensors file (ART rules).
enum class [[nodiscard]] SafetensorsError : std::uint8_t{
    kTruncated = 1,  ///< ART-1: shorter than the header length, the header or the data require
    kHeaderTooLong =
        2,  ///< ART-1: a header longer than kMaxSafetensorsHeader, or more than kMaxSafetensorsTensors tensors
    kHeaderJson = 3,      ///< ART-2: not a UTF-8 JSON object that begins with '{' and is followed only by spaces
    kDuplicateKey = 4,    ///< ART-2: a duplicate name, or a duplicate key of a tensor
    kHeaderField = 5,     ///< ART-3: a missing or unknown key, or one of the wrong type
    kDType = 6,           ///< ART-3: a type other than F32, I32, I64
    kShape = 7,           ///< ART-3: more than two dimensions, or a dimension of 0 or above 2^32-1
    kSize = 8,            ///< ART-4: a range whose length does not match shape and type
    kLayout = 9,          ///< ART-4: ranges that overlap or leave a gap
    kTrailingBytes = 10,  ///< ART-4: data after the last range
};

/// A tensor's type and the place of its bytes in the file.
struct TensorPlace {
    std::string name;
    canonical::TensorType type;
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
    bool operator==(const TensorPlace&) const = default;
    static constexpr auto fields() {
        return Fields<&TensorPlace::name, &TensorPlace::type, &TensorPlace::offset, &TensorPlace::size_bytes>{};
    }
};
struct SafetensorsLayout {
    std::vector<TensorPlace> tensors;             ///< in the header's order
    std::map<std::string, std::string> metadata;  ///< "__metadata__"; empty when there is none
    bool operator==(const SafetensorsLayout&) const = default;
    static constexpr auto fields() { return Fields<&SafetensorsLayout::tensors, &SafetensorsLayout::metadata>{}; }
};

/// Checks everything but the tensors' values, and reads the header alone. Fails with SafetensorsError.
Result<SafetensorsLayout, SafetensorsError> decode_safetensors_layout(ByteView bytes);

/// Whether a layout that a program without our trust has read can be that of `bytes`: its tensors have distinct names,
/// their types are valid, and their ranges are as ART-4 wants them.
bool is_layout_of(const SafetensorsLayout& layout, ByteView bytes);

/// The beginning of encode_safetensors(): everything before the tensors' bytes, which follow in the given order.
struct NamedType {
    std::string_view name;
    canonical::TensorType type;
};
Bytes encode_safetensors_head(
    const std::vector<NamedType>& tensors, const std::map<std::string, std::string>& metadata = {}
);

/// ART-5: returns the unique encoding: metadata first, tensors in the given order without gaps, the header padded with
/// spaces to a multiple of eight. Names must be UTF-8, distinct, and not "__metadata__".
Bytes encode_safetensors(const SafetensorsFile& file);

/// Copies the tensors of a layout out of the file that it is of.
SafetensorsFile take_tensors(SafetensorsLayout layout, ByteView bytes);

/// Decodes a file; validates everything before allocating tensors. A vector [n] becomes [1, n], a scalar [1, 1]. Fails
/// with SafetensorsError.
Result<SafetensorsFile, SafetensorsError> decode_safetensors(ByteView bytes);

}  // namespace assay::artifacts
