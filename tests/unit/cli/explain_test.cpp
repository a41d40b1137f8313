// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <tools/cli/chain/explain.hpp>

#include <tests/unit/cli/forged_node.hpp>

namespace assay::cli {
namespace {

using contracts::Dispute;
using contracts::DisputeOutcome;
using contracts::Reason;
using nlohmann::json;

Dispute make_dispute() {
    Dispute d;
    d.segment = 3;
    d.responder = cli_test::make_key(1).account();
    d.challenger = cli_test::make_key(2).account();
    d.challenger_bond = Amount{5'000'000'000};
    d.claim.first_step = 50;
    d.claim.step_count = 25;
    d.position = dispute::start_position(d.claim);
    d.opened_at = Height{100};
    d.phase = contracts::DisputeGame{
        .responder_clock = 40, .challenger_clock = 40, .last_move_at = Height{100}, .deadline = Height{140}};
    return d;
}

void end(Dispute& d, DisputeOutcome outcome, contracts::Reason reason, Amount slashed = {}) {
    const Amount half{slashed.grains / 2};
    d.phase = contracts::DisputeEnd{
        .outcome = outcome, .reason = reason, .at = Height{150}, .slashed = slashed, .paid = half, .burned = half};
}

const json kAnswer{
    {"moves", json::array({{{"tx", "aa"}, {"height", 101}, {"action", "reveal_move"}, {"size_bytes", 900}}})},
    {"to_move", "responder"},
    {"referee_us", 12.5}};

bool says(const Dispute& d, const std::string& part) {
    const std::string text = explain_dispute(d, kAnswer, "tiny");
    const bool found = text.find(part) != std::string::npos;
    if (!found) {
        MESSAGE(text);
    }
    return found;
}

TEST_CASE("a running dispute says what is claimed and who is to move") {
    const Dispute d = make_dispute();
    CHECK(says(d, "over segment 3 of task"));
    CHECK(says(d, "steps 50 to 74 lead from state"));
    CHECK(says(d, "with a bond of 5 ASY"));
    CHECK(says(d, "reveal_move"));
    CHECK(says(d, "None yet; the responder is to move before block 140"));
    CHECK(says(d, "Bonds stay locked"));
    CHECK(says(d, "assay audit task"));
}

TEST_CASE("an accusation says what was stated, by whom, and what its end rests on") {
    Dispute d = make_dispute();
    d.challenger_role = contracts::Role::kSolver;
    d.challenger_bond = {};
    contracts::Accusation accusation;
    accusation.step = 61;
    accusation.piece.index = 17;
    d.subject = accusation;
    CHECK(says(d, "over a statement about step 61 in segment 3"));
    CHECK(says(d, "The accuser, "));
    CHECK(says(d, "had stated other values of node 17 in step 61"));
    end(d, DisputeOutcome::kUpheld, Reason::kDisputeTimeout, Amount{50'000'000'000});
    CHECK(says(d, "The accused let its clock run out in block 150: the claim holds"));
    CHECK(says(d, "The accused lost 50 ASY; 25 ASY of it went to the accuser"));
    end(d, DisputeOutcome::kUpheld, Reason::kFalseStatement, Amount{50'000'000'000});
    CHECK(says(d, "ended in block 150 by its evidence"));
    CHECK_FALSE(says(d, "recomputed that one partial"));
    end(d, DisputeOutcome::kMoot, Reason::kMoot);
    CHECK_FALSE(says(d, "got its bond back"));
}

TEST_CASE("a claim that an accusation answered says that it was not recomputed") {
    Dispute d = make_dispute();
    end(d, DisputeOutcome::kRefuted, Reason::kFalseStatement, Amount{50'000'000'000});
    CHECK(says(d, "by an accusation that answered it"));
    CHECK(says(d, "Whoever stated something wrong lost 50 ASY; 25 ASY of it went to who accused first"));
}

TEST_CASE("a refuted claim says what was recomputed and who lost what") {
    Dispute d = make_dispute();
    end(d, DisputeOutcome::kRefuted, Reason::kLostDispute, Amount{50'000'000'000});
    dispute::AtPartial partial;
    partial.tile.node.step.number = 60;
    partial.tile.node.index = 17;
    partial.tile.index = 4;
    d.position.at = partial;
    d.challenger_bond = Amount{};
    CHECK(says(d, "disputed the claim in block 100.\n"));
    CHECK(says(d, "Step 60, node 17 (fill), tile 4, partial 0."));
    CHECK(says(d, "recomputed that one partial in 12.5 microseconds"));
    CHECK(says(d, "its claim is refuted"));
    CHECK(says(d, "The solver lost 50 ASY; 25 ASY of it went to the challenger, 25 ASY was burned"));
}

TEST_CASE("a clock that ran out is told as such") {
    Dispute d = make_dispute();
    end(d, DisputeOutcome::kRefuted, Reason::kDisputeTimeout);
    CHECK(says(d, "The solver let its clock run out"));
    end(d, DisputeOutcome::kUpheld, Reason::kDisputeTimeout);
    CHECK(says(d, "The challenger let its clock run out"));
    CHECK(says(d, "It did not come to a single step: steps 50 to 74"));
}

TEST_CASE("a claim that holds costs the challenger") {
    Dispute d = make_dispute();
    end(d, DisputeOutcome::kUpheld, Reason::kFalseAccusation, Amount{5'000'000'000});
    CHECK(says(d, "the claim holds"));
    CHECK(says(d, "The challenger lost 5 ASY"));
    end(d, DisputeOutcome::kMoot, Reason::kMoot);
    CHECK(says(d, "the challenger got its bond back"));
    CHECK(says(d, "Nobody was slashed"));
}

TEST_CASE("a challenged verdict is told with its verifier, what is awaited, and how it ended without a game") {
    Dispute d = make_dispute();
    d.subject = contracts::ChallengedVerdict{{.verifier = d.responder, .is_second = false}, {}};
    d.phase = contracts::AwaitingDisclosure{Height{140}};
    CHECK(says(d, "of a verdict on segment 3 of task"));
    CHECK(says(d, "The verifier, "));
    CHECK(says(d, "is to disclose its verdict before block 140"));
    CHECK(says(d, "Bonds stay locked"));
    end(d, DisputeOutcome::kForced, Reason::kForcedError);
    CHECK(says(d, "it was forced to be wrong: the challenger was right"));
    CHECK(says(d, "Nobody was slashed"));
    end(d, DisputeOutcome::kRefuted, Reason::kUndisclosed, Amount{1'000'000'000});
    CHECK(says(d, "did not disclose its verdict"));
    CHECK(says(d, "The verifier lost 1 ASY"));
    end(d, DisputeOutcome::kRefuted, Reason::kBrokenCommitment);
    CHECK(says(d, "another verdict than it had committed to"));
}

TEST_CASE("EVL-5: a disputed score is told as one") {
    Dispute d = make_dispute();
    d.claim.initialisation = true;
    d.position.at = dispute::Bisection{dispute::AtStep{}, {}};
    CHECK(says(d, "the score of task"));
    CHECK(says(d, "the task's evaluation makes of the final state and the hold-out set"));
    CHECK(says(d, "  The evaluation"));
}

TEST_CASE("a disputed initialisation has no steps") {
    Dispute d = make_dispute();
    d.segment = 0;
    d.claim.initialisation = true;
    d.position.at = dispute::Bisection{dispute::AtStep{}, {}};
    CHECK(says(d, "the task's initialisation makes the state"));
    CHECK(says(d, "  The initialisation"));
}

}  // namespace
}  // namespace assay::cli
