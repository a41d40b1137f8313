// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <contracts/state/dispute.hpp>
#include <verifier/roles/intent.hpp>

namespace assay::roles {

/// Returns the move that `self` owes in the dispute: reveal as responder, select as challenger, prove as either.
/// Returns a Wait if no move is due or the other party is to move.
Intent decide_dispute(const contracts::Dispute& dispute, const AccountId& self);

}  // namespace assay::roles
