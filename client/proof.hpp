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
#include <client/signed_header.hpp>

/// Verifies what a node says about the state against the app hash in signed blocks.
namespace assay::client {

struct ProvenSlot {
    std::optional<Bytes> value;  ///< nullopt: proven to be empty
    Height height;
    Hash256 app_hash;
    Bytes proof;  ///< Borsh(JmtProof), as it was verified
};

/// PAR-13: throws Mismatch if the node whose node_status this is speaks another version of the protocol: it would
/// not understand what is signed here, nor this program its records. A node that names none is of version 1.
void check_protocol(const nlohmann::json& status);

/// Returns who signs the chain's blocks: what `trust` says, and the word of the node whose node_status this is for the
/// rest.
Signers signers_of(const nlohmann::json& status, const Trust& trust);

/// Requests the slot of `key`, at `height` or at the latest height, and verifies its proof. Throws RpcError,
/// http::NetError, Mismatch.
ProvenSlot prove_slot(RpcClient& rpc, const Bytes& key, std::optional<Height> height = std::nullopt);

/// The block after a state carries its app hash. Fetches that block, waiting up to ten seconds for it, checks that it
/// carries `slot`'s app hash, and checks its signatures by `trust`: the proposer's, or the validators' by CometBFT's
/// light client rules (LGT). Returns the block's Unix time in seconds. Throws RpcError, http::NetError, Mismatch.
std::int64_t check_signed(RpcClient& rpc, const ProvenSlot& slot, const Trust& trust);

/// Likewise; returns the whole header.
SignedHeader read_signing(RpcClient& rpc, const ProvenSlot& slot, const Trust& trust);

/// Returns the verified header of block `height`, which the node must have. Throws RpcError, http::NetError, Mismatch.
SignedHeader read_signed(RpcClient& rpc, Height height, const Trust& trust);
/// Returns whether block `height` contains transaction `tx`, with the block's signatures verified by `trust`. Throws
/// RpcError, http::NetError, Mismatch.
bool holds_tx(RpcClient& rpc, Height height, const Hash256& tx, const Trust& trust);

/// Read a member of an answer. Throw Mismatch naming the member if it is missing or ill-typed.
std::string text_member(const nlohmann::json& object, const char* name);
std::uint64_t number_member(const nlohmann::json& object, const char* name);
/// Accepts an address or hex.
AccountId account_member(const nlohmann::json& object, const char* name);
/// A string member that is hex; for hash_member, of the right length. Throws Mismatch naming it.
Bytes hex_member(const nlohmann::json& object, const char* name);
Hash256 hash_member(const nlohmann::json& object, const char* name);

}  // namespace assay::client
