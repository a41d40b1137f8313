// SPDX-License-Identifier: Apache-2.0
#include <core/dispute/opening.hpp>

#include <algorithm>

#include <core/base/assert.hpp>
#include <core/merkle/tree.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::dispute {
namespace {

bool is_dimension(std::uint32_t n) { return n >= 1 && n <= canonical::kMaxDimension; }

/// Not so: exponent bits all set, which is an infinity or a NaN. `upper` are the upper two bytes of an f32, or a
/// bf16's, little-endian.
bool is_finite_at(const std::uint8_t* upper) { return (upper[1] & 0x7fU) != 0x7fU || (upper[0] & 0x80U) == 0; }

}  // namespace

bool is_well_formed(const StateOpening& o) noexcept {
    return is_valid(o.type.dtype) && is_dimension(o.type.shape.rows) && is_dimension(o.type.shape.cols) &&
           o.opening.tile.dtype == o.type.dtype && canonical::is_well_formed(o.opening.tile);
}

std::optional<Hash256> state_root_of(const StateOpening& o, std::uint32_t tensors) noexcept {
    ASSERT(is_well_formed(o));
    const auto tiles = merkle::root_from_path(
        tile_leaf(o.opening.tile), o.tile, canonical::tile_count(o.type.shape), o.opening.tile_path
    );
    if (!tiles) {
        return std::nullopt;
    }
    const auto root =
        merkle::root_from_path(tensor_commitment(o.type, *tiles), o.tensor, tensors, o.opening.source_path);
    return root ? std::optional(state_root_from(tensors, *root)) : std::nullopt;
}

bool has_diverged(const StateOpening& o) noexcept {
    ASSERT(is_well_formed(o));
    const canonical::Shape shape = o.type.shape;
    const bool is_float = o.type.dtype == canonical::DType::kF32 || o.type.dtype == canonical::DType::kBf16;
    if (!is_float || o.tile >= canonical::tile_count(shape)) {
        return false;
    }
    const std::uint64_t columns = canonical::tile_cols(shape);
    const auto rows = std::min<std::uint64_t>(canonical::kTileDim, shape.rows - o.tile / columns * canonical::kTileDim);
    const auto cols = std::min<std::uint64_t>(canonical::kTileDim, shape.cols - o.tile % columns * canonical::kTileDim);
    const std::size_t size = size_of(o.type.dtype);
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < cols; ++c) {
            const std::size_t end = size * (r * canonical::kTileDim + c + 1);
            if (!is_finite_at(o.opening.tile.data.data() + end - 2)) {
                return true;
            }
        }
    }
    return false;
}

bool shows_divergence(const StateOpening& o, const Hash256& root, std::uint32_t tensors) noexcept {
    return is_well_formed(o) && has_diverged(o) && state_root_of(o, tensors) == root;
}

}  // namespace assay::dispute
