// SPDX-License-Identifier: Apache-2.0
#include <consensus/solo/block.hpp>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>

namespace assay::solo {

// BLK-10
Hash256 block_hash(const BlockHeader& header) {
    static const crypto::TaggedHash kHash("assay/block");
    return kHash(codec::encode(header));
}

// BLK-11
Hash256 txs_root(const std::vector<Bytes>& txs) { return txs_root(contracts::tx_hashes(txs)); }

Hash256 txs_root(const std::vector<Hash256>& tx_hashes) {
    static const crypto::TaggedHash kHash("assay/txs");
    return kHash(codec::encode(tx_hashes));
}

Block sign_block(
    BlockHeader header, std::vector<Bytes> txs, const crypto::SecretKey& proposer,
    const std::array<std::uint8_t, 32>& aux
) {
    const auto hashes = contracts::tx_hashes(txs);
    return sign_block(std::move(header), std::move(txs), hashes, proposer, aux);
}

Block sign_block(
    BlockHeader header, std::vector<Bytes> txs, const std::vector<Hash256>& tx_hashes,
    const crypto::SecretKey& proposer, const std::array<std::uint8_t, 32>& aux
) {
    header.proposer = proposer.account();
    header.txs_root = txs_root(tx_hashes);
    Block block{.header = std::move(header), .signature = {}, .txs = std::move(txs)};
    block.signature = proposer.sign(block_hash(block.header).view(), aux);
    return block;
}

// BLK-12
bool is_authentic(const Block& block) {
    return block.header.txs_root == txs_root(block.txs) &&
           crypto::verify_signature(block.header.proposer, block_hash(block.header).view(), block.signature);
}

}  // namespace assay::solo
