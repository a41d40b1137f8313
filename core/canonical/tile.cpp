// SPDX-License-Identifier: Apache-2.0
#include <core/canonical/tile.hpp>

#include <algorithm>

#include <core/base/assert.hpp>

namespace assay::canonical {
namespace {

// Where a tile lies in its tensor, in elements; `rows` and `cols` leave the padding out.
struct Extent {
    std::uint64_t row = 0;
    std::uint64_t col = 0;
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
};

Extent extent_of(Shape shape, std::uint64_t index) {
    ASSERT(index < tile_count(shape));
    Extent out;
    out.row = index / tile_cols(shape) * kTileDim;
    out.col = index % tile_cols(shape) * kTileDim;
    out.rows = std::min<std::uint64_t>(kTileDim, shape.rows - out.row);
    out.cols = std::min<std::uint64_t>(kTileDim, shape.cols - out.col);
    return out;
}

}  // namespace

Tensor make_tensor(DType dtype, Shape shape) {
    return Tensor{dtype, shape, Bytes(shape.element_count() * size_of(dtype))};
}

Tile make_tile(DType dtype) { return Tile{dtype, Bytes(std::size_t{kTileElements} * size_of(dtype))}; }

bool is_well_formed(const Tile& tile) noexcept {
    return is_valid(tile.dtype) && tile.data.size() == std::size_t{kTileElements} * size_of(tile.dtype);
}

Tile tile_of(const Tensor& tensor, std::uint64_t index) {
    const Extent at = extent_of(tensor.shape, index);
    const std::size_t size = size_of(tensor.dtype);
    Tile out = make_tile(tensor.dtype);
    for (std::size_t i = 0; i < at.rows; ++i) {
        const std::uint8_t* from = tensor.data.data() + ((at.row + i) * tensor.shape.cols + at.col) * size;
        std::copy_n(from, at.cols * size, out.data.data() + i * kTileDim * size);
    }
    return out;
}

void store_tile(Tensor& tensor, std::uint64_t index, const Tile& tile) {
    ASSERT(is_well_formed(tile) && tile.dtype == tensor.dtype);
    const Extent at = extent_of(tensor.shape, index);
    const std::size_t size = size_of(tensor.dtype);
    for (std::size_t i = 0; i < at.rows; ++i) {
        const std::uint8_t* from = tile.data.data() + i * kTileDim * size;
        std::copy_n(from, at.cols * size, tensor.data.data() + ((at.row + i) * tensor.shape.cols + at.col) * size);
    }
}

}  // namespace assay::canonical
