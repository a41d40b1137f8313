// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/canonical/node.hpp>

namespace assay::canonical {

/// Tensors are divided into 32x32 tiles, numbered row-major; tiles at the edges are padded with zeros (NUM-4).
inline constexpr std::uint32_t kTileDim = 32;
inline constexpr std::uint32_t kTileElements = kTileDim * kTileDim;

constexpr std::uint32_t tile_rows(Shape s) { return (s.rows + kTileDim - 1) / kTileDim; }
constexpr std::uint32_t tile_cols(Shape s) { return (s.cols + kTileDim - 1) / kTileDim; }
constexpr std::uint64_t tile_count(Shape s) { return std::uint64_t{tile_rows(s)} * tile_cols(s); }

/// A whole tensor: row-major little-endian elements, `size_of(dtype) * rows * cols` bytes.
struct Tensor {
    DType dtype = DType::kF32;
    Shape shape;
    Bytes data;
    bool operator==(const Tensor&) const = default;
};
Tensor make_tensor(DType dtype, Shape shape);  ///< all zeros

/// One tile, padded: always 1024 elements, little-endian; 1024 times size_of(dtype) bytes.
struct Tile {
    DType dtype = DType::kF32;
    Bytes data;
    bool operator==(const Tile&) const = default;
    static constexpr auto fields() { return Fields<&Tile::dtype, &Tile::data>{}; }
};
Tile make_tile(DType dtype);  ///< all zeros
/// Whether `data` has the length that `dtype` requires; tiles from untrusted sources may not.
bool is_well_formed(const Tile& tile) noexcept;

/// Copies tile `index` out of `tensor`, or into it (without the padding).
Tile tile_of(const Tensor& tensor, std::uint64_t index);
void store_tile(Tensor& tensor, std::uint64_t index, const Tile& tile);

}  // namespace assay::canonical
