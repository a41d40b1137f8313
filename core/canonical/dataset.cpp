// SPDX-License-Identifier: Apache-2.0
#include <core/canonical/dataset.hpp>

#include <core/base/assert.hpp>
#include <core/base/integers.hpp>
#include <core/canonical/node.hpp>

namespace assay::canonical {
namespace {

constexpr std::uint32_t kNanBits = 0x7fc00000;  // NUM-7

std::uint32_t load(ByteView bytes, std::size_t at, std::uint32_t size) {
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
        value |= std::uint32_t{bytes[at + i]} << (8 * i);
    }
    return value;
}

void append_word(Bytes& out, std::uint32_t value, std::uint32_t size) {
    for (std::uint32_t i = 0; i < size; ++i) {
        out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
}

/// The bits of the f32 that a half is; a NaN is the canonical one.
std::uint32_t from_half(std::uint32_t half) {
    const std::uint32_t sign = (half & 0x8000U) << 16U;
    const std::uint32_t exponent = half >> 10U & 0x1fU;
    std::uint32_t fraction = half & 0x3ffU;
    if (exponent == 0x1fU) {
        return fraction == 0 ? sign | 0x7f800000U : kNanBits;
    }
    if (exponent != 0) {
        return sign | (exponent + 112U) << 23U | fraction << 13U;
    }
    if (fraction == 0) {
        return sign;
    }
    // A subnormal half is a normal f32: shift its leading one to where it is implied.
    std::uint32_t shifted = 113U;
    while ((fraction & 0x400U) == 0) {
        fraction <<= 1U;
        --shifted;
    }
    return sign | shifted << 23U | (fraction & 0x3ffU) << 13U;
}

/// The half that is exactly this f32; nullopt where there is none.
std::optional<std::uint32_t> to_half(std::uint32_t bits) {
    const std::uint32_t sign = bits >> 16U & 0x8000U;
    const std::uint32_t exponent = bits >> 23U & 0xffU;
    const std::uint32_t fraction = bits & 0x7fffffU;
    std::uint32_t half = sign;
    if (exponent >= 113U && exponent <= 142U) {
        half |= (exponent - 112U) << 10U | fraction >> 13U;
    } else if (exponent >= 103U && exponent < 113U) {
        half |= (fraction | 0x800000U) >> (126U - exponent);
    } else if (exponent == 0xffU) {
        half |= 0x7c00U | (fraction != 0 ? 0x200U : 0U);
    }
    return from_half(half) == bits ? std::optional(half) : std::nullopt;
}

std::optional<std::uint32_t> to_storage(Storage storage, std::uint32_t value) {
    switch (storage) {
        case Storage::kI32:
            return value;
        case Storage::kU8:
            return value <= 0xffU ? std::optional(value) : std::nullopt;
        case Storage::kU16:
            return value <= 0xffffU ? std::optional(value) : std::nullopt;
        case Storage::kF16:
            return to_half(value);
    }
    return std::nullopt;
}

}  // namespace

const char* to_string(Storage storage) noexcept {
    switch (storage) {
        case Storage::kI32:
            return "i32";
        case Storage::kU8:
            return "u8";
        case Storage::kU16:
            return "u16";
        case Storage::kF16:
            return "f16";
    }
    return "unknown";
}

bool is_valid(const DatasetShape& shape) noexcept {
    if (shape.rows == 0 || shape.width == 0 || shape.width > kMaxDimension || shape.overlap >= shape.width ||
        !is_valid(shape.storage)) {
        return false;
    }
    return shape.rows <= kMaxDatasetBytes / (std::uint64_t{shape.width - shape.overlap} * size_of(shape.storage)) &&
           byte_count(shape) <= kMaxDatasetBytes;
}

std::uint64_t value_count(const DatasetShape& shape) noexcept {
    return shape.rows * (shape.width - shape.overlap) + shape.overlap;
}

std::uint64_t byte_count(const DatasetShape& shape) noexcept { return value_count(shape) * size_of(shape.storage); }

std::uint64_t chunk_count(const DatasetShape& shape) noexcept {
    return div_ceil<std::uint64_t>(byte_count(shape), kChunkBytes);
}

std::uint64_t byte_offset(const DatasetShape& shape, const DatasetSpan& span) noexcept {
    return (span.row * (shape.width - shape.overlap) + span.first) * size_of(shape.storage);
}

Bytes decode_values(Storage storage, ByteView stored) {
    if (storage == Storage::kI32) {
        return {stored.begin(), stored.end()};
    }
    const std::uint32_t size = size_of(storage);
    ASSERT(stored.size() % size == 0);
    Bytes out;
    out.reserve(stored.size() / size * 4);
    for (std::size_t at = 0; at < stored.size(); at += size) {
        const std::uint32_t value = load(stored, at, size);
        append_word(out, storage == Storage::kF16 ? from_half(value) : value, 4);
    }
    return out;
}

std::optional<Bytes> encode_values(Storage storage, ByteView values) {
    ASSERT(values.size() % 4 == 0);
    Bytes out;
    out.reserve(values.size() / 4 * size_of(storage));
    for (std::size_t at = 0; at < values.size(); at += 4) {
        const auto value = to_storage(storage, load(values, at, 4));
        if (!value) {
            return std::nullopt;
        }
        append_word(out, *value, size_of(storage));
    }
    return out;
}

}  // namespace assay::canonical
