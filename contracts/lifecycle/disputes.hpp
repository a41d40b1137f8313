// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <contracts/state/context.hpp>
#include <contracts/state/dispute.hpp>

/// Common steps of ending a dispute. Functions that take a `Dispute&` change it; the caller stores it.
namespace assay::contracts {

/// Moves the deadline of a dispute that has not ended.
void set_dispute_deadline(Context& context, Dispute& dispute, Height deadline);

/// Ends the dispute: clears its deadline and releases its capacity in the lane of duties.
void close_dispute(Context& context, Dispute& dispute, DisputeOutcome outcome, Reason reason);

/// Unlocks the challenger's bond.
void return_bond(Context& context, Dispute& dispute);

/// Ends the dispute because its task or verdict ended for another reason; the challenger's bond is returned (DSP-40).
void end_dispute_as_moot(Context& context, Task& task, const DisputeId& id);

}  // namespace assay::contracts
