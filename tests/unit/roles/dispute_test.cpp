// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <verifier/roles/dispute.hpp>

namespace assay::roles {
namespace {

using contracts::DisputeOutcome;
using dispute::AtNode;
using dispute::AtPartial;
using dispute::AtPartials;
using dispute::AtStep;
using dispute::AtSteps;
using dispute::AtTensor;
using dispute::Bisection;

const AccountId kResponder{{1}};
const AccountId kChallenger{{2}};
const DisputeId kDispute{{3}};

contracts::Dispute at(decltype(dispute::Position::at) place, bool pending) {
    contracts::Dispute dispute;
    dispute.id = kDispute;
    dispute.responder = kResponder;
    dispute.challenger = kChallenger;
    dispute.position.at = std::move(place);
    if (pending) {
        std::get<dispute::Bisection>(dispute.position.at).pending.resize(2);
    }
    return dispute;
}

TEST_CASE("each party moves when it is its turn, and either proves") {
    const Intent other = Wait::kOtherParty;
    const Intent reveal = intent::MoveReveal{kDispute};
    const Intent select = intent::MoveSelect{kDispute};
    const Intent prove = intent::MoveProve{kDispute};
    struct Row {
        decltype(dispute::Position::at) place;
        bool pending;
        Intent responder;
        Intent challenger;
    };
    const Row rows[] = {
        {Bisection{AtSteps{}, {}}, false, reveal, other},
        {Bisection{AtSteps{}, {}}, true, other, select},
        {Bisection{AtStep{}, {}}, false, reveal, other},
        {Bisection{AtNode{}, {}}, true, other, select},
        {Bisection{AtPartials{}, {}}, true, other, select},
        {AtPartial{}, false, prove, prove},
        {AtTensor{}, false, prove, prove},
    };
    for (const Row& row : rows) {
        const auto dispute = at(row.place, row.pending);
        CHECK(decide_dispute(dispute, kResponder) == row.responder);
        CHECK(decide_dispute(dispute, kChallenger) == row.challenger);
        CHECK(decide_dispute(dispute, AccountId{{4}}) == Intent{Wait::kNothingDue});
    }
}

TEST_CASE("a dispute that is over asks for nothing") {
    for (const auto outcome : {DisputeOutcome::kRefuted, DisputeOutcome::kUpheld, DisputeOutcome::kMoot}) {
        auto dispute = at(AtPartial{}, false);
        dispute.phase = contracts::DisputeEnd{
            .outcome = outcome, .reason = contracts::Reason::kMoot, .at = {}, .slashed = {}, .paid = {}, .burned = {}};
        CHECK(decide_dispute(dispute, kResponder) == Intent{Wait::kNothingDue});
    }
}

}  // namespace
}  // namespace assay::roles
