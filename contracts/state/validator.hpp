// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>

/// Who votes on blocks where many do (VAL rules). Under the embedded engine the same rules run and nobody asks.
namespace assay::contracts {

/// An Ed25519 public key of the consensus engine's.
using ConsensusKey = FixedBytes<struct ConsensusKeyTag, 32>;
/// What the engine calls a validator: the first twenty bytes of SHA-256 of its key.
using ConsensusAddress = FixedBytes<struct ConsensusAddressTag, 20>;
ConsensusAddress address_of(const ConsensusKey& key) noexcept;
/// An Ed25519 signature by such a key.
using ConsensusSignature = FixedBytes<struct ConsensusSignatureTag, 64>;
/// VAL-1: what a consensus key signs so that `account` may register it: "assay/validator" over Borsh(chain id, account).
Hash256 consensus_key_claim(const std::string& chain_id, const AccountId& account);

/// An account's record as a validator; it stays when the account is off the list (VAL-1, VAL-5).
struct Validator {
    ConsensusKey key;
    std::uint64_t power = 0;   ///< in the set that was last given to the engine; 0: not in it
    std::uint32_t missed = 0;  ///< VAL-7: blocks in a row that it did not vote for
    Height jailed_until;       ///< VAL-5, VAL-7: may not return before; 0 when it is not jailed
    bool is_banned = false;    ///< VAL-5: signed twice, and never returns
    Amount slashed;            ///< in all
    static constexpr auto fields() {
        return Fields<
            &Validator::key, &Validator::power, &Validator::missed, &Validator::jailed_until, &Validator::is_banned,
            &Validator::slashed>{};
    }
};

/// A change of the set, for the engine; power 0 takes the key out of it.
struct ValidatorUpdate {
    ConsensusKey key;
    std::uint64_t power = 0;
    bool operator==(const ValidatorUpdate&) const = default;
};

/// The engine's evidence that a validator broke its rules: two votes in one round, or an attack on light clients.
struct Misbehaviour {
    ConsensusAddress validator;
    Height height;  ///< at which it did so
    bool operator==(const Misbehaviour&) const = default;
};

/// At most so many accounts are on the list, more than a set can have (VAL-1).
inline constexpr std::size_t kMaxRegistered = 1'024;

}  // namespace assay::contracts
