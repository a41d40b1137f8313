// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include <contracts/params/by_value.hpp>
#include <contracts/state/members.hpp>
#include <tests/unit/contracts/statements.hpp>

/// Groups whose members compute each step together, and answer for what they state (GRP-11, GRP-12, STM-8 to STM-11).

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

const Tamper kLie{false, 5, 2, 2};  ///< in segment 2
constexpr Stated kWrong{.step = 5, .index = 2};

}  // namespace

TEST_CASE("GRP-11, GRP-12: the lead posts what members compute together, and each earns by its seats") {
    Team team(honest());
    CHECK(team.chain.fail(team.members[0], PostCheckpoint{team.id, 0, hash_of("0"), {}}) == TxError::kNotNext);
    team.post(honest(), 1);
    // The turn of a group of one: training_blocks over twice the segments.
    CHECK(turn_blocks(team.chain.task(team.id)) == (team.chain.task(team.id).spec.training_blocks + 5) / 6);
    CHECK(team.chain.fail(team.members[0], PostCheckpoint{team.id, 1, hash_of("1"), {}}) == TxError::kNotNext);
    const std::uint64_t lead_before = team.chain.balance(team.chain.solver);
    const std::uint64_t before = team.chain.balance(team.members[0]);
    team.finish(honest());
    team.chain.end_windows(team.id);
    REQUIRE(team.chain.task(team.id).state == TaskState::kSettled);
    // Each segment's part is rounded down: of 4, 4 and 2 steps of 10.
    const std::uint64_t reward = team.chain.task(team.id).spec.reward.grains;
    const std::uint64_t third = 2 * (reward * 4 / 30) + reward * 2 / 30;
    const std::uint64_t taxed = third - third * team.chain.params.tax_bps / 10'000;
    CHECK(team.chain.balance(team.members[0]) - before == taxed);
    CHECK(team.chain.balance(team.chain.solver) > lead_before - 20 * kFee);
    CHECK(team.locked(team.members[0]) == 0);
}

TEST_CASE("GRP-11: together is signed, and nothing for who accepts alone") {
    Chain chain(all_segments());
    chain.bond_all();
    TaskSpec spec = honest().spec();
    spec.members = 2;
    chain.add_verifiers(1);
    const TaskId id = drawn_group_task(chain, spec);
    const std::size_t index = add_partner(chain);
    AcceptTask action = make_acceptance(id, {&chain.solver, &chain.others[index]}, false);
    action.is_together = true;
    CHECK(chain.fail(chain.solver, action) == TxError::kSeatsNotSigned);
    CHECK(
        chain.fail(chain.solver, AcceptTask{.task = id, .seats = {}, .signatures = {}, .is_together = true}) ==
        TxError::kSeatsInvalid
    );
}

TEST_CASE("GRP-11: at most 16 members compute each step together") {
    for (const std::size_t partners : {15U, 16U}) {
        Params params = all_segments();
        params.accept_blocks = 100;  // partners bond one after another
        Chain chain(params);
        chain.bond_all();
        TaskSpec spec = honest().spec();
        spec.members = static_cast<std::uint8_t>(partners + 1);
        const TaskId id = drawn_group_task(chain, spec);
        for (std::size_t i = 0; i < partners; ++i) {
            add_partner(chain, member_bond(chain.params, task_value(spec)));
        }
        std::vector<const Actor*> seats{&chain.solver};
        std::transform(
            chain.others.end() - static_cast<std::ptrdiff_t>(partners), chain.others.end(), std::back_inserter(seats),
            [](const Actor& each) { return &each; }
        );
        const AcceptTask together = make_acceptance(id, seats, true);
        if (partners == 15) {
            CHECK(chain.run(chain.solver, together) == 0);
        } else {
            CHECK(chain.fail(chain.solver, together) == TxError::kSeatsInvalid);
            CHECK(chain.run(chain.solver, make_acceptance(id, seats, false)) == 0);
        }
    }
}

