// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/state/members.hpp>
#include <tests/unit/contracts/statements.hpp>

/// Members of groups that compute each step together answer by accusing who misled them (STM-9, STM-10).

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

const Tamper kLie{false, 5, 2, 2};  ///< in segment 2

}  // namespace

TEST_CASE("STM-9, STM-10: the lead answers a dispute by who misled it, who is convicted in its place") {
    const ToyRun fraud(kLie);
    Team team(honest());
    team.finish(fraud);
    const Actor culprit = team.members[1];
    const DisputeId disputed = team.dispute_segment(2);
    REQUIRE(team.chain.run(team.chain.solver, team.accuse(culprit, fraud, honest(), disputed)) == 0);
    // Meanwhile it stands still, past every clock.
    CHECK(
        team.chain.fail(
            team.chain.solver, RevealMove{disputed, 0, {hash_of("x"), hash_of("x"), hash_of("x"), hash_of("x")}}
        ) == TxError::kPhase
    );
    const DisputeId accusation = team.answer(culprit, team.chain.solver, disputed);
    play_dispute(team.chain, accusation, honest(), fraud, culprit);
    CHECK(team.state(accusation) == DisputeState::kUpheld);
    CHECK(team.state(disputed) == DisputeState::kRefuted);
    const Task task = team.chain.task(team.id);
    CHECK(task.state == TaskState::kCompleted);
    CHECK(segment_count(task) == 1);  // GRP-7
    CHECK(task.group->convicted == std::vector<std::uint8_t>{2});
    CHECK(team.locked(team.chain.solver) == team.bond);
    CHECK(team.locked(culprit) == team.bond - team.half());
    CHECK(team.chain.slashed(team.id, Reason::kFalseStatement) == std::vector{team.half()});
    CHECK(team.chain.paid(team.id, Reason::kWonDispute) == std::vector{team.half() / 2});  // to the whistleblower
    // Nothing was shown of the segment: who accepted it keeps its bond.
    CHECK(team.chain.slashed(team.id, Reason::kWrongVerdict).empty());
}

TEST_CASE("STM-10: who answers by a false accusation is convicted itself") {
    const ToyRun fraud(kLie);
    Team team(honest());
    team.finish(fraud);
    const Actor innocent = team.members[0];
    const DisputeId disputed = team.dispute_segment(2);
    // The innocent stated what is right; the lead claims its fraud.
    REQUIRE(team.chain.run(team.chain.solver, team.accuse(innocent, honest(), fraud, disputed)) == 0);
    const DisputeId answer = team.answer(innocent, team.chain.solver, disputed);
    play_dispute(team.chain, answer, fraud, honest(), innocent);
    CHECK(team.state(answer) == DisputeState::kRefuted);
    CHECK(team.state(disputed) == DisputeState::kRefuted);
    CHECK(team.chain.task(team.id).group->convicted == std::vector<std::uint8_t>{0});
    CHECK(team.locked(team.chain.solver) == 0);
    CHECK(team.locked(innocent) == team.bond);
}

TEST_CASE("STM-9: who has accused in training still answers for its segment, by the same evidence") {
    const ToyRun fraud(kLie);
    Team team(honest());
    team.post(fraud, 3);
    const Actor culprit = team.members[1];
    REQUIRE(team.chain.run(team.chain.solver, team.accuse(culprit, fraud, honest())) == 0);
    play_dispute(team.chain, team.accusation(culprit, team.chain.solver), honest(), fraud, culprit);
    team.finish(fraud);
    const DisputeId disputed = team.dispute_segment(2);
    REQUIRE(team.chain.run(team.chain.solver, team.accuse(culprit, fraud, honest(), disputed)) == 0);
    play_dispute(team.chain, team.answer(culprit, team.chain.solver, disputed), honest(), fraud, culprit);
    CHECK(team.state(disputed) == DisputeState::kRefuted);
    CHECK(team.chain.task(team.id).group->convicted == std::vector<std::uint8_t>{2});
    CHECK(team.locked(team.chain.solver) == team.bond);
    const std::uint64_t left = team.bond - team.half();
    CHECK(team.chain.slashed(team.id, Reason::kFalseStatement) == std::vector{team.half(), left - left / 2});
}

TEST_CASE("STM-9: a liar that accuses whom it misled, and who has accused it already, is accused once more") {
    const ToyRun fraud(kLie);
    Team team(honest());
    team.post(fraud, 2);
    const Actor misled = team.members[0];
    const Actor culprit = team.members[1];
    REQUIRE(team.chain.run(misled, team.accuse(culprit, fraud, honest())) == 0);
    // What the misled one has stated is wrong, because of what it was told.
    REQUIRE(team.chain.run(culprit, team.accuse(misled, fraud, honest(), {}, {.step = 6, .index = 2})) == 0);
    const DisputeId first = team.accusation(misled, culprit);
    play_until(team.chain, first, honest(), fraud, misled, dispute::Level::kSteps);
    const Dispute begun = find_dispute(team.chain.view, first).value();
    ToyReplay replay(honest(), begun.claim, honest().state(begun.claim.first_step));
    const auto children = dispute::make_reveal(begun.claim, begun.position, replay);
    REQUIRE(team.chain.run(culprit, RevealMove{first, 0, children}) == 0);
    REQUIRE(team.chain.run(misled, team.accuse(culprit, fraud, honest(), first)) == 0);
    play_dispute(team.chain, team.answer(culprit, misled, first), honest(), fraud, culprit);
    CHECK(team.state(first) == DisputeState::kMoot);
    CHECK(team.locked(misled) == team.bond);
    CHECK(team.chain.task(team.id).group->convicted == std::vector<std::uint8_t>{2});
}

