// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <core/crypto/keys.hpp>
#include <contracts/state/beacon.hpp>
#include <contracts/state/params.hpp>
#include <contracts/transaction/actions.hpp>

/// Decides what a contributor to the beacon sends next. Its secrets are derived from a key, so it stores none.
namespace assay::roles {

/// Returns the secret for round `round`: the tagged hash "assay/contribution" over key, chain id and round. A
/// commitment is always for a later round than every secret sent so far (commit_next), so no secret is used twice.
Hash256 contribution_secret(const crypto::SecretKey& key, const std::string& chain_id, std::uint64_t round);

/// Returns the commitment to send now for the account `self`, when joining or with a secret: for the next round in
/// which it can be due.
Hash256 commit_next(
    const AccountId& self, const crypto::SecretKey& key, const std::string& chain_id, const contracts::Beacon& beacon
);

struct ContributorView {
    const AccountId& self;         ///< whose seat it is
    const crypto::SecretKey& key;  ///< the secrets are derived from it: the account's, or one that outlives operators
    const std::string& chain_id;
    const contracts::Beacon& beacon;
    const contracts::Params& params;
    Amount free_stake;  ///< in the verifier role
    bool wants_seat = true;
};

/// Returns the action to send; nullopt for none. Joins if a seat is free and the stake covers it and the bonds for one
/// segment. Always sends a secret that is due; leaves an unwanted seat once none is due.
std::optional<contracts::Action> decide_contributor(const ContributorView& view);

/// Whether the seat's due secret is not derived from this key: somebody else committed for the account.
bool is_estranged(const ContributorView& view);

}  // namespace assay::roles