TEST_CASE("STM-8, STM-12: who stated something wrong is convicted while the training goes on, and earns nothing") {
    const ToyRun liar(kLie);
    Team team(honest());
    team.post(honest(), 2);
    const Actor accused = team.members[0];
    REQUIRE(team.chain.run(team.chain.solver, team.accuse(accused, liar, honest())) == 0);
    const DisputeId id = team.accusation(accused, team.chain.solver);
    CHECK(team.state(id) == DisputeState::kActive);
    CHECK(find_dispute(team.chain.view, id)->responder == team.chain.solver.id);
    play_dispute(team.chain, id, honest(), liar, accused);
    CHECK(team.state(id) == DisputeState::kUpheld);
    CHECK(team.chain.task(team.id).group->convicted == std::vector<std::uint8_t>{1});
    CHECK(team.chain.slashed(team.id, Reason::kFalseStatement) == std::vector{team.half()});
    CHECK(team.chain.paid(team.id, Reason::kWonDispute) == std::vector{team.half() / 2});
    CHECK(team.locked(accused) == team.bond - team.half());
    CHECK(team.locked(team.chain.solver) == team.bond);
    CHECK(team.chain.task(team.id).state == TaskState::kTraining);
    const DisputeEnd end = *find_dispute(team.chain.view, id)->end();
    CHECK(end.slashed.grains == team.half());
    CHECK(end.paid.grains == team.half() / 2);

    const std::uint64_t before = team.chain.balance(accused);
    team.finish(honest());
    team.chain.end_windows(team.id);
    REQUIRE(team.chain.task(team.id).state == TaskState::kSettled);
    CHECK(team.chain.balance(accused) == before);
    // STM-12
    CHECK(team.chain.slashed(team.id, Reason::kFalseStatement).back() == team.bond - team.half());
    CHECK(team.locked(accused) == 0);
    const std::uint64_t reward = team.chain.task(team.id).spec.reward.grains;
    CHECK(team.chain.paid(team.id, Reason::kRefund).front() == reward - 2 * (2 * (reward * 4 / 30) + reward * 2 / 30));
}

TEST_CASE("GRP-4: who was convicted posts nothing in another member's place, for nothing is left that it could lose") {
    const ToyRun liar(kLie);
    Team team(honest());
    team.post(honest(), 2);
    const Actor accused = team.members[0];
    REQUIRE(team.chain.run(team.chain.solver, team.accuse(accused, liar, honest())) == 0);
    play_dispute(team.chain, team.accusation(accused, team.chain.solver), honest(), liar, accused);
    REQUIRE(team.chain.task(team.id).group->convicted == std::vector<std::uint8_t>{1});
    const auto post = [&](const Hash256& root) { return PostCheckpoint{team.id, 2, root, {}}; };
    team.chain.skip(static_cast<std::uint32_t>(turn_blocks(team.chain.task(team.id))));
    REQUIRE(team.chain.task(team.id).state == TaskState::kTraining);
    CHECK(team.chain.fail(accused, post(liar.checkpoint_root(2))) == TxError::kNotSolver);
    CHECK(team.chain.run(team.members[1], post(honest().checkpoint_root(2))) == 0);
}

TEST_CASE("STM-8, STM-10: a false accusation costs the accuser a challenger's bond, to the accused's benefit") {
    const ToyRun liar(kLie);
    Team team(honest());
    team.post(honest(), 2);
    const Actor accuser = team.members[0];
    const Actor accused = team.members[1];
    // What was stated is right; the accuser claims its own wrong execution.
    REQUIRE(team.chain.run(accuser, team.accuse(accused, honest(), liar)) == 0);
    const DisputeId id = team.accusation(accused, accuser);
    play_dispute(team.chain, id, liar, honest(), accused);
    CHECK(team.state(id) == DisputeState::kRefuted);
    const std::uint64_t lost = challenger_bond(team.chain.params, task_value(team.chain.task(team.id).spec)).grains;
    CHECK(team.chain.slashed(team.id, Reason::kLostDispute) == std::vector{lost});
    CHECK(team.locked(accuser) == team.bond - lost);
    CHECK(team.locked(accused) == team.bond);
    CHECK(team.chain.task(team.id).group->convicted.empty());
    CHECK(team.chain.fail(accuser, team.accuse(accused, honest(), liar)) == TxError::kAlreadyDisputed);
}

