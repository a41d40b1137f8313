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

/// Transactions whose signatures have been verified here and that no block has had yet, by hash. Whether a transaction is
/// signed depends on its bytes alone, so a block may rest on what a mempool's check found. Holds the last few hundred
/// thousand. Thread-safe.
class VerifiedSignatures {
  public:
    void add(const Hash256& tx);
    bool contains(const Hash256& tx) const;
    void forget(const std::vector<Hash256>& txs);

  private:
    mutable std::mutex mutex_;
    consensus::HashSet recent_;
    consensus::HashSet older_;  ///< what recent_ was when it was full
};

/// Verifies signatures with the keys of signers that it has met before. Thread-safe.
class SignatureVerifier {
  public:
    /// What crypto::verify_signature says.
    bool operator()(const AccountId& signer, ByteView message, const Signature& signature) const;

  private:
    std::optional<crypto::PublicKey> find(const AccountId& signer) const;

    mutable std::mutex mutex_;
    mutable std::unordered_map<AccountId, crypto::PublicKey, consensus::SeededHash> keys_;  ///< of valid signatures
};

/// For each transaction whether it is signed (contracts::is_signed). What `verified` does not have is verified, on all
/// cores if it is much, and remembered there when it is signed. `hashes` are the transactions'.
std::vector<bool> find_signed(
    const std::vector<Bytes>& txs,
    const std::vector<Hash256>& hashes,
    const contracts::Params& params,
    const SignatureVerifier& verifier,
    VerifiedSignatures& verified
);

}  // namespace assay::node
