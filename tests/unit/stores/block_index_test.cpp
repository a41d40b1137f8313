// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>
#include <verifier/stores/block_index.hpp>

namespace assay::stores {
namespace {

Hash256 hash_of(const char* text) { return crypto::sha256(as_bytes(text)); }

TEST_CASE("ART-22: an index of blocks says what lies where") {
    BlockIndex index;
    index.put({.artifact = hash_of("b"), .is_leaves = false, .size_bytes = 3, .lists = {hash_of("list")}});
    index.put({.artifact = hash_of("b"), .is_leaves = true, .size_bytes = 0, .lists = {}});
    index.put({.artifact = hash_of("a"), .is_leaves = false, .size_bytes = kBlockBytes, .lists = {hash_of("old")}});
    index.put({.artifact = hash_of("a"), .is_leaves = false, .size_bytes = kBlockBytes, .lists = {hash_of("new")}});
    CHECK(index.entries.size() == 3);
    CHECK(index.find(hash_of("a"), false)->lists.front() == hash_of("new"));
    CHECK(index.find(hash_of("a"), true) == nullptr);
    CHECK(decode_block_index(encode_block_index(index)) == index);
}

TEST_CASE("ART-22: an index that is not in its one form is refused") {
    BlockIndex index;
    index.put({.artifact = hash_of("a"), .is_leaves = false, .size_bytes = 3, .lists = {hash_of("list")}});
    BlockIndex other = index;
    other.entries.push_back(other.entries.front());
    CHECK(!decode_block_index(encode_block_index(other)));  // twice
    other = index;
    other.entries.front().size_bytes = kBlockBytes * kHashesPerList + 1;
    CHECK(!decode_block_index(encode_block_index(other)));  // a list is missing
    other = index;
    other.version = 2;
    CHECK(!decode_block_index(encode_block_index(other)));
    CHECK(!decode_block_index(Bytes(kBlockBytes + 1)));
    CHECK(!decode_block_index({}));
    CHECK(block_count(0) == 0);
    CHECK(block_count(kBlockBytes + 1) == 2);
    CHECK(list_count(kBlockBytes * kHashesPerList) == 1);
}

TEST_CASE("ART-22: a list of blocks has as many hashes as the file has blocks") {
    Bytes bytes;
    append(bytes, hash_of("a").view());
    append(bytes, hash_of("b").view());
    CHECK(decode_block_list(bytes, 2)->at(1) == hash_of("b"));
    CHECK(!decode_block_list(bytes, 1));
    CHECK(!decode_block_list(bytes, 3));
}

}  // namespace
}  // namespace assay::stores
