// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/canonical/tile.hpp>

namespace assay::dispute {

/// tile_leaf() of tiles `first` to `end` - 1 of a tensor, in their order, several at a time (crypto::HashBatch). A
/// module of its own, since validators hash no whole tensors.
std::vector<Hash256> tile_leaves(const canonical::Tensor& tensor, std::uint64_t first, std::uint64_t end);
/// Of all tiles.
std::vector<Hash256> tile_leaves(const canonical::Tensor& tensor);

}  // namespace assay::dispute
