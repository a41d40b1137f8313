// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <core/crypto/keys.hpp>
#include <contracts/state/beacon.hpp>
#include <contracts/state/params.hpp>

/// What a contributor of the beacon sends next. Its secrets follow from its key, so that nothing has to be remembered.
namespace assay::roles {

/// The secret for the round with this number: "assay/contribution" over key, chain id and number. A commitment is
/// always to that of a later round than any secret that was shown (commit_next), so none is used twice.
Hash256 contribution_secret(const crypto::SecretKey& key, const std::string& chain_id, std::uint64_t round);

/// The commitment to send now, to join or beside a secret: for the first round that it can be due in.
Hash256 commit_next(const crypto::SecretKey& key, const std::string& chain_id, const contracts::Beacon& beacon);

struct ContributorView {
    const crypto::SecretKey& key;
    const std::string& chain_id;
    const contracts::Beacon& beacon;
    const contracts::Params& params;
    Amount free_stake;           ///< as verifier
    bool wants_seat = true;
};

/// What to send; nullopt for nothing. A seat is taken while there is a free one, and stake enough for it and for one
/// segment besides. A secret that is owed is sent whether the seat is wanted or not; one that is not wanted is left.
std::optional<contracts::Action> decide_contributor(const ContributorView& view);

/// Whether the account's seat waits for a secret that this key does not give: somebody else committed for it.
bool is_estranged(const ContributorView& view);

}  // namespace assay::roles
