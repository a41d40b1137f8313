// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <core/dispute/commitment.hpp>
#include <tests/unit/artifacts/file_of_chunks.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <verifier/artifacts/chunks.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/artifacts/partial_dataset.hpp>

namespace assay::artifacts {
namespace {

using canonical::DatasetShape;

Bytes noise(std::size_t size) {
    Bytes out(size);
    std::uint32_t word = 1;
    for (std::uint8_t& byte : out) {
        word = word * 1'664'525U + 1'013'904'223U;
        byte = static_cast<std::uint8_t>(word >> 24U);
    }
    return out;
}

/// Rows of 1,500 halves that overlap by 3 values, so that many lie in two chunks; the last chunk is short.
struct Rows {
    DatasetShape shape{.rows = 1'001, .width = 1'500, .overlap = 3, .storage = canonical::Storage::kU16};
    Dataset whole = *Dataset::make(shape, noise(canonical::byte_count(shape)));
    merkle::Tree tree = dispute::dataset_tree(whole);
    ExpectedDataset expected{.shape = shape, .root = tree.root()};
};

TEST_CASE("ART-17: the hashes of the chunks are taken only when the dataset's root follows from them") {
    const Rows rows;
    const Bytes leaves = encode_chunk_leaves(rows.tree);
    CHECK(leaves.size() == chunk_leaves_bytes(rows.shape));
    const auto decoded = decode_chunk_leaves(rows.expected, leaves);
    REQUIRE(decoded.has_value());
    CHECK(encode_chunk_leaves(*decoded) == leaves);
    for (const std::size_t at : {std::size_t{0}, leaves.size() / 2, leaves.size() - 1}) {
        Bytes wrong = leaves;
        wrong[at] ^= 1U;
        CHECK_FALSE(decode_chunk_leaves(rows.expected, wrong).has_value());
    }
    CHECK_FALSE(decode_chunk_leaves(rows.expected, ByteView(leaves).first(leaves.size() - 32)).has_value());
    CHECK_FALSE(decode_chunk_leaves(rows.expected, {}).has_value());
    Bytes longer = leaves;
    longer.resize(leaves.size() + 32);
    CHECK_FALSE(decode_chunk_leaves(rows.expected, longer).has_value());
    CHECK_FALSE(decode_chunk_leaves({.shape = rows.shape, .root = Hash256{{1}}}, leaves).has_value());
}

TEST_CASE("ART-18: a list of chunks has one spelling") {
    using List = std::vector<std::uint64_t>;
    for (const List& list : {List{0}, List{1, 2, 30}, List{0, 68'719'476'735}}) {
        CHECK(decode_chunk_list(encode_chunk_list(list)) == list);
    }
    for (const char* text :
         {"", ",", "1,", ",1", "01", "+1", " 1", "1, 2", "2,1", "1,1", "-1", "0x1", "1;2", "00", "18446744073709551616",
          "1,,2", "a"}) {
        CAPTURE(text);
        CHECK_FALSE(decode_chunk_list(text).has_value());
    }
    List most(kChunksPerRequest);
    std::iota(most.begin(), most.end(), 5U);
    CHECK(decode_chunk_list(encode_chunk_list(most)) == most);
    most.push_back(1'000);
    CHECK_FALSE(decode_chunk_list(encode_chunk_list(most)).has_value());
}

TEST_CASE("ART-19: the chunks of some steps hold their rows and nothing else") {
    const Rows rows;
    const StepRange steps{.seed = 9, .first = 7, .count = 5};
    const std::vector<std::uint32_t> batches{6};
    const auto chunks = chunks_read(rows.shape, steps, batches);
    REQUIRE(chunks.has_value());
    const test::TemporaryDirectory home;
    const ContentStore store(home.path());
    const auto partial =
        std::make_shared<const PartialDataset>(PartialDataset::make(store, Hash256{{1}}, rows.expected, rows.tree));
    const Dataset some(partial);
    const auto read_all = [&] {
        for (std::uint64_t position = 7 * 6; position < 12 * 6; ++position) {
            const std::uint64_t row = canonical::batch_row(9, position, rows.shape.rows);
            if (some.row(row) != rows.whole.row(row)) {
                return false;
            }
        }
        return true;
    };
    for (const std::uint64_t chunk : *chunks) {
        CHECK_THROWS_AS(read_all(), StoreError);  // none can be missing
        REQUIRE(partial->put(chunk, rows.whole.chunk(chunk)));
    }
    CHECK(read_all());
}

TEST_CASE("ART-19: all of a dataset is fetched where a part would save little or cannot be listed") {
    const Rows rows;
    const std::vector<std::uint32_t> batches{10};
    CHECK(chunks_read(rows.shape, {.seed = 1, .first = 0, .count = 10}, batches).has_value());
    CHECK_FALSE(chunks_read(rows.shape, {.seed = 1, .first = 0, .count = 100}, batches).has_value());
    CHECK(chunks_read(rows.shape, {.seed = 1, .first = 0, .count = 0}, batches)->empty());
    CHECK(chunks_read(rows.shape, {.seed = 1, .first = 0, .count = 100}, {})->empty());
    const DatasetShape small{.rows = 100, .width = 100};
    CHECK_FALSE(chunks_read(small, {.seed = 1, .first = 0, .count = 1}, batches).has_value());
    const DatasetShape huge{.rows = std::uint64_t{1} << 40U, .width = 64, .storage = canonical::Storage::kU8};
    CHECK_FALSE(chunks_read(huge, {.seed = 1, .first = 0, .count = 1}, batches).has_value());
    // Whoever writes a task chooses these numbers, so they are bounded before anything is listed.
    const DatasetShape large{.rows = std::uint64_t{1} << 28U, .width = 64, .storage = canonical::Storage::kU8};
    const std::vector<std::uint32_t> huge_batches{0xffffffffU, 0xfffffffeU};
    CHECK_FALSE(chunks_read(large, {.seed = 1, .first = 0, .count = ~std::uint64_t{0}}, huge_batches).has_value());
    CHECK(chunks_read(large, {.seed = 1, .first = 0, .count = 8}, batches)->size() <= 160);
}

TEST_CASE("ART-19: a chunk that is absent or damaged is never read, whatever the file has in its place") {
    const Rows rows;
    const test::TemporaryDirectory home;
    const ContentStore store(home.path());
    const Hash256 hash{{1}};
    const auto partial =
        std::make_shared<const PartialDataset>(PartialDataset::make(store, hash, rows.expected, rows.tree));
    const Dataset some(partial);
    const std::uint64_t last = rows.tree.leaf_count() - 1;
    CHECK_FALSE(partial->has(3));
    CHECK_THROWS_AS(some.chunk(3), StoreError);
    CHECK_FALSE(partial->put(3, rows.whole.chunk(4)));
    CHECK_FALSE(partial->put(3, ByteView(rows.whole.chunk(3)).first(4'095)));
    CHECK_FALSE(partial->put(last, rows.whole.chunk(3)));
    CHECK_FALSE(partial->has(3));
    CHECK(partial->put(3, rows.whole.chunk(3)));
    CHECK(partial->put(last, rows.whole.chunk(last)));
    CHECK(some.chunk(3) == rows.whole.chunk(3));
    CHECK(some.chunk(last) == rows.whole.chunk(last));

    CHECK_FALSE(PartialDataset::open(store, Hash256{{2}}, rows.expected).has_value());
    const auto again = PartialDataset::open(store, hash, rows.expected);
    REQUIRE(again.has_value());
    CHECK(again->has_all(std::vector<std::uint64_t>{3, last}));
    const auto path = test::file_of_chunks(store);
    Bytes file = test::file_bytes(path);
    file[3 * std::size_t{canonical::kChunkBytes}] ^= 1U;
    test::write_file(path, file);
    CHECK_FALSE(again->has(3));
    CHECK_THROWS_AS(some.row(6), StoreError);
    CHECK(again->has(last));
    CHECK(store.partials().size() == 2);
    store.remove_partials(hash);
    CHECK(store.partials().empty());
    CHECK_FALSE(PartialDataset::open(store, hash, rows.expected).has_value());
}

TEST_CASE("ART-17: two tasks that give one SHA-256 different roots do not overwrite each other's chunks") {
    const Rows rows;
    Bytes bytes = noise(canonical::byte_count(rows.shape));
    bytes[0] ^= 1U;
    const Dataset forged = *Dataset::make(rows.shape, bytes);
    const merkle::Tree tree = dispute::dataset_tree(forged);
    const test::TemporaryDirectory home;
    const ContentStore store(home.path());
    const Hash256 hash{{1}};
    const auto honest = PartialDataset::make(store, hash, rows.expected, rows.tree);
    const ExpectedDataset other{.shape = rows.shape, .root = tree.root()};
    const auto attacker = PartialDataset::make(store, hash, other, tree);
    REQUIRE(honest.put(0, rows.whole.chunk(0)));
    REQUIRE(attacker.put(0, forged.chunk(0)));
    CHECK(honest.chunk(0) == rows.whole.chunk(0));
    CHECK(PartialDataset::open(store, hash, rows.expected)->has(0));
}

TEST_CASE("ART-19: a chunk of zeros is there as soon as its hash is known") {
    const DatasetShape shape{.rows = 4'096, .width = 2};
    const Dataset whole = *Dataset::make(shape, Bytes(canonical::byte_count(shape)));
    const test::TemporaryDirectory home;
    const ContentStore store(home.path());
    merkle::Tree tree = dispute::dataset_tree(whole);
    const ExpectedDataset expected{.shape = shape, .root = tree.root()};
    const auto partial = PartialDataset::make(store, Hash256{{1}}, expected, std::move(tree));
    CHECK(partial.has_all(std::vector<std::uint64_t>{0, 7}));
}

}  // namespace
}  // namespace assay::artifacts
