// SPDX-License-Identifier: Apache-2.0
#include <verifier/roles/dispute.hpp>

namespace assay::roles {

Intent decide_dispute(const contracts::Dispute& dispute, const AccountId& self) {
    const bool is_responder = dispute.responder == self;
    if (!dispute.game() || (!is_responder && dispute.challenger != self)) {
        return Wait::kNothingDue;
    }
    if (dispute.position.is_at_proof()) {
        return intent::MoveProve{dispute.id};
    }
    const bool responder_to_move = dispute.position.pending().empty();
    if (responder_to_move != is_responder) {
        return Wait::kOtherParty;
    }
    return is_responder ? Intent{intent::MoveReveal{dispute.id}} : Intent{intent::MoveSelect{dispute.id}};
}

}  // namespace assay::roles
