// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>

/// Consensus validators (VAL rules). The rules run under every engine; the embedded engine does not use the resulting
/// set.
namespace assay::contracts {

/// A validator's Ed25519 public key in the consensus engine.
using ConsensusKey = FixedBytes<struct ConsensusKeyTag, 32>;
/// A validator's address in the consensus engine: the first 20 bytes of SHA-256 of its key.
using ConsensusAddress = FixedBytes<struct ConsensusAddressTag, 20>;
ConsensusAddress address_of(const ConsensusKey& key) noexcept;
/// An Ed25519 signature by a consensus key.
using ConsensusSignature = FixedBytes<struct ConsensusSignatureTag, 64>;
/// VAL-1: what a consensus key signs so that `account` may register it: "assay/validator" over Borsh(chain id,
/// account).
Hash256 consensus_key_claim(const std::string& chain_id, const AccountId& account);

/// An account's validator record; it is kept when the account is no longer listed (VAL-1, VAL-5).
struct Validator {
    ConsensusKey key;
    std::uint64_t power = 0;   ///< voting power in the set last reported to the engine; 0: not in the set
    std::uint32_t missed = 0;  ///< VAL-7: number of consecutive blocks without its vote
    Height jailed_until;       ///< VAL-5, VAL-7: earliest height of return; 0 if it is not jailed
    bool is_banned = false;    ///< VAL-5: signed twice; the ban is permanent
    Amount slashed;            ///< total so far
    static constexpr auto fields() {
        return Fields<
            &Validator::key, &Validator::power, &Validator::missed, &Validator::jailed_until, &Validator::is_banned,
            &Validator::slashed>{};
    }
};

/// A change of the validator set, for the engine; power 0 removes the key.
struct ValidatorUpdate {
    ConsensusKey key;
    std::uint64_t power = 0;
    bool operator==(const ValidatorUpdate&) const = default;
};

/// The engine's evidence of misbehaviour: two votes in one round, or an attack on light clients.
struct Misbehaviour {
    ConsensusAddress validator;
    Height height;  ///< at which it happened
    bool operator==(const Misbehaviour&) const = default;
};

/// Maximum number of listed accounts; larger than the validator set (VAL-1).
inline constexpr std::size_t kMaxRegistered = 1'024;

}  // namespace assay::contracts