TEST_CASE("STM-5: a wrong value of the state that the segment begins with convicts at once") {
    Team team(honest());
    team.post(honest(), 2);
    const Actor accused = team.members[1];
    Signed told = make_statement(team.id, honest(), {.step = 4, .source = canonical::Source::kState}, accused);
    told.stated.piece.values = hash_of("something else");
    told.stated.statement.root = merkle::Tree({dispute::piece_leaf(told.stated.piece)}).root();
    told.signature = accused.key.sign(dispute::statement_digest(kChainId, told.stated.statement).view());
    REQUIRE(team.chain.run(team.members[0], make_accuse(team.id, told, accused, honest())) == 0);
    const Dispute ended = find_dispute(team.chain.view, team.accusation(accused, team.members[0])).value();
    CHECK(ended.state() == DisputeState::kUpheld);
    CHECK(ended.task == team.id);
    CHECK(ended.end()->slashed.grains == team.half());
    CHECK(team.chain.task(team.id).group->convicted == std::vector<std::uint8_t>{2});
    CHECK(team.locked(accused) == team.bond - team.half());
}

TEST_CASE("STM-9, STM-10: clocks decide accusations, and what is answered has none") {
    const ToyRun fraud(kLie);
    for (const bool accuser_plays : {false, true}) {
        CAPTURE(accuser_plays);
        Team team(honest());
        team.finish(fraud);
        const DisputeId disputed = team.dispute_segment(2);
        const Height deadline = find_dispute(team.chain.view, disputed)->deadline();
        team.chain.skip(deadline.value - team.chain.height.value - 3);
        const Actor accused = team.members[0];
        REQUIRE(team.chain.run(team.chain.solver, team.accuse(accused, fraud, honest(), disputed)) == 0);
        const DisputeId id = team.answer(accused, team.chain.solver, disputed);
        if (accuser_plays) {
            const Dispute begun = find_dispute(team.chain.view, id).value();
            ToyReplay replay(honest(), begun.claim, honest().state(begun.claim.first_step));
            REQUIRE(
                team.chain.run(
                    team.chain.solver, RevealMove{id, 0, dispute::make_reveal(begun.claim, begun.position, replay)}
                ) == 0
            );
        }
        if (accuser_plays) {
            team.chain.skip(5);
        }
        CHECK(team.state(disputed) == DisputeState::kActive);
        REQUIRE(team.state(id) == DisputeState::kActive);
        team.chain.skip(find_dispute(team.chain.view, id)->deadline().value - team.chain.height.value);
        CHECK(team.state(id) == (accuser_plays ? DisputeState::kUpheld : DisputeState::kRefuted));
        CHECK(team.state(disputed) == DisputeState::kRefuted);
        const std::uint8_t convicted = accuser_plays ? 1 : 0;
        CHECK(team.chain.task(team.id).group->convicted == std::vector<std::uint8_t>{convicted});
    }
}

TEST_CASE("STM-8: who may accuse whom, when, and of what") {
    const ToyRun liar(kLie);
    Team team(honest());
    team.post(honest(), 2);
    const Actor accused = team.members[0];
    const Accuse good = team.accuse(accused, liar, honest());
    CHECK(team.chain.fail(team.chain.whistleblower, good) == TxError::kNotTogether);
    CHECK(team.chain.fail(accused, good) == TxError::kNotTogether);
    Accuse other = good;
    other.member = team.members[1].id;
    CHECK(team.chain.fail(team.chain.solver, other) == TxError::kNotStated);
    other = good;
    other.contradiction.stated.statement.session = hash_of("another");
    CHECK(team.chain.fail(team.chain.solver, other) == TxError::kNotStated);
    other = good;
    other.contradiction.state_root = hash_of("x");
    other.contradiction.evidence = dispute::StateEvidence{};
    CHECK(team.chain.fail(team.chain.solver, other) == TxError::kNoEvidence);
    // Of another task, by a statement that is signed for that one.
    Signed elsewhere = make_statement(TaskId{}, liar, kWrong, accused);
    Accuse foreign = make_accuse(team.id, elsewhere, accused, honest());
    CHECK(team.chain.fail(team.chain.solver, foreign) == TxError::kNotStated);
    // Of a segment whose beginning nobody has posted, or that does not exist.
    const Accuse early =
        team.accuse(accused, ToyRun(Tamper{false, 9, 2, 2}), honest(), std::nullopt, {.step = 9, .index = 2});
    CHECK(team.chain.fail(team.chain.solver, early) == TxError::kSegmentUnknown);
    // Of what is right.
    Accuse right = team.accuse(accused, honest(), liar);
    right.contradiction.evidence = good.contradiction.evidence;
    CHECK(team.chain.fail(team.chain.solver, right) == TxError::kNoEvidence);
    // Only in answer to something once the training is over.
    team.finish(honest());
    CHECK(team.chain.fail(team.chain.solver, good) == TxError::kTaskState);
    Accuse answering = good;
    answering.answers = retag<DisputeId>(hash_of("nothing"));
    CHECK(team.chain.fail(team.chain.solver, answering) == TxError::kNotAnswerable);
    answering.answers = team.dispute_segment(3);
    CHECK(team.chain.fail(team.chain.solver, answering) == TxError::kNotAnswerable);  // another segment
    answering.answers = team.dispute_segment(2);
    CHECK(team.chain.fail(team.members[1], answering) == TxError::kNotAnswerable);  // not its own
}

