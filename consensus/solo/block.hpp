// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <core/crypto/keys.hpp>
#include <contracts/transaction/transaction.hpp>

/// Blocks of the embedded engine (BLK rules). They have a single proposer, whose signature auditors check.
namespace assay::solo {

struct BlockHeader {
    std::string chain_id;
    Height height;
    std::uint64_t time_ms = 0;  ///< strictly later than the parent's
    Hash256 parent;             ///< block_hash of the parent; zero for block 1
    Hash256 txs_root;           ///< tagged hash "assay/txs" of the Borsh vector of transaction hashes
    Hash256 app_hash;           ///< of the state after the parent (for block 1: of genesis)
    AccountId proposer;
    static constexpr auto fields() {
        return Fields<
            &BlockHeader::chain_id, &BlockHeader::height, &BlockHeader::time_ms, &BlockHeader::parent,
            &BlockHeader::txs_root, &BlockHeader::app_hash, &BlockHeader::proposer>{};
    }
};

struct Block {
    BlockHeader header;
    Signature signature;  ///< BIP-340 by the proposer over block_hash
    std::vector<Bytes> txs;
    static constexpr auto fields() { return Fields<&Block::header, &Block::signature, &Block::txs>{}; }
};

/// Returns the tagged hash "assay/block" of Borsh(header).
Hash256 block_hash(const BlockHeader& header);
Hash256 txs_root(const std::vector<Bytes>& txs);
Hash256 txs_root(const std::vector<Hash256>& tx_hashes);
/// Fills in proposer and txs_root, signs, and returns the block. `aux` is BIP-340's auxiliary randomness.
Block sign_block(
    BlockHeader header, std::vector<Bytes> txs, const crypto::SecretKey& proposer,
    const std::array<std::uint8_t, 32>& aux = {}
);
/// The same for a caller that already has the hashes of the transactions.
Block sign_block(
    BlockHeader header, std::vector<Bytes> txs, const std::vector<Hash256>& tx_hashes,
    const crypto::SecretKey& proposer, const std::array<std::uint8_t, 32>& aux
);
/// Returns true if signature and txs_root are valid. Does not check what depends on the parent; find_fault() does.
bool is_authentic(const Block& block);

}  // namespace assay::solo
