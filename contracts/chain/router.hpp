// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <core/base/result.hpp>
#include <contracts/state/context.hpp>
#include <contracts/transaction/decoded.hpp>
#include <contracts/transaction/transaction.hpp>
#include <contracts/state/tx_error.hpp>

/// Dispatches actions to contracts, and guards their effects.
namespace assay::contracts {

/// What is wrong with the action whatever the state is, and with acting for an owner by it (OPR-3). Besides
/// check_stateless(), a contract may have check_bound(chain_id, sender, action) for what the action binds to its chain
/// or its sender, which is the owner if the body names one.
Result<void, TxError> check_action_stateless(const TxBody& body) noexcept;
/// The same, unless it is known to pass.
Result<void, TxError> check_action_stateless(const DecodedTx& tx) noexcept;
/// OPR-5: fails with kNotOperator if the body names an owner whose operator the sender is not in `view`.
Result<void, TxError> check_authority(const StateView& view, const TxBody& body) noexcept;
Result<void, TxError> check_action_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const Action& action
) noexcept;
/// What execute() would refuse, but takes too long for check_stateful(): check_costly(view, action), for those that
/// have it.
Result<void, TxError> check_action_costly(const StateView& view, const Action& action) noexcept;
/// DTY-2: what is wrong with an answer to a duty in the block at `height`: check_owed(...), for those that have it.
Result<void, TxError> check_action_owed(
    const StateView& view, const Params& params, const AccountId& sender, const Action& action, Height height
) noexcept;
Result<void, TxError> execute_action(Context& context, const Action& action) noexcept;

/// The task that an action concerns, if it exists in the state.
std::optional<TaskId> task_of(
    const StateView& view, const AccountId& sender, std::uint64_t nonce, const Action& action
);

/// The cause of a guarded execution.
struct Cause {
    Hash256 tx;
    AccountId actor;
    std::uint64_t nonce = 0;
    std::uint64_t tx_size_bytes = 0;
};
/// Results of a guarded execution, besides state changes.
struct Traces {
    std::vector<HistoryRecord> history;
    std::uint64_t judged_proofs = 0;
    std::vector<ValidatorUpdate> validator_updates{};
    std::uint64_t end_gas = 0;  ///< GAS-10
};
/// INV-7: runs `effects` on an overlay of `state`. The changes are applied to `state` only if `effects` succeeds and
/// every invariant holds; otherwise nothing changes, and the error is that of `effects` or kInvariantBroken.
Result<Traces, TxError> run_guarded(
    Overlay& state, const Params& params, const BlockContext& block, const Cause& cause,
    const std::function<Result<void, TxError>(Context&)>& effects
);

/// Processes the deadlines that end with this block, then the draws (BLK-3, BLK-4).
void end_block(Context& context);

}  // namespace assay::contracts
