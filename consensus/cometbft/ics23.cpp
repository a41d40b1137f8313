// SPDX-License-Identifier: Apache-2.0
#include <consensus/cometbft/ics23.hpp>

#include <core/crypto/hash.hpp>

#include <consensus/cometbft/proofs.pb.h>

namespace assay::cometbft {
namespace {

void write(const consensus::ProvenKey& from, ics23::ExistenceProof& out) {
    out.set_key(string_of(from.key));
    out.set_value(string_of(from.value));
    ics23::LeafOp& leaf = *out.mutable_leaf();
    leaf.set_hash(ics23::SHA256);
    leaf.set_prehash_key(ics23::SHA256);
    leaf.set_prehash_value(ics23::SHA256);
    leaf.set_length(ics23::NO_PREFIX);
    leaf.set_prefix(std::string(merkle::kLeafPrefix));
    const Hash256 key_hash = crypto::sha256(from.key);
    std::size_t depth = from.proof.siblings.size();
    for (const Hash256& sibling : from.proof.siblings) {
        ics23::InnerOp& step = *out.add_path();
        step.set_hash(ics23::SHA256);
        step.set_prefix(std::string(merkle::kInnerPrefix));
        // Hashed as prefix, child, suffix: the sibling stands in the one or the other.
        if (merkle::bit_at(key_hash, --depth)) {
            *step.mutable_prefix() += string_of(sibling.view());
        } else {
            step.set_suffix(string_of(sibling.view()));
        }
    }
}

}  // namespace

std::string commitment_proof(const Bytes& key, const consensus::QueryResult& result) {
    ics23::CommitmentProof out;
    if (result.value) {
        write({.key = key, .value = *result.value, .proof = result.proof}, *out.mutable_exist());
        return out.SerializeAsString();
    }
    ics23::NonExistenceProof& absent = *out.mutable_nonexist();
    absent.set_key(string_of(key));
    if (result.left) {
        write(*result.left, *absent.mutable_left());
    }
    if (result.right) {
        write(*result.right, *absent.mutable_right());
    }
    return out.SerializeAsString();
}

}  // namespace assay::cometbft
