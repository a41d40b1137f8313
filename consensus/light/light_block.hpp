// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>

/// The signed parts of a CometBFT v0.38 block as plain structs. With them a light client can verify, without executing
/// anything, that a chain's validators agreed on a state. Hashes that may be empty are byte strings.
namespace assay::light {

struct Timestamp {
    std::int64_t seconds = 0;  ///< since 1970, UTC
    std::int32_t nanos = 0;
    bool operator==(const Timestamp&) const = default;
    static constexpr auto fields() { return Fields<&Timestamp::seconds, &Timestamp::nanos>{}; }
};

struct BlockId {
    Bytes hash;
    std::uint32_t parts = 0;
    Bytes parts_hash;
    bool operator==(const BlockId&) const = default;
    static constexpr auto fields() { return Fields<&BlockId::hash, &BlockId::parts, &BlockId::parts_hash>{}; }
};

struct Header {
    std::uint64_t block_version = 0;
    std::uint64_t app_version = 0;
    std::string chain_id;
    std::uint64_t height = 0;
    Timestamp time;
    BlockId last_block_id;
    Bytes last_commit_hash;
    Bytes data_hash;
    Bytes validators_hash;
    Bytes next_validators_hash;
    Bytes consensus_hash;
    Bytes app_hash;  ///< of the state after the previous block
    Bytes last_results_hash;
    Bytes evidence_hash;
    Bytes proposer_address;
    bool operator==(const Header&) const = default;
    static constexpr auto fields() {
        return Fields<
            &Header::block_version, &Header::app_version, &Header::chain_id, &Header::height, &Header::time,
            &Header::last_block_id, &Header::last_commit_hash, &Header::data_hash, &Header::validators_hash,
            &Header::next_validators_hash, &Header::consensus_hash, &Header::app_hash, &Header::last_results_hash,
            &Header::evidence_hash, &Header::proposer_address>{};
    }
};

enum class VoteFlag : std::uint8_t { kAbsent = 1, kCommit = 2, kNil = 3 };
constexpr bool is_valid(VoteFlag flag) { return flag >= VoteFlag::kAbsent && flag <= VoteFlag::kNil; }

struct CommitSignature {
    VoteFlag flag = VoteFlag::kAbsent;
    Bytes validator_address;
    Timestamp time;
    Bytes signature;
    bool operator==(const CommitSignature&) const = default;
    static constexpr auto fields() {
        return Fields<
            &CommitSignature::flag, &CommitSignature::validator_address, &CommitSignature::time,
            &CommitSignature::signature>{};
    }
};

struct Commit {
    std::uint64_t height = 0;
    std::uint32_t round = 0;
    BlockId block_id;
    std::vector<CommitSignature> signatures;  ///< one per validator, in the order of the validator set
    bool operator==(const Commit&) const = default;
    static constexpr auto fields() {
        return Fields<&Commit::height, &Commit::round, &Commit::block_id, &Commit::signatures>{};
    }
};

struct Validator {
    Bytes public_key;  ///< ed25519, 32 bytes
    std::uint64_t power = 0;
    bool operator==(const Validator&) const = default;
    static constexpr auto fields() { return Fields<&Validator::public_key, &Validator::power>{}; }
};

struct LightBlock {
    Header header;
    Commit commit;
    std::vector<Validator> validators;
    bool operator==(const LightBlock&) const = default;
    static constexpr auto fields() {
        return Fields<&LightBlock::header, &LightBlock::commit, &LightBlock::validators>{};
    }
};

/// Returns the header's hash: the RFC 6962 Merkle root of its fourteen fields.
Hash256 header_hash(const Header& header);
/// Returns the hash of a validator set: the RFC 6962 Merkle root over each validator's key and power.
Hash256 validators_hash(const std::vector<Validator>& validators);
/// Returns the validator's address: the first twenty bytes of the SHA-256 of its public key.
Bytes address_of(const Validator& validator);
/// Returns the bytes that validator `index` signs to vote for the commit's block: a length-prefixed CanonicalVote.
Bytes vote_sign_bytes(const Commit& commit, const std::string& chain_id, std::size_t index);
/// Returns the RFC 6962 Merkle root of `leaves`: SHA-256 with the prefix 0x00 for leaves and 0x01 for inner nodes.
Hash256 rfc6962_root(const std::vector<Bytes>& leaves);

}  // namespace assay::light
