// SPDX-License-Identifier: Apache-2.0
#include <verifier/roles/answers.hpp>

#include <doctest/doctest.h>

#include <contracts/arbitration/arbitration.hpp>
#include <tests/unit/contracts/statements.hpp>

/// How members of a group that computes each step together answer for what they claimed and stated.

using namespace assay;
using contracts::Dispute;
using contracts::DisputeId;
using contracts::test::Actor;
using contracts::test::honest;
using contracts::test::Tamper;
using contracts::test::Team;
using contracts::test::ToyReplay;
using contracts::test::ToyRun;

namespace {

const Tamper kLie{false, 5, 2, 2};  ///< in segment 2

Dispute dispute_of(const Team& team, const DisputeId& id) { return find_dispute(team.chain.view, id).value(); }

ToyReplay replay_of(const ToyRun& run, const Dispute& dispute) {
    return {run, dispute.claim, run.state(dispute.claim.first_step)};
}

}  // namespace

TEST_CASE("STM-9, STM-10: who has claimed what is right plays, whatever it was told") {
    const ToyRun fraud(kLie);
    for (const bool is_right : {true, false}) {
        Team team(honest());
        team.finish(is_right ? honest() : fraud);
        const Dispute disputed = dispute_of(team, team.dispute_segment(2));
        CHECK(roles::may_answer(team.chain.task(team.id), disputed, team.chain.solver.id));
        CHECK_FALSE(roles::may_answer(team.chain.task(team.id), disputed, team.members[0].id));
        ToyReplay truth = replay_of(honest(), disputed);
        CHECK(roles::has_to_answer(disputed, truth) != is_right);
    }
}

TEST_CASE("STM-9: who is accused answers by what it was told before, and by nothing later") {
    const ToyRun fraud(kLie);
    Team team(honest());
    team.finish(fraud);
    const Actor& misled = team.members[0];
    const Actor& culprit = team.members[1];
    const DisputeId disputed = team.dispute_segment(2);
    REQUIRE(
        team.chain.run(team.chain.solver, team.accuse(misled, fraud, honest(), disputed, {.step = 6, .index = 2})) == 0
    );
    const Dispute accusation = dispute_of(team, team.answer(misled, team.chain.solver, disputed));
    const contracts::Task task = team.chain.task(team.id);
    CHECK(roles::may_answer(task, accusation, misled.id));
    ToyReplay truth = replay_of(honest(), accusation);
    CHECK(roles::has_to_answer(accusation, truth));
    const auto answer_to = [&](std::uint64_t step, const Actor& author, const Actor& self) {
        const auto told = contracts::test::make_statement(team.id, fraud, {.step = step, .index = 2}, author);
        return roles::answer(
            task, accusation, contracts::test::kChainId, self.id, {.stated = told.stated, .signature = told.signature},
            truth
        );
    };
    const auto answer = answer_to(5, culprit, misled);
    REQUIRE(answer);
    CHECK(answer->member == culprit.id);
    CHECK(answer->answers == accusation.id);
    CHECK_FALSE(answer_to(6, culprit, misled));  // what it is accused of was not misled by it
    CHECK_FALSE(answer_to(5, misled, misled));   // nobody accuses itself
    CHECK_FALSE(answer_to(5, team.chain.whistleblower, misled));
    CHECK(roles::answered({dispute_of(team, disputed), accusation}) == std::set<DisputeId>{disputed});
}

TEST_CASE("STM-9: who is accused of what is right plays, and searches nothing") {
    const ToyRun fraud(kLie);
    for (const bool is_right : {true, false}) {
        Team team(honest());
        team.post(honest(), 2);
        const Actor& accused = team.members[0];
        const auto accuse = is_right ? team.accuse(accused, honest(), fraud) : team.accuse(accused, fraud, honest());
        REQUIRE(team.chain.run(team.chain.solver, accuse) == 0);
        const Dispute accusation = dispute_of(team, team.accusation(accused, team.chain.solver));
        CHECK(roles::may_answer(team.chain.task(team.id), accusation, accused.id));
        ToyReplay truth = replay_of(honest(), accusation);
        CHECK(roles::has_to_answer(accusation, truth) != is_right);
    }
}

TEST_CASE("STM-9: all disputes of a claim stand still while one of them is answered") {
    const ToyRun fraud(kLie);
    Team team(honest());
    team.finish(fraud);
    const DisputeId first = team.dispute_segment(2);
    REQUIRE(team.chain.run(team.chain.verifier, contracts::OpenDispute{team.id, 2, contracts::Role::kVerifier}) == 0);
    const DisputeId second = contracts::dispute_id(team.id, 2, team.chain.verifier.id);
    REQUIRE(team.chain.run(team.chain.solver, team.accuse(team.members[0], fraud, honest(), first)) == 0);
    const DisputeId answer = team.answer(team.members[0], team.chain.solver, first);
    const std::vector<Dispute> open{dispute_of(team, first), dispute_of(team, second), dispute_of(team, answer)};
    CHECK(roles::answered(open) == std::set<DisputeId>{first, second});
}
