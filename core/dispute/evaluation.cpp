// SPDX-License-Identifier: Apache-2.0
#include <core/dispute/evaluation.hpp>

#include <core/base/assert.hpp>
#include <core/merkle/tree.hpp>
#include <core/canonical/tile.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::dispute {

std::uint32_t evaluated_tensors(std::uint32_t tensors) noexcept {
    ASSERT(tensors >= 1 && tensors <= canonical::kMaxStateTensors);
    return (1U << merkle::tree_depth(tensors)) + 1;
}

Hash256 evaluated_root(std::uint32_t tensors, const Hash256& tensors_root, const Hash256& holdout) noexcept {
    Hash256 right = holdout;
    for (std::uint32_t height = 0; height < merkle::tree_depth(tensors); ++height) {
        right = merkle::hash_children(right, merkle::empty_root(height));
    }
    return state_root_from(evaluated_tensors(tensors), merkle::hash_children(tensors_root, right));
}

Hash256 score_root(std::uint32_t score) noexcept {
    canonical::Tile tile = canonical::make_tile(canonical::DType::kF32);
    for (std::uint32_t i = 0; i < 4; ++i) {
        tile.data[i] = static_cast<std::uint8_t>(score >> (8 * i));
    }
    const canonical::TensorType type{.dtype = canonical::DType::kF32, .shape = {1, 1}};
    return state_root_from(1, tensor_commitment(type, tile_leaf(tile)));
}

bool is_possible_score(std::uint32_t score) noexcept { return (score & 0x7f800000U) != 0x7f800000U; }

}  // namespace assay::dispute
