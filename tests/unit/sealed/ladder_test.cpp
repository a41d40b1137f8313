// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/ladder.hpp>

#include <array>

#include <doctest/doctest.h>

#include <core/canonical/tile.hpp>
#include <core/codec/borsh.hpp>
#include <core/dispute/commitment.hpp>
#include <core/merkle/tree.hpp>
#include <tests/unit/sealed/sealed_state.hpp>

namespace assay::sealed {
namespace {

using canonical::DType;
using canonical::TensorType;

/// A tensor of so many tiles.
TensorType tiles_in(DType dtype, std::uint32_t tiles) {
    return {.dtype = dtype, .shape = {.rows = 32 * tiles, .cols = 1}};
}

TEST_CASE("SEA-7: levels are numbered from the top and every item is in one chunk") {
    for (const auto& [type, counts] : {
             std::pair{tiles_in(DType::kF32, 1), std::vector<std::uint64_t>{1}},
             std::pair{tiles_in(DType::kF32, 4), std::vector<std::uint64_t>{1}},
             std::pair{tiles_in(DType::kF32, 5), std::vector<std::uint64_t>{2, 1}},
             std::pair{tiles_in(DType::kI8, 16), std::vector<std::uint64_t>{1}},
             std::pair{tiles_in(DType::kBf16, 17), std::vector<std::uint64_t>{3, 1}},
             std::pair{tiles_in(DType::kI64, 1024), std::vector<std::uint64_t>{512, 1}},
             std::pair{tiles_in(DType::kI64, 1025), std::vector<std::uint64_t>{513, 2, 1}},
         }) {
        const Ladder ladder = Ladder::of_tensor(type);
        REQUIRE(ladder.level_count() == counts.size());
        std::uint64_t next = 0;
        for (std::uint32_t level = ladder.level_count(); level-- > 0;) {
            CHECK(ladder.chunks_of(level) == counts[level]);
            CHECK(ladder.first_chunk(level) == next);
            std::uint64_t items = 0;
            for (std::uint64_t i = 0; i < counts[level]; ++i) {
                const ChunkPlace place = ladder.place(next + i);
                CHECK(place.level == level);
                CHECK(place.first_item == items);
                CHECK(ladder.plaintext_bytes(place) <= kChunkBytes);
                CHECK((i + 1 == counts[level] || level == 0 || ladder.plaintext_bytes(place) == kChunkBytes));
                items += place.item_count;
            }
            CHECK(items == (level == 0 ? canonical::tile_count(type.shape) : counts[level - 1]));
            next += counts[level];
        }
        CHECK(ladder.chunk_count() == next);
    }
    const Ladder list = Ladder::of_list(257);
    CHECK(list.level_count() == 2);
    CHECK(list.chunks_of(0) == 2);
    CHECK(list.plaintext_bytes(list.place(1)) == 256 * kListEntryBytes);
    CHECK(Ladder::of_list(4'096).chunk_count() == 17);
}

TEST_CASE("SEA-7: a chunk of tiles has 16384 bytes for every type of elements") {
    for (const DType dtype : {DType::kF32, DType::kI32, DType::kI64, DType::kBf16, DType::kI8}) {
        CHECK(((canonical::kTileElements * canonical::size_of(dtype)) << tiles_log(dtype)) == kChunkBytes);
    }
}

TEST_CASE("SEA-7: the largest tensor has more chunks than can be numbered and is counted all the same") {
    const Ladder ladder = Ladder::of_tensor(
        {.dtype = DType::kF32, .shape = {.rows = canonical::kMaxDimension, .cols = canonical::kMaxDimension}}
    );
    CHECK(ladder.chunks_of(0) == std::uint64_t{1} << 36U);
    CHECK(ladder.chunk_count() > kMaxChunks);
    CHECK(ladder.root_height() == 38);
    CHECK(ladder.place(ladder.chunk_count() - 1).node_index == (std::uint64_t{1} << 36U) - 1);
}

TEST_CASE("SEA-8: entries of the list commit to tensors as a state root does") {
    const auto tensor = testing::make_tensor(DType::kBf16, {.rows = 40, .cols = 70}, 1);
    const ListEntry entry{
        .type = {.dtype = tensor.dtype, .shape = tensor.shape}, .tile_root = dispute::tile_tree(tensor).root()};
    const Bytes encoded = codec::encode(entry);
    CHECK(encoded.size() == kListEntryBytes);
    const Ladder list = Ladder::of_list(1);
    CHECK(list.fold(list.place(0), encoded) == dispute::commit_tensor(tensor));
    Bytes altered = encoded;
    altered[0] = 9;  // no such type
    CHECK_FALSE(list.fold(list.place(0), altered).has_value());
    altered = encoded;
    altered.push_back(0);
    CHECK_FALSE(list.fold(list.place(0), altered).has_value());
}

TEST_CASE("SEA-9: what a chunk folds to is a node of the tensor's own tree") {
    testing::Random random(3);
    for (const std::uint32_t tiles : {1U, 2U, 3U, 4U, 5U, 8U, 13U, 33U}) {
        for (const DType dtype : {DType::kF32, DType::kI64, DType::kBf16, DType::kI8}) {
            CAPTURE(tiles);
            const auto tensor = testing::make_tensor(dtype, {.rows = 32 * tiles - 5, .cols = 30}, random());
            const merkle::Tree tree = dispute::tile_tree(tensor);
            const Ladder ladder = Ladder::of_tensor({.dtype = dtype, .shape = tensor.shape});
            for (std::uint64_t chunk = 0; chunk < ladder.chunk_count(); ++chunk) {
                const ChunkPlace place = ladder.place(chunk);
                Bytes plaintext;
                for (std::uint32_t i = 0; i < place.item_count; ++i) {
                    const std::uint64_t item = place.first_item + i;
                    if (place.level == 0) {
                        append(plaintext, canonical::tile_of(tensor, item).data);
                    } else {
                        append(plaintext, tree.node(place.item_height, item).view());
                    }
                }
                CHECK(ladder.fold(place, plaintext) == tree.node(place.node_height, place.node_index));
                CHECK((chunk != 0 || ladder.fold(place, plaintext) == tree.root()));
                plaintext[random() % plaintext.size()] ^= 1U;
                CHECK(ladder.fold(place, plaintext) != tree.node(place.node_height, place.node_index));
                plaintext.pop_back();
                CHECK_FALSE(ladder.fold(place, plaintext).has_value());
            }
        }
    }
}

TEST_CASE("SEA-9: nodes are padded with empty subtrees of their own height") {
    std::vector<Hash256> leaves;
    for (std::uint64_t i = 0; i < 21; ++i) {
        leaves.push_back(testing::hash_numbered(i));
    }
    const merkle::Tree tree(leaves);
    for (const std::uint32_t height : {0U, 1U, 2U, 3U, 5U}) {
        std::vector<Hash256> nodes;
        for (std::uint64_t i = 0; i << height < leaves.size(); ++i) {
            nodes.push_back(tree.node(height, i));
        }
        CHECK(fold_nodes(nodes, height, 5 - height) == tree.root());
        for (std::uint64_t i = 0; i < nodes.size(); ++i) {
            const auto path = path_among(nodes, i, height, 5);
            REQUIRE(path.size() == 5 - height);
            CHECK(merkle::root_from_path(nodes[i], i, 1U << (5 - height), path) == tree.root());
        }
    }
}

}  // namespace
}  // namespace assay::sealed
