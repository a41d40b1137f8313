// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <contracts/state/dispute.hpp>
#include <verifier/roles/intent.hpp>

namespace assay::roles {

/// The move that `self` owes in a dispute: reveal as responder, select as challenger, prove as either.
Intent decide_dispute(const contracts::Dispute& dispute, const AccountId& self);

}  // namespace assay::roles
