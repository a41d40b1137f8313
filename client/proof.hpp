// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <client/rpc_client.hpp>

/// What a node says about the state, held against the app hash that signed blocks carry.
namespace assay::client {

/// What the node said does not verify; the message says which part.
class Mismatch : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Who may say what the state is. Without any of it the node's word is taken for who signs blocks.
struct Trust {
    /// Under the embedded engine: the account whose signature of a block counts.
    std::optional<AccountId> proposer;
    /// Under CometBFT: a block that the user knows to be the chain's, by height and hash, some days old at most.
    struct Block {
        std::uint64_t height = 0;
        Hash256 hash;
        bool operator==(const Block&) const = default;
    };
    std::optional<Block> block;
    /// How many seconds ago the block that signs the state may have been made: a node can show an old state with all its
    /// signatures. nullopt: any time.
    std::optional<std::int64_t> max_age_s{};
    /// LGT-5, under CometBFT: how old `block` may be. nullopt: a week.
    std::optional<std::int64_t> trusting_s{};
    /// What the home has pinned; empty: the node's word.
    std::string chain_id{};
    std::string engine{};  ///< "solo" or "cometbft"
};

/// What the block of a height says, found to be signed by those who count.
struct SignedHeader {
    Hash256 app_hash;         ///< of the state after the block before
    std::int64_t time_s = 0;  ///< Unix time
    Hash256 hash;             ///< of the header
    Bytes txs_hash;           ///< what commits to the block's transactions
};

struct ProvenSlot {
    std::optional<Bytes> value;  ///< nullopt: proven to be empty
    Height height;
    Hash256 app_hash;
};

/// Asks for the slot of `key` (at `height`, or the latest) and verifies the proof. Throws RpcError, http::NetError, Mismatch.
ProvenSlot prove_slot(RpcClient& rpc, const Bytes& key, std::optional<Height> height = std::nullopt);

/// The block after a state carries its app hash: fetches it, waiting up to ten seconds for it, and checks that those
/// who `trust` makes count signed it - the proposer, or validators by CometBFT's light client rules (LGT) - and that it
/// carries `slot`'s app hash. Returns when it was made, in Unix seconds. Throws RpcError, http::NetError, Mismatch.
std::int64_t check_signed(RpcClient& rpc, const ProvenSlot& slot, const Trust& trust);

/// Block `height`, which the node has. Throws RpcError, http::NetError, Mismatch.
SignedHeader read_signed(RpcClient& rpc, Height height, const Trust& trust);
/// Whether block `height` holds transaction `tx`, as those say who sign blocks. Throws RpcError, http::NetError, Mismatch.
bool holds_tx(RpcClient& rpc, Height height, const Hash256& tx, const Trust& trust);

/// Members of an answer. Throw Mismatch naming what is missing.
std::string text_member(const nlohmann::json& object, const char* name);
std::uint64_t number_member(const nlohmann::json& object, const char* name);
/// Addresses and hex name accounts alike.
AccountId account_member(const nlohmann::json& object, const char* name);
/// A text member that is hex of the right length. Throws Mismatch naming it.
Bytes hex_member(const nlohmann::json& object, const char* name);
Hash256 hash_member(const nlohmann::json& object, const char* name);

}  // namespace assay::client
