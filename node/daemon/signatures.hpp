// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include <contracts/state/params.hpp>
#include <contracts/transaction/decoded.hpp>
#include <core/base/bytes.hpp>
#include <core/crypto/keys.hpp>
#include <consensus/seeded_hash.hpp>

namespace assay::node {

/// Transactions that this node has decoded, whose signatures it has verified, and that are not in a block yet: what the
/// mempool's check found serves proposals and execution. Holds up to 32 MiB of them, the most recent ones. Thread-safe.
class DecodedTxs {
  public:
    /// `tx` must have a valid signature.
    void add(contracts::DecodedTxPtr tx);
    /// Returns null if the transaction is not held.
    contracts::DecodedTxPtr find(const Hash256& tx) const;
    void forget(const std::vector<Hash256>& txs);

  private:
    using Table = boost::unordered_flat_map<Hash256, contracts::DecodedTxPtr, consensus::SeededHash>;  // ADR 50

    mutable std::mutex mutex_;
    std::size_t recent_bytes_ = 0;  ///< encoded size of recent_
    Table recent_;
    Table older_;  ///< the previous recent_, from when it became full
};

/// Verifies signatures and caches the public keys of known signers. Thread-safe.
class SignatureVerifier {
  public:
    /// Returns what crypto::verify_signature returns.
    bool operator()(const AccountId& signer, ByteView message, const Signature& signature) const;

  private:
    std::optional<crypto::PublicKey> find(const AccountId& signer) const;

    mutable std::mutex mutex_;
    /// Of signers with a valid signature.
    mutable boost::unordered_flat_map<AccountId, crypto::PublicKey, consensus::SeededHash> keys_;
};

/// The entries of a block. Transactions that `known` lacks are decoded, and their signatures and what does not depend
/// on the state are checked, on several cores if there are many; those with a valid signature are added to it. `hashes`
/// must be the hashes of `txs`.
std::vector<contracts::BlockEntry> decode_block(
    const std::vector<Bytes>& txs, const std::vector<Hash256>& hashes, const contracts::Params& params,
    const SignatureVerifier& verifier, DecodedTxs& known
);

}  // namespace assay::node
