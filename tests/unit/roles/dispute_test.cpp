// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <verifier/roles/dispute.hpp>

namespace assay::roles {
namespace {

using contracts::DisputeState;
using dispute::Level;

const AccountId kResponder{{1}};
const AccountId kChallenger{{2}};
const DisputeId kDispute{{3}};

contracts::Dispute at(Level level, bool pending) {
    contracts::Dispute dispute;
    dispute.id = kDispute;
    dispute.responder = kResponder;
    dispute.challenger = kChallenger;
    dispute.position.level = level;
    if (pending) {
        dispute.position.pending.resize(2);
    }
    return dispute;
}

TEST_CASE("each party moves when it is its turn, and either proves") {
    const Intent other = Wait::kOtherParty;
    const Intent reveal = intent::MoveReveal{kDispute};
    const Intent select = intent::MoveSelect{kDispute};
    const Intent prove = intent::MoveProve{kDispute};
    struct Row {
        Level level;
        bool pending;
        Intent responder;
        Intent challenger;
    };
    const Row rows[] = {
        {Level::kSteps, false, reveal, other},   {Level::kSteps, true, other, select},
        {Level::kNodes, false, reveal, other},   {Level::kTiles, true, other, select},
        {Level::kPartials, true, other, select}, {Level::kProof, false, prove, prove},
    };
    for (const Row& row : rows) {
        const auto dispute = at(row.level, row.pending);
        CHECK(decide_dispute(dispute, kResponder) == row.responder);
        CHECK(decide_dispute(dispute, kChallenger) == row.challenger);
        CHECK(decide_dispute(dispute, AccountId{{4}}) == Intent{Wait::kNothingDue});
    }
}

TEST_CASE("a dispute that is over asks for nothing") {
    for (const auto state : {DisputeState::kRefuted, DisputeState::kUpheld, DisputeState::kMoot}) {
        auto dispute = at(Level::kProof, false);
        dispute.state = state;
        CHECK(decide_dispute(dispute, kResponder) == Intent{Wait::kNothingDue});
    }
}

}  // namespace
}  // namespace assay::roles
