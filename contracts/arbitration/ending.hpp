// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <contracts/arbitration/dispute.hpp>
#include <contracts/chain/context.hpp>

/// How disputes end, for the arbitration contract itself. Each function stores the dispute and the task.
namespace assay::contracts {

void set_dispute_deadline(Context& context, Dispute& dispute, Height deadline);

/// The solver was wrong: the task is convicted (SET-2).
void refute_claim(Context& context, Task& task, Dispute dispute, Reason reason);

/// The challenger was wrong: its bond is slashed, the winner's share goes to the solver (SET-5).
void uphold_claim(Context& context, Task& task, Dispute dispute, Reason reason);

}  // namespace assay::contracts
