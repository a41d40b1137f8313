// SPDX-License-Identifier: Apache-2.0
#include <core/merkle/tree.hpp>

#include <limits>

#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>

namespace assay::merkle {
namespace {

std::vector<Hash256> some_leaves(std::size_t count) {
    std::vector<Hash256> leaves(count);
    for (std::size_t i = 0; i < count; ++i) {
        const Bytes seed{static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(count)};
        leaves[i] = crypto::sha256(seed);
    }
    return leaves;
}

/// The definition: leaves padded with zero hashes to a power of two, halves hashed recursively.
Hash256 oracle(std::span<const Hash256> padded) {
    if (padded.size() == 1) {
        return padded.front();
    }
    static const crypto::TaggedHash kNode("assay/merkle-node");
    Bytes both;
    append(both, oracle(padded.first(padded.size() / 2)).view());
    append(both, oracle(padded.last(padded.size() / 2)).view());
    return kNode(both);
}

TEST_CASE("MRK-1 MRK-2 MRK-3: roots are those of the padded tree for every count up to 33") {
    for (std::size_t count = 1; count <= 33; ++count) {
        const auto leaves = some_leaves(count);
        auto padded = leaves;
        padded.resize(std::size_t{1} << tree_depth(count));
        const Hash256 root = root_of(leaves);
        CHECK(root == oracle(padded));
        CHECK(root == Tree(leaves).root());
        padded.resize(padded.size() * 4);
        CHECK(root_of_height(leaves, tree_depth(count) + 2) == oracle(padded));
    }
    CHECK(root_of_height({}, 3) == empty_root(3));
    CHECK(empty_root(0).is_zero());
    CHECK(empty_root(1) == hash_children(Hash256{}, Hash256{}));
}

TEST_CASE("MRK-2 MRK-3: the examples of encoding.md hold") {
    CHECK(to_hex(empty_root(1).view()) == "5d1ad8d66ded3eab07b9f89a2319c9f63df88cf02a0c4d79bd09df734b4ff5ef");
    const std::vector<Hash256> leaves{
        crypto::sha256(as_bytes("a")), crypto::sha256(as_bytes("b")), crypto::sha256(as_bytes("c"))};
    CHECK(to_hex(root_of(leaves).view()) == "e9faa6ca8346f8164aa04e780612df790b7daa244b92c9f00a6746a442d77c5f");
}

TEST_CASE("MRK-1: the root over one leaf is the leaf") {
    const auto leaves = some_leaves(1);
    CHECK(root_of(leaves) == leaves.front());
    CHECK(Tree(leaves).path(0).empty());
}

TEST_CASE("MRK-4: each path leads to the root from its own index alone") {
    for (std::size_t count : {1U, 2U, 3U, 5U, 8U, 13U, 33U}) {
        const auto leaves = some_leaves(count);
        const Tree tree(leaves);
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto path = tree.path(i);
            CHECK(root_from_path(leaves[i], i, count, path) == tree.root());
            for (std::uint64_t other = 0; other < count; ++other) {
                CHECK((root_from_path(leaves[i], other, count, path) == tree.root()) == (other == i));
            }
            for (std::size_t level = 0; level < path.size(); ++level) {
                auto bad = path;
                bad[level].data[31] ^= 1U;
                CHECK(root_from_path(leaves[i], i, count, bad) != tree.root());
            }
        }
    }
}

TEST_CASE("MRK-4: a path of the wrong length or an index out of range is refused") {
    const auto leaves = some_leaves(5);
    const Tree tree(leaves);
    auto path = tree.path(2);
    CHECK_FALSE(root_from_path(leaves[2], 5, 5, path).has_value());
    CHECK_FALSE(root_from_path(leaves[2], 2, 4, path).has_value());
    CHECK_FALSE(root_from_path(leaves[2], 2, 9, path).has_value());
    CHECK_FALSE(root_from_path(leaves[2], 0, 0, {}).has_value());
    path.pop_back();
    CHECK_FALSE(root_from_path(leaves[2], 2, 5, path).has_value());
}

TEST_CASE("tree depth covers the whole range of counts") {
    CHECK(tree_depth(1) == 0);
    CHECK(tree_depth(2) == 1);
    CHECK(tree_depth(3) == 2);
    CHECK(tree_depth(4) == 2);
    CHECK(tree_depth(5) == 3);
    CHECK(tree_depth(std::uint64_t{1} << 63U) == 63);
    CHECK(tree_depth(std::numeric_limits<std::uint64_t>::max()) == 64);
}

TEST_CASE("a tree gives nodes of every height and empty subtrees beyond its leaves") {
    const auto leaves = some_leaves(5);
    const Tree tree(leaves);
    CHECK(tree.leaf_count() == 5);
    CHECK(tree.node(0, 4) == leaves[4]);
    CHECK(tree.node(0, 7) == empty_root(0));
    CHECK(tree.node(1, 3) == empty_root(1));
    CHECK(tree.node(1, 2) == hash_children(leaves[4], empty_root(0)));
    CHECK(tree.node(3, 0) == tree.root());
}

}  // namespace
}  // namespace assay::merkle
