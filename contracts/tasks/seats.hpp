// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <core/base/result.hpp>
#include <contracts/state/context.hpp>
#include <contracts/tasks/actions/task_actions.hpp>
#include <contracts/state/tx_error.hpp>

/// How a group forms, and in which order its members post (GRP-2, GRP-4).
namespace assay::contracts {

/// What each member but the lead signs.
struct SeatsTerms {
    TaskId task;
    std::vector<AccountId> seats;  ///< the first is the lead's
    bool is_together = false;      ///< GRP-11: the members compute each step together
    std::uint32_t from = 0;        ///< GRP-13: the first segment for which the list counts; 0 in an acceptance
};
/// GRP-2: "assay/seats" over chain id, task, lead, and the terms.
Hash256 seats_claim(const std::string& chain_id, const SeatsTerms& terms);
/// GRP-2: fails with kSeatsNotSigned unless these are the signatures of all partners on the list, in their order.
Result<void, TxError> check_signatures(
    const std::string& chain_id, const SeatsTerms& terms, const std::vector<Signature>& signatures
) noexcept;

/// GRP-2: the accounts of the list other than the first one, in the order of their first seats.
std::vector<AccountId> partners_of(const std::vector<AccountId>& seats);

/// GRP-2: fails with kSeatsInvalid or kSeatsNotSigned if the acceptance names seats that `lead` cannot give, or that
/// somebody has not signed.
Result<void, TxError> check_bound(
    const std::string& chain_id, const AccountId& lead, const AcceptTask& action
) noexcept;
/// GRP-2: an acceptance with seats answers no duty; it fails with kFeeTooLow without a fee.
Result<void, TxError> check_owed(
    const StateView& view, const Params& params, const AccountId& sender, const AcceptTask& action, Height height
) noexcept;

/// GRP-2, GRP-5: fails with kSeatsInvalid if a draw could not fall on the account for such a task, and with
/// kInsufficientStake if it cannot cover a member's bond.
Result<void, TxError> check_partner(
    const StateView& view, const Params& params, const Task& task, const AccountId& partner
) noexcept;
/// GRP-2, GRP-5: fails with kSeatsInvalid if the group has more seats than the task admits or an account that is not
/// listed or not of the task's class, and with kInsufficientStake if one cannot cover its bond.
Result<void, TxError> check_seats(
    const StateView& view, const Params& params, const Task& task, const std::vector<AccountId>& seats
) noexcept;
/// GRP-2, GRP-5: forms the group and locks the bonds of all members but the lead. The caller stores the task.
void form_group(Context& context, Task& task, const AcceptTask& action);

/// GRP-4: returns the task if it is in training and the sender is its solver or in its group; fails with kTaskUnknown,
/// kTaskState or kNotSolver.
Result<Task, TxError> require_trained_task(const StateView& view, const TaskId& id, const AccountId& sender) noexcept;
/// GRP-4: the same for who posts a checkpoint or declares a divergence; kNotSolver for a member but the solver that was
/// convicted, since nothing is left that posting could cost it.
Result<Task, TxError> require_task_to_post(const StateView& view, const TaskId& id, const AccountId& sender) noexcept;
/// GRP-4: fails with kNotNext if it is another member's turn at `height`.
Result<void, TxError> check_turn(
    const StateView& view, const TaskId& task, const AccountId& sender, Height height
) noexcept;

}  // namespace assay::contracts
