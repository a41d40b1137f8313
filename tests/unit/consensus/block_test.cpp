// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <consensus/solo/engine.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <tests/unit/consensus/toy_machine.hpp>

using namespace assay;
using namespace assay::solo;
using namespace assay::solo::test;

namespace {

BlockHeader make_header() {
    return {
        .chain_id = "toy-1",
        .height = {1},
        .time_ms = 1'000,
        .parent = {},
        .txs_root = {},
        .app_hash = crypto::sha256(as_bytes("genesis")),
        .proposer = {},
    };
}

LogRecord make_record() {
    return {.block = sign_block(make_header(), {toy_tx(1, 0)}, toy_key(1)), .app_hash = crypto::sha256(as_bytes("1"))};
}

/// A block that follows make_record()'s in every respect.
BlockHeader make_next_header() {
    const LogRecord first = make_record();
    BlockHeader header = first.block.header;
    header.height = {2};
    header.time_ms = 1'001;
    header.parent = block_hash(first.block.header);
    header.app_hash = first.app_hash;
    return header;
}

std::string fault_of(const BlockHeader& header, const crypto::SecretKey& key) {
    const LogRecord first = make_record();
    return find_fault(
        {.block = sign_block(header, {}, key), .app_hash = {}}, "toy-1", first.block.header, first.app_hash
    );
}

}  // namespace

TEST_CASE("BLK-10: the block hash is the tagged hash of the header's encoding") {
    const BlockHeader header = make_header();
    CHECK(block_hash(header) == crypto::TaggedHash("assay/block")(codec::encode(header)));
    BlockHeader other = header;
    other.time_ms += 1;
    CHECK(block_hash(other) != block_hash(header));
}

TEST_CASE("BLK-11: the transactions' root is over their hashes in order") {
    const std::vector<Bytes> txs{toy_tx(1, 0), toy_tx(2, 0)};
    const std::vector<Hash256> hashes{crypto::sha256(txs[0]), crypto::sha256(txs[1])};
    CHECK(txs_root(txs) == crypto::TaggedHash("assay/txs")(codec::encode(hashes)));
    CHECK(txs_root(std::vector{txs[1], txs[0]}) != txs_root(txs));
    CHECK(txs_root(std::vector<Bytes>{}) != txs_root(txs));
}

TEST_CASE("BLK-12: a block with another signature, header or body than signed is not authentic") {
    const Block block = sign_block(make_header(), {toy_tx(1, 0)}, toy_key(1));
    CHECK(block.header.proposer == toy_key(1).account());
    CHECK(is_authentic(block));
    Block header_altered = block;
    header_altered.header.time_ms += 1;
    CHECK_FALSE(is_authentic(header_altered));
    Block body_altered = block;
    body_altered.txs.push_back(toy_tx(1, 1));
    CHECK_FALSE(is_authentic(body_altered));
    Block signature_altered = block;
    signature_altered.signature.data[0] ^= 1U;
    CHECK_FALSE(is_authentic(signature_altered));
    Block signer_altered = block;
    signer_altered.header.proposer = toy_key(2).account();
    CHECK_FALSE(is_authentic(signer_altered));
}

TEST_CASE("BLK-13: a block of another chain, height or parent does not follow") {
    CHECK(fault_of(make_next_header(), toy_key(1)).empty());
    BlockHeader chain = make_next_header();
    chain.chain_id = "toy-2";
    CHECK(fault_of(chain, toy_key(1)).find("toy-2") != std::string::npos);
    BlockHeader height = make_next_header();
    height.height = {3};
    CHECK_FALSE(fault_of(height, toy_key(1)).empty());
    BlockHeader parent = make_next_header();
    parent.parent = {};
    CHECK_FALSE(fault_of(parent, toy_key(1)).empty());
}

TEST_CASE("BLK-14: a block not later than its parent is refused") {
    BlockHeader header = make_next_header();
    header.time_ms = 1'000;
    CHECK(fault_of(header, toy_key(1)) == "is not later than its parent");
}

TEST_CASE("BLK-15: a block that names another app hash than the state before it is refused") {
    BlockHeader header = make_next_header();
    header.app_hash = {};
    CHECK_FALSE(fault_of(header, toy_key(1)).empty());
}

TEST_CASE("BLK-16: a block of another proposer than its parent's is refused") {
    CHECK(fault_of(make_next_header(), toy_key(2)) == "has another proposer than its parent");
}
