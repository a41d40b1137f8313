// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <tests/unit/dispute/game.hpp>
#include <core/dispute/commitment.hpp>

using namespace assay;
using namespace assay::dispute;

namespace {
canonical::Tensor ramp(canonical::Shape shape) {
    auto tensor = canonical::make_tensor(canonical::DType::kI32, shape);
    for (std::size_t i = 0; i < tensor.data.size(); i += 4) {
        tensor.data[i] = static_cast<std::uint8_t>(i / 4 % 251);
    }
    return tensor;
}
}  // namespace

TEST_CASE("TRC-1: a tile's leaf is the tagged hash of its padded bytes") {
    const auto tensor = ramp({3, 5});
    const auto tile = canonical::tile_of(tensor, 0);
    CHECK(tile.data.size() == 4096);
    CHECK(tile_leaf(tile) == crypto::TaggedHash("assay/tile")(tile.data));
}

TEST_CASE("TRC-2: a tensor's commitment binds type, shape and every element") {
    const auto tensor = ramp({40, 70});
    const Hash256 commitment = commit_tensor(tensor);
    for (const std::size_t at : {std::size_t{0}, std::size_t{4 * 70 * 39}, tensor.data.size() - 4}) {
        auto other = tensor;
        other.data[at] ^= 1U;
        CHECK(commit_tensor(other) != commitment);
    }
    const Hash256 root = tile_tree(tensor).root();
    CHECK(tensor_commitment({canonical::DType::kI32, {40, 70}}, root) == commitment);
    CHECK(tensor_commitment({canonical::DType::kF32, {40, 70}}, root) != commitment);
    CHECK(tensor_commitment({canonical::DType::kI32, {41, 70}}, root) != commitment);
}

TEST_CASE("TRC-3: a state root binds the number and the order of its tensors") {
    const Hash256 a = commit_tensor(ramp({1, 1}));
    const Hash256 b = commit_tensor(ramp({2, 2}));
    CHECK(state_root(std::vector{a, b}) != state_root(std::vector{b, a}));
    CHECK(state_root(std::vector{a}) != state_root(std::vector{a, Hash256{}}));
}

TEST_CASE("TRC-4: an accumulator's hash has a tag of its own") {
    const auto tile = canonical::tile_of(ramp({3, 5}), 0);
    CHECK(accumulator_hash({.data = tile.data}) != tile_leaf(tile));
    CHECK(accumulator_hash({.data = tile.data}) == crypto::TaggedHash("assay/partial")(tile.data));
}

TEST_CASE("TRC-5: a node's hash covers operation, attributes and inputs") {
    const auto world = dispute::testing::char_world();
    auto node = world.step[3];
    const Hash256 hash = node_hash(node);
    node.attributes[0] ^= 1U;
    CHECK(node_hash(node) != hash);
    node.attributes[0] ^= 1U;
    node.op = canonical::Op::kExp;
    CHECK(node_hash(node) != hash);
}

TEST_CASE("TRC-6: a dataset's tree has a leaf for each chunk of 4,096 bytes") {
    const dispute::testing::MemoryRows rows({.rows = 500, .width = 5}, 100);
    const auto tree = dataset_tree(rows);
    CHECK(tree.leaf_count() == 3);
    Bytes all;
    for (std::uint64_t row = 0; row < 500; ++row) {
        append(all, rows.row(row));
    }
    const ByteView last = ByteView(all).subspan(8192);
    CHECK(last.size() == 500 * 5 * 4 - 8192);
    CHECK(merkle::root_from_path(chunk_leaf(last), 2, 3, tree.path(2)) == tree.root());
}

TEST_CASE("TRC-7: a program's id changes with either graph, the dataset's shape and the initial tensors") {
    auto world = dispute::testing::char_world();
    const auto commitment = world.commitment();
    world.step[2].attributes[0] ^= 1U;
    CHECK(program_id(world.commitment()) != program_id(commitment));
    auto other = commitment;
    other.dataset.rows += 1;
    CHECK(program_id(other) != program_id(commitment));
    other = commitment;
    CHECK(other.initial_root.is_zero());
    other.initial_tensors = 1;
    CHECK(program_id(other) != program_id(commitment));
    const Hash256 with_one = program_id(other);
    other.initial_root.data[0] = 1;
    CHECK(program_id(other) != with_one);
}

TEST_CASE("TRC-8: a step's entries are its nodes' commitments and then the state root") {
    const auto world = dispute::testing::contraction_world(96);
    dispute::testing::ScalarReplay replay(world, false, 7);
    const auto entries = step_entries(replay, 0);
    REQUIRE(entries.size() == world.step.size());
    CHECK(entries[2] == commit_tensor(replay.node_output(0, 2)));
    CHECK(entries.back() == replay.state_root_after(0));
}