TEST_CASE("STM-8: members that take turns have stated nothing to each other") {
    Chain chain(all_segments());
    chain.bond_all();
    const TaskId id = start_group(chain, honest().spec(), 1);
    const Actor partner = chain.others.back();
    REQUIRE(chain.run(chain.solver, PostCheckpoint{id, 0, honest().checkpoint_root(0), {}}) == 0);
    const ToyRun liar(Tamper{false, 1, 2, 2});
    const Signed told = make_statement(id, liar, {.step = 1, .index = 2}, partner);
    CHECK(chain.fail(chain.solver, make_accuse(id, told, partner, honest())) == TxError::kNotTogether);
}

TEST_CASE("STM-7, STM-11: two statements that contradict each other convict at once, but not of two sessions") {
    const ToyRun liar(kLie);
    Team team(honest());
    team.post(honest(), 2);
    const Actor accused = team.members[0];
    const Signed one = make_statement(team.id, liar, kWrong, accused);
    const Signed other = make_statement(team.id, honest(), kWrong, accused);
    const Signed restarted = make_statement(team.id, honest(), kWrong, accused, "another session");
    const auto report = [&](const Signed& a, const Signed& b) {
        return ReportEquivocation{team.id, accused.id, a.stated, a.signature, b.stated, b.signature};
    };
    CHECK(team.chain.fail(team.chain.solver, report(one, one)) == TxError::kNoEvidence);
    CHECK(team.chain.fail(team.chain.solver, report(one, restarted)) == TxError::kNoEvidence);
    CHECK(team.chain.fail(team.chain.whistleblower, report(one, other)) == TxError::kNotTogether);
    CHECK(team.chain.fail(accused, report(one, other)) == TxError::kNotTogether);
    ReportEquivocation forged = report(one, other);
    forged.other_signature = one.signature;
    CHECK(team.chain.fail(team.chain.solver, forged) == TxError::kNotStated);
    REQUIRE(team.chain.run(team.members[1], report(one, other)) == 0);
    CHECK(team.chain.slashed(team.id, Reason::kFalseStatement) == std::vector{team.half()});
    CHECK(team.chain.paid(team.id, Reason::kWonDispute) == std::vector{team.half() / 2});
    CHECK(team.chain.task(team.id).group->convicted == std::vector<std::uint8_t>{1});
    CHECK(team.chain.fail(team.chain.solver, report(one, other)) == TxError::kNotTogether);  // once
    const auto event =
        std::find_if(team.chain.history.begin(), team.chain.history.end(), [](const HistoryRecord& each) {
            return std::holds_alternative<history::MemberConvicted>(each.event);
        });
    REQUIRE(event != team.chain.history.end());
    CHECK(std::get<history::MemberConvicted>(event->event).member == accused.id);
}

TEST_CASE("STM-11: an accomplice's report does not take the reward from who has accused already") {
    const ToyRun fraud(kLie);
    Team team(honest());
    team.finish(fraud);
    const Actor lead = team.chain.solver;
    team.dispute_segment(2);
    const std::uint64_t before = team.chain.balance(team.chain.whistleblower);
    const Signed one = make_statement(team.id, fraud, kWrong, lead);
    const Signed other = make_statement(team.id, honest(), kWrong, lead);
    const ReportEquivocation report{team.id, lead.id, one.stated, one.signature, other.stated, other.signature};
    REQUIRE(team.chain.run(team.members[0], report) == 0);
    CHECK(team.chain.balance(team.chain.whistleblower) - before == team.half() / 2);
}

