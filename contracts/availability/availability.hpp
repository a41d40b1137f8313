// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/result.hpp>
#include <contracts/availability/challenge.hpp>
#include <contracts/chain/context.hpp>
#include <contracts/chain/transaction.hpp>
#include <contracts/chain/tx_error.hpp>

/// "Show it on the chain, or lose": challenges over checkpoints that nobody can fetch (AVL rules).
namespace assay::contracts {

Result<void, TxError> check_stateless(const ChallengeAvailability& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ChallengeAvailability& action
) noexcept;
Result<void, TxError> execute(Context& context, const ChallengeAvailability& action) noexcept;

Result<void, TxError> check_stateless(const ServeChunk& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ServeChunk& action
) noexcept;
Result<void, TxError> execute(Context& context, const ServeChunk& action) noexcept;

/// AVL-1: "assay/challenge" over the challenger and the nonce (u64) of its transaction.
ChallengeId challenge_id(const AccountId& challenger, std::uint64_t nonce) noexcept;

/// AVL-3: nobody answered in time: the solver is convicted. Stores challenge and task.
void lapse_challenge(Context& context, Challenge challenge);

/// The task ended otherwise: the bond goes back (AVL-5).
void end_challenge_as_moot(Context& context, Task& task, const ChallengeId& id);

}  // namespace assay::contracts
