// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <consensus/solo/block.hpp>

/// Verifies who signed a block, from its bytes alone. They come from a node or from a file.
namespace assay::client {

/// Something that a node or a file says does not verify. The message says which part.
class Mismatch : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Whose signatures make a state trusted. If nothing is set, the node's word is taken for who signs blocks.
struct Trust {
    /// With the embedded engine: the account that must have signed a block.
    std::optional<AccountId> proposer;
    /// With CometBFT: a block that the user knows to be of the chain, by height and hash; it must not be too old
    /// (trusting_s).
    struct Block {
        std::uint64_t height = 0;
        Hash256 hash;
        bool operator==(const Block&) const = default;
    };
    std::optional<Block> block;
    /// Maximum age, in seconds, of the block that carries the state's app hash: a node can show an old state with all
    /// its signatures. nullopt: no limit.
    std::optional<std::int64_t> max_age_s{};
    /// LGT-5, with CometBFT: the trusting period, which is the maximum age of `block`. nullopt: a week.
    std::optional<std::int64_t> trusting_s{};
    /// What the home has pinned; empty: the node's word is taken.
    std::string chain_id{};
    std::string engine{};  ///< "solo" or "cometbft"
};

/// The contents of a block header whose signatures have been verified.
struct SignedHeader {
    Hash256 app_hash;         ///< of the state after the previous block
    std::int64_t time_s = 0;  ///< Unix time
    Hash256 hash;             ///< of the header
    Bytes txs_hash;           ///< commitment to the block's transactions
    Bytes raw;                ///< the block as it was verified: Borsh of solo::Block or of light::LightBlock
};

/// Returns the Borsh bytes of block `height`: a solo::Block, or with CometBFT a light::LightBlock. Throws what its
/// transport throws, or Mismatch.
using BlockSource = std::function<Bytes(std::uint64_t height)>;

/// The chain, and who signs its blocks.
struct Signers {
    std::string chain_id;
    bool by_many = false;  ///< CometBFT's validators, not one proposer
    AccountId proposer;    ///< unless by_many
};

/// Returns the Unix time in seconds.
std::int64_t now_seconds();

/// Returns the block of the embedded engine whose bytes are `raw`. Throws Mismatch if it is not block `height` of the
/// chain, or is not signed by its proposer.
solo::Block check_solo_block(ByteView raw, Height height, const Signers& signers);

/// Returns the verified header of block `height`. `now_s` is the Unix time that `trust.trusting_s` is counted to.
/// Throws Mismatch and what `blocks` throws.
SignedHeader check_header(
    const BlockSource& blocks, Height height, const Signers& signers, const Trust& trust, std::int64_t now_s
);

/// Returns true if a header of CometBFT with `txs_hash` commits to transactions with these hashes, of 32 bytes each, in
/// this order (LGT-8).
bool commits_to(const Bytes& txs_hash, const std::vector<Bytes>& hashes);

}  // namespace assay::client