TEST_CASE("STM-10: a second conviction finds something left, and whoever finds it a reward") {
    const ToyRun fraud(Tamper{false, 5, 2, 2, true});  // in segments 2 and 3
    Team team(honest());
    team.finish(fraud);
    const Actor culprit = team.members[1];
    for (const std::uint32_t segment : {3U, 2U}) {
        const DisputeId disputed = team.dispute_segment(segment);
        const std::uint64_t step = segment == 3 ? 8 : 5;
        // Each segment is judged from the checkpoint before, which is wrong too where it is the third.
        const Signed told = make_statement(team.id, fraud, {.step = step, .index = 2}, culprit);
        const ToyRun& start = segment == 3 ? fraud : honest();
        REQUIRE(
            team.chain.run(team.chain.solver, make_accuse(team.id, told, culprit, honest(), disputed, &start)) == 0
        );
        const DisputeId accusation = team.answer(culprit, team.chain.solver, disputed, segment);
        const Dispute begun = find_dispute(team.chain.view, accusation).value();
        ToyReplay replay(honest(), begun.claim, start.state(begun.claim.first_step));
        const auto children = dispute::make_reveal(begun.claim, begun.position, replay);
        REQUIRE(team.chain.run(team.chain.solver, RevealMove{accusation, 0, children}) == 0);
        team.chain.skip(find_dispute(team.chain.view, accusation)->deadline().value - team.chain.height.value);
        CHECK(team.state(disputed) == DisputeState::kRefuted);
        if (segment == 3) {
            team.chain.add_verifiers(1);
            await_state(team.chain, team.id, TaskState::kVerifying);
            team.chain.commit_all(team.id);
            team.chain.publish_all(team.id);
        }
    }
    const std::uint64_t left = team.bond - team.half();
    CHECK(team.chain.slashed(team.id, Reason::kFalseStatement) == std::vector{team.half(), left - left / 2});
    CHECK(team.chain.paid(team.id, Reason::kWonDispute) == std::vector{team.half() / 2, (left - left / 2) / 2});
    CHECK(team.locked(team.chain.solver) == team.bond);
}

TEST_CASE("STM-8: a member has one accusation at a time that answers nothing, and stake for it") {
    const ToyRun liar(kLie);
    Team team(honest());
    team.post(honest(), 2);
    const Actor accuser = team.chain.solver;
    REQUIRE(team.chain.run(accuser, team.accuse(team.members[0], liar, honest())) == 0);
    const Accuse second = team.accuse(team.members[1], liar, honest());
    CHECK(team.chain.fail(accuser, second) == TxError::kAlreadyDisputed);
    REQUIRE(team.chain.run(team.members[0], second) == 0);  // another member's
    play_dispute(team.chain, team.accusation(team.members[0], accuser), honest(), liar, team.members[0]);
    CHECK(team.chain.run(accuser, second) == 0);
    // Who has lost its bond has nothing to answer with for another.
    Chain& chain = team.chain;
    Overlay state = Overlay::over(chain.view);
    Task task = chain.task(team.id);
    const Amount bond = bond_of(task, team.members[1].id);
    bond_of(task, team.members[1].id) = {challenger_bond(chain.params, task_value(task.spec)).grains - 1};
    Stake stake = get_stake(chain.view, Role::kSolver, team.members[1].id);
    const std::uint64_t moved = bond.grains - bond_of(task, team.members[1].id).grains;
    stake.locked.grains -= moved;
    stake.free.grains += moved;
    set_stake(state, Role::kSolver, team.members[1].id, stake);
    set_task(state, task);
    chain.view.apply(state.changes());
    CHECK(chain.fail(team.members[1], team.accuse(accuser, liar, honest())) == TxError::kInsufficientStake);
}

TEST_CASE("STM-9: an answer goes on with the clock of who answers") {
    const ToyRun fraud(kLie);
    Team team(honest());
    team.finish(fraud);
    const DisputeId disputed = team.dispute_segment(2);
    const std::uint32_t whole = find_dispute(team.chain.view, disputed)->game()->responder_clock;
    team.chain.skip(5);
    REQUIRE(team.chain.run(team.chain.solver, team.accuse(team.members[0], fraud, honest(), disputed)) == 0);
    const Dispute opened =
        find_dispute(team.chain.view, team.answer(team.members[0], team.chain.solver, disputed)).value();
    CHECK(opened.game()->responder_clock == whole - 6);
    CHECK(opened.game()->challenger_clock == whole);
    CHECK(opened.deadline().value == team.chain.height.value + whole - 6);
}
