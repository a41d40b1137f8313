// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <contracts/state/context.hpp>
#include <contracts/state/dispute.hpp>

/// How accusations end (STM-10).
namespace assay::contracts {

/// STM-10: convicts the accused if the accusation is `kUpheld`, the accuser if it answered for itself by one that is
/// `kRefuted`, and ends what was answered. Stores disputes and task.
void end_accusation(Context& context, Task& task, const Dispute& accusation, DisputeOutcome outcome, Reason reason);

}  // namespace assay::contracts
