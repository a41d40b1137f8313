// SPDX-License-Identifier: Apache-2.0
#include <verifier/group/first_state.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <core/dispute/commitment.hpp>
#include <core/dispute/tile_leaves.hpp>
#include <core/merkle/tree.hpp>
#include <verifier/engine/cell/block_io.hpp>
#include <verifier/engine/cell/orders.hpp>

namespace assay::group {
namespace {

using canonical::kTileDim;
using canonical::Shape;
using canonical::Tensor;
using engine::GivenTensor;
using engine::RankError;
using engine::RankFault;
using plan::Block;
using plan::IndexSet;

/// All indices of the tiles that have some of these.
IndexSet in_whole_tiles(const IndexSet& indices, std::uint32_t size) {
    IndexSet out;
    std::uint32_t end = 0;
    for (const IndexSet::Range& range : indices.ranges()) {
        const std::uint32_t begin = std::max(range.begin / kTileDim * kTileDim, end);
        end = std::min((range.end + kTileDim - 1) / kTileDim * kTileDim, size);
        if (begin < end) {
            out.add(begin, end);
        }
    }
    return out;
}

Block cover_of(const Block& block, Shape shape) {
    return block.is_empty() ? Block{}
                            : Block{in_whole_tiles(block.rows, shape.rows), in_whole_tiles(block.cols, shape.cols)};
}

/// The tiles along one side of a tensor that have some of these indices, ascending.
std::vector<std::uint32_t> tiles_of(const IndexSet& indices) {
    std::vector<std::uint32_t> out;
    for (const IndexSet::Range& range : indices.ranges()) {
        for (std::uint32_t tile = range.begin / kTileDim; tile * kTileDim < range.end; ++tile) {
            out.push_back(tile);
        }
    }
    return out;
}

std::uint64_t bytes_of(const Block& block, const canonical::TensorType& type) {
    return block.element_count() * canonical::size_of(type.dtype);
}

[[noreturn]] void refuse(const std::string& what) {
    throw RankError(0, RankFault::kOtherState, "rank 0 gives " + what);
}

/// Whether the tiles of a cover are those with these hashes.
bool has_leaves(const Tensor& tiles, const Block& cover, const GivenTensor& given, const std::vector<Hash256>& leaves) {
    const std::vector<Hash256> own = dispute::tile_leaves(tiles);
    std::size_t next = 0;
    for (const std::uint32_t row : tiles_of(cover.rows)) {
        for (const std::uint32_t col : tiles_of(cover.cols)) {
            const std::uint64_t tile = std::uint64_t{row} * canonical::tile_cols(given.type.shape) + col;
            if (own.at(next++) != leaves.at(tile)) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace

void FirstState::show(engine::Collective& links, const GivenTensor& given, const Tensor& whole) const {
    Bytes hashes;
    for (const Hash256& leaf : dispute::tile_leaves(whole)) {
        append(hashes, leaf.view());
    }
    const Block all = plan::whole(given.type.shape);
    std::vector<Bytes> to(links.size());
    for (std::uint32_t rank = 1; rank < links.size(); ++rank) {
        to[rank] = hashes;
        const Block cover = cover_of(given.placement[rank], given.type.shape);
        if (cover != given.placement[rank]) {
            engine::cell::append_block(whole, all, cover, to[rank]);
        }
    }
    engine::cell::exchange(links, std::move(to), std::vector<std::uint64_t>(links.size()));
}

void FirstState::note(const GivenTensor& given, const std::vector<Hash256>& leaves) {
    commitments_.resize(given.tensors);
    commitments_[given.index] =
        leaves.empty() ? merkle::empty_root(0) : dispute::tensor_commitment(given.type, merkle::root_of(leaves));
    std::vector<Hash256> all;
    for (const auto& commitment : commitments_) {
        if (!commitment) {
            return;
        }
        all.push_back(*commitment);
    }
    if (dispute::state_root(all) != before_) {
        refuse("hashes of another state than that of the checkpoint");
    }
    is_compared_ = true;
}

void FirstState::compare(engine::Collective& links, const GivenTensor& given, const Tensor& tensor) {
    const std::uint32_t rank = links.rank();
    if (rank == 0) {
        return show(links, given, tensor);
    }
    const Block& block = given.placement[rank];
    const Block cover = cover_of(block, given.type.shape);
    const std::uint64_t hash_bytes = canonical::tile_count(given.type.shape) * Hash256::kSizeBytes;
    std::vector<std::uint64_t> expected(links.size());
    expected[0] = hash_bytes + (cover != block ? bytes_of(cover, given.type) : 0);
    const Bytes told = std::move(engine::cell::exchange(links, std::vector<Bytes>(links.size()), expected)[0]);
    std::vector<Hash256> leaves(canonical::tile_count(given.type.shape));
    for (std::size_t tile = 0; tile < leaves.size(); ++tile) {
        const ByteView one = ByteView(told).subspan(tile * Hash256::kSizeBytes, Hash256::kSizeBytes);
        std::copy(one.begin(), one.end(), leaves[tile].data.begin());
    }
    Tensor tiles = tensor;
    if (cover != block) {
        const ByteView values = ByteView(told).subspan(hash_bytes);
        tiles = {given.type.dtype, cover.shape(), Bytes(values.begin(), values.end())};
    }
    const bool is_same = cover == block || engine::cell::take_block(tiles, cover, block) == tensor;
    if (!block.is_empty() && (!is_same || !has_leaves(tiles, cover, given, leaves))) {
        refuse("another value of tensor " + std::to_string(given.index) + " than the checkpoint has");
    }
    note(given, leaves);
}

}  // namespace assay::group
