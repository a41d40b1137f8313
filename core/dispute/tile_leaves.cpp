// SPDX-License-Identifier: Apache-2.0
#include <core/dispute/tile_leaves.hpp>

#include <core/crypto/hash_batch.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::dispute {

std::vector<Hash256> tile_leaves(const canonical::Tensor& tensor, std::uint64_t first, std::uint64_t end) {
    crypto::HashBatch batch(tile_tag());
    for (std::uint64_t tile = first; tile < end; ++tile) {
        batch.add(canonical::tile_of(tensor, tile).data);
    }
    return batch.finish();
}

std::vector<Hash256> tile_leaves(const canonical::Tensor& tensor) {
    return tile_leaves(tensor, 0, canonical::tile_count(tensor.shape));
}

}  // namespace assay::dispute
