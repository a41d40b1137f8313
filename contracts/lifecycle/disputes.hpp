// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <contracts/state/context.hpp>
#include <contracts/state/dispute.hpp>

/// What ends of a dispute, whoever ends it. Functions that take a `Dispute&` change it; the caller stores it.
namespace assay::contracts {

void set_dispute_deadline(Context& context, Dispute& dispute, Height deadline);

/// The dispute is over: it has no deadline, and holds nothing of the lane of duties.
void close_dispute(Context& context, Dispute& dispute, DisputeState state, std::optional<Reason> reason);

/// The challenger has its bond back.
void return_bond(Context& context, Dispute& dispute);

/// The task ended otherwise: the bond goes back (DSP-40).
void end_dispute_as_moot(Context& context, Task& task, const DisputeId& id);

}  // namespace assay::contracts