TEST_CASE("STM-9: blame goes on to the first who was wrong, and who was misled loses nothing") {
    const ToyRun fraud(kLie);
    Team team(honest());
    team.finish(fraud);
    const Actor misled = team.members[0];
    const Actor culprit = team.members[1];
    const DisputeId disputed = team.dispute_segment(2);
    // The lead read a wrong value of the misled one, who had read one of the culprit.
    REQUIRE(
        team.chain.run(team.chain.solver, team.accuse(misled, fraud, honest(), disputed, {.step = 6, .index = 2})) == 0
    );
    const DisputeId first = team.answer(misled, team.chain.solver, disputed);
    const Accuse answer = team.accuse(culprit, fraud, honest(), first);
    CHECK(team.chain.fail(misled, answer) == TxError::kNotAnswerable);  // it is the lead's move
    play_until(team.chain, first, honest(), fraud, misled, dispute::Level::kSteps);
    const Dispute begun = find_dispute(team.chain.view, first).value();
    ToyReplay replay(honest(), begun.claim, honest().state(begun.claim.first_step));
    REQUIRE(
        team.chain.run(
            team.chain.solver, RevealMove{first, 0, dispute::make_reveal(begun.claim, begun.position, replay)}
        ) == 0
    );
    CHECK(team.chain.fail(culprit, answer) == TxError::kNotTogether);  // itself
    CHECK(team.chain.fail(team.chain.solver, team.accuse(culprit, fraud, honest(), first)) == TxError::kNotAnswerable);
    const Accuse later = team.accuse(culprit, fraud, honest(), first, {.step = 7, .index = 2});
    CHECK(team.chain.fail(misled, later) == TxError::kNotAnswerable);  // what comes behind what is answered for
    const Accuse same = team.accuse(culprit, fraud, honest(), first, {.step = 6, .index = 2});
    CHECK(team.chain.fail(misled, same) == TxError::kNotAnswerable);
    REQUIRE(team.chain.run(misled, answer) == 0);
    const DisputeId second = team.answer(culprit, misled, first);
    // Nobody can go round in a circle.
    play_until(team.chain, second, honest(), fraud, culprit, dispute::Level::kNodes);
    play_dispute(team.chain, second, honest(), fraud, culprit);
    CHECK(team.state(second) == DisputeState::kUpheld);
    CHECK(team.state(first) == DisputeState::kMoot);
    CHECK(team.state(disputed) == DisputeState::kRefuted);
    CHECK(team.chain.task(team.id).group->convicted == std::vector<std::uint8_t>{2});
    CHECK(team.locked(team.chain.solver) == team.bond);
    CHECK(team.locked(misled) == team.bond);
    CHECK(team.locked(culprit) == team.bond - team.half());
}

TEST_CASE("STM-9: a member answers once, and not one that it was accused by in return") {
    const ToyRun fraud(kLie);
    Team team(honest(), 1);
    team.finish(fraud);
    const Actor partner = team.members[0];
    const DisputeId disputed = team.dispute_segment(2);
    REQUIRE(team.chain.run(team.chain.solver, team.accuse(partner, fraud, honest(), disputed)) == 0);
    const DisputeId first = team.answer(partner, team.chain.solver, disputed);
    const auto reveal = [&](const DisputeId& id, const Actor& by) {
        const Dispute dispute = find_dispute(team.chain.view, id).value();
        ToyReplay replay(honest(), dispute.claim, honest().state(dispute.claim.first_step));
        const auto children = dispute::make_reveal(dispute.claim, dispute.position, replay);
        REQUIRE(team.chain.run(by, RevealMove{id, dispute.position.rounds, children}) == 0);
    };
    reveal(first, team.chain.solver);
    const Accuse baseless = team.accuse(team.chain.solver, fraud, honest(), first, {.step = 4, .index = 2});
    CHECK(team.chain.fail(partner, baseless) == TxError::kNoEvidence);  // the lead was right there
    const ToyRun early(Tamper{false, 4, 2, 2});
    REQUIRE(
        team.chain.run(partner, team.accuse(team.chain.solver, early, honest(), first, {.step = 4, .index = 2})) == 0
    );
    const DisputeId second = team.answer(team.chain.solver, partner, first);
    reveal(second, partner);
    // The lead has accused in this chain: it has to move, or loses.
    CHECK(team.chain.fail(team.chain.solver, team.accuse(partner, fraud, honest(), second)) == TxError::kNotAnswerable);
    team.chain.skip(find_dispute(team.chain.view, second)->deadline().value - team.chain.height.value + 1);
    CHECK(team.state(second) == DisputeState::kUpheld);
    CHECK(team.state(first) == DisputeState::kMoot);
    CHECK(team.chain.task(team.id).group->convicted == std::vector<std::uint8_t>{0});
    CHECK(team.locked(partner) == team.bond);
}
