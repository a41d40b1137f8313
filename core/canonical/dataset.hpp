// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>

/// A task's dataset (PRG-9): an array of values that is read by rows, which may overlap, and committed to by chunks.
namespace assay::canonical {

/// How a dataset's values are stored, little-endian. A batch always has them as i32.
enum class Storage : std::uint8_t {
    kI32 = 1,  ///< an i32, or the bits of an f32
    kU8 = 2,
    kU16 = 3,
    kF16 = 4,  ///< an IEEE half; read as the bits of the f32 of the same value
};
constexpr bool is_valid(Storage s) { return s >= Storage::kI32 && s <= Storage::kF16; }
/// The name used in task files and output: "i32", "u8", "u16", "f16".
const char* to_string(Storage storage) noexcept;
constexpr std::uint32_t size_of(Storage storage) {
    return storage == Storage::kU8 ? 1 : storage == Storage::kI32 ? 4 : 2;
}

/// Row i has `width` values and begins at value i * (width - overlap). Text is stored once, and its rows are windows
/// that overlap.
struct DatasetShape {
    std::uint64_t rows = 0;
    std::uint32_t width = 0;
    std::uint32_t overlap = 0;  ///< values that a row shares with the next one; less than width
    Storage storage = Storage::kI32;
    bool operator==(const DatasetShape&) const = default;
    static constexpr auto fields() {
        return Fields<&DatasetShape::rows, &DatasetShape::width, &DatasetShape::overlap, &DatasetShape::storage>{};
    }
};
inline constexpr std::uint64_t kMaxDatasetBytes = std::uint64_t{1} << 48U;
/// Bytes of a chunk, the unit that a dataset's root is over; the last one may be shorter.
inline constexpr std::uint32_t kChunkBytes = 4096;

/// PRG-9: at least one row, of 1 to kMaxDimension values, an overlap below the width, and at most kMaxDatasetBytes. The
/// functions below require it.
bool is_valid(const DatasetShape& shape) noexcept;
std::uint64_t value_count(const DatasetShape& shape) noexcept;
std::uint64_t byte_count(const DatasetShape& shape) noexcept;
std::uint64_t chunk_count(const DatasetShape& shape) noexcept;

/// Some values of one row.
struct DatasetSpan {
    std::uint64_t row = 0;
    std::uint32_t first = 0;  ///< column
    std::uint32_t count = 0;  ///< at least 1
    bool operator==(const DatasetSpan&) const = default;
};
/// The place of a span's first value in the dataset's bytes.
std::uint64_t byte_offset(const DatasetShape& shape, const DatasetSpan& span) noexcept;

/// The values that `stored` holds, each as 4 bytes: an i32, little-endian.
Bytes decode_values(Storage storage, ByteView stored);
/// The other direction, for values that the storage can hold exactly; nullopt for others.
std::optional<Bytes> encode_values(Storage storage, ByteView values);

}  // namespace assay::canonical
