// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include <consensus/hash_set.hpp>
#include <contracts/state/params.hpp>
#include <core/base/bytes.hpp>
#include <core/crypto/keys.hpp>
#include <consensus/seeded_hash.hpp>

namespace assay::node {

/// The hashes of transactions whose signatures this node has verified and that are not in a block yet. Whether a
/// signature is valid depends only on the transaction's bytes, so a block can reuse the result of the mempool's check.
/// Holds the last few hundred thousand. Thread-safe.
class VerifiedSignatures {
  public:
    void add(const Hash256& tx);
    bool contains(const Hash256& tx) const;
    void forget(const std::vector<Hash256>& txs);

  private:
    mutable std::mutex mutex_;
    consensus::HashSet recent_;
    consensus::HashSet older_;  ///< the previous recent_, from when it became full
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
    mutable std::unordered_map<AccountId, crypto::PublicKey, consensus::SeededHash> keys_;
};

/// Returns for each transaction whether its signature is valid (contracts::is_signed). Those that are not in `verified`
/// are verified, on several cores if there are many; valid ones are added to it. `hashes` must be the hashes of `txs`.
std::vector<bool> find_signed(
    const std::vector<Bytes>& txs, const std::vector<Hash256>& hashes, const contracts::Params& params,
    const SignatureVerifier& verifier, VerifiedSignatures& verified
);

}  // namespace assay::node
