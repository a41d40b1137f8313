// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>

#include <tests/unit/contracts/fixture.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

Hash256 root_of_segment(std::uint32_t segment) { return hash_of(std::to_string(segment)); }

}  // namespace

TEST_CASE("VER-1, VER-1.1: verifiers are drawn at the end of the block after completion, for distinct segments") {
    Chain chain;
    const TaskId id = chain.complete_task();
    CHECK(chain.task(id).state == TaskState::kCompleted);
    CHECK(chain.task(id).assignments.empty());
    chain.skip(1);
    const Task task = chain.task(id);
    CHECK(task.state == TaskState::kVerifying);
    REQUIRE(task.assignments.size() == 2);
    CHECK(task.assignments[0].segment < task.assignments[1].segment);
    CHECK(task.assignments[1].segment <= 3);
    for (const Assignment& assignment : task.assignments) {
        CHECK(assignment.verifier == chain.verifier.id);
        CHECK(assignment.bond == chain.params.verifier_bond);
    }
    CHECK(chain.stake(Role::kVerifier, chain.verifier).locked.grains == 4 * kCoin);
    CHECK(chain.fail(chain.stranger, CommitVerdict{id, task.assignments[0].segment, {}}) == TxError::kNotAssigned);
}

TEST_CASE("VER-1.2: solver and submitter are never drawn, and nobody twice for one segment") {
    Params params = quick_params();
    params.verifiers_per_segment = 2;
    params.segments_checked = 4;
    Chain chain(params);
    for (const Actor* actor : {&chain.solver, &chain.submitter, &chain.stranger, &chain.whistleblower}) {
        CHECK(chain.run(*actor, Bond{Role::kVerifier, {500 * kCoin}}) == 0);
    }
    const TaskId id = chain.verifying_task();
    const Task task = chain.task(id);
    CHECK(task.assignments.size() == 8);
    std::set<std::pair<std::uint32_t, AccountId>> pairs;
    for (const Assignment& assignment : task.assignments) {
        CHECK(assignment.verifier != chain.solver.id);
        CHECK(assignment.verifier != chain.submitter.id);
        CHECK(pairs.emplace(assignment.segment, assignment.verifier).second);
    }
}

TEST_CASE("VER-1.2, VER-7.1: a verifier needs free stake for the bonds and the reserves of all its assignments") {
    Chain chain;
    const TaskId id = chain.complete_task();
    CHECK(chain.run(chain.verifier, Unbond{Role::kVerifier, {100 * kCoin - (4 * kCoin - 1)}}) == 0);
    chain.skip(2);
    CHECK(chain.task(id).state == TaskState::kCompleted);
    CHECK(chain.run(chain.verifier, Bond{Role::kVerifier, {1}}) == 0);
    while (chain.task(id).state == TaskState::kCompleted) {
        chain.skip(1);  // TASK-18
    }
    CHECK(chain.task(id).state == TaskState::kVerifying);
}

TEST_CASE("VER-2: a commitment binds task, segment, verifier, roots, decoy and salt") {
    const TaskId task = task_id(make_actor(1).id, 0);
    const AccountId verifier = make_actor(3).id;
    const VerdictOpening opening{{hash_of("r"), {}}, {hash_of("p")}, hash_of("d"), hash_of("s")};
    const Hash256 base = verdict_commitment(task, 1, verifier, opening);
    CHECK(base != verdict_commitment(task_id(make_actor(1).id, 1), 1, verifier, opening));
    CHECK(base != verdict_commitment(task, 2, verifier, opening));
    CHECK(base != verdict_commitment(task, 1, make_actor(4).id, opening));
    const std::vector<void (*)(VerdictOpening&)> changes{
        [](VerdictOpening& o) { o.verdict.end_root = hash_of("q"); },
        [](VerdictOpening& o) { o.marks = {hash_of("q")}; }, [](VerdictOpening& o) { o.marks.clear(); },
        [](VerdictOpening& o) { o.decoy_root = hash_of("q"); }, [](VerdictOpening& o) { o.salt = hash_of("q"); }};
    for (const auto change : changes) {
        VerdictOpening other = opening;
        change(other);
        CHECK(base != verdict_commitment(task, 1, verifier, other));
    }
}

TEST_CASE("VER-3: each assignment is committed once, and publication waits for the last commitment") {
    Chain chain;
    const TaskId id = chain.verifying_task();
    const std::uint32_t first = chain.task(id).assignments[0].segment;
    const std::uint32_t second = chain.task(id).assignments[1].segment;
    CHECK(chain.commit(chain.verifier, id, first, root_of_segment(first)) == 0);
    CHECK(static_cast<TxError>(chain.commit(chain.verifier, id, first, hash_of("x"))) == TxError::kAlreadyCommitted);
    CHECK(static_cast<TxError>(chain.publish(chain.verifier, id, first, root_of_segment(first))) == TxError::kPhase);
    CHECK(
        static_cast<TxError>(chain.publish(chain.verifier, id, second, root_of_segment(second))) ==
        TxError::kNotCommitted
    );
    CHECK(chain.commit(chain.verifier, id, second, root_of_segment(second)) == 0);
    CHECK(chain.publish(chain.verifier, id, first, root_of_segment(first)) == 0);
}

TEST_CASE("VER-4: a verdict is published once, after its commitment") {
    Chain chain;
    const TaskId id = chain.verifying_task();
    chain.commit_all(id);
    CHECK(chain.task(id).state == TaskState::kVerifying);
    chain.publish_all(id);
    CHECK(chain.task(id).assignments[0].status == VerdictStatus::kAccepted);
    CHECK(chain.task(id).state == TaskState::kChallenge);
    const std::uint32_t segment = chain.task(id).assignments[0].segment;
    CHECK(
        static_cast<TxError>(chain.publish(chain.verifier, id, segment, root_of_segment(segment))) ==
        TxError::kTaskState
    );
}

TEST_CASE("VER-5: who misses the commit phase has a tenth of the bond held and cannot commit later") {
    Chain chain;
    const TaskId id = chain.verifying_task();
    const std::uint32_t first = chain.task(id).assignments[0].segment;
    const std::uint32_t second = chain.task(id).assignments[1].segment;
    CHECK(chain.commit(chain.verifier, id, first, root_of_segment(first)) == 0);
    chain.skip(chain.params.commit_blocks - 1);
    CHECK(chain.task(id).assignments[1].status == VerdictStatus::kMissed);
    CHECK(chain.task(id).assignments[1].bond.grains == kCoin / 10);  // AVL-8: nobody else of its segment has committed
    CHECK(chain.burned() == 0);
    CHECK(static_cast<TxError>(chain.commit(chain.verifier, id, second, root_of_segment(second))) == TxError::kPhase);
    CHECK(chain.publish(chain.verifier, id, first, root_of_segment(first)) == 0);
    CHECK(chain.task(id).state == TaskState::kChallenge);
}

TEST_CASE("VER-5: who does not publish loses a tenth of the bond, and its segment is drawn anew") {
    Chain chain;
    const TaskId id = chain.verifying_task();
    chain.commit_all(id);
    const std::uint32_t first = chain.task(id).assignments[0].segment;
    CHECK(chain.publish(chain.verifier, id, first, root_of_segment(first)) == 0);
    chain.skip(chain.params.publish_blocks - 1);
    CHECK(chain.task(id).state == TaskState::kChallenge);
    CHECK(chain.task(id).assignments[1].status == VerdictStatus::kMissed);
    CHECK(chain.slashed(id, Reason::kMissedVerdict) == std::vector<std::uint64_t>{kCoin / 10});
    CHECK(chain.slashed(id, Reason::kUnserved).empty());  // AVL-8: it had what it needed
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kCompleted);
}

TEST_CASE("VER-6: a rejecting verdict opens a dispute in the same transaction") {
    Chain chain;
    const TaskId id = chain.verifying_task();
    const std::uint32_t first = chain.task(id).assignments[0].segment;
    const std::uint32_t second = chain.task(id).assignments[1].segment;
    CHECK(chain.commit(chain.verifier, id, first, hash_of("mine")) == 0);
    CHECK(chain.commit(chain.verifier, id, second, root_of_segment(second)) == 0);
    CHECK(chain.publish(chain.verifier, id, first, hash_of("mine")) == 0);
    CHECK(chain.last.disputes.size() == 1);
    const Dispute dispute = find_dispute(chain.view, chain.last.disputes[0]).value();
    CHECK(dispute.segment == first);
    CHECK(dispute.challenger == chain.verifier.id);
    CHECK(dispute.challenger_role == Role::kVerifier);
    CHECK(dispute.challenger_bond == chain.params.challenger_bond);
    CHECK(dispute.onchain_bytes > 0);
    CHECK(chain.task(id).assignments[0].status == VerdictStatus::kRejected);
    CHECK(chain.task(id).open_disputes == 1);
    // The reserve of the other assignment and both bonds are locked as before, and this one's is the dispute's.
    CHECK(chain.stake(Role::kVerifier, chain.verifier).locked.grains == 4 * kCoin);
    CHECK(chain.task(id).assignments[0].reserve.grains == 0);
    CHECK(chain.task(id).assignments[1].reserve == chain.params.challenger_bond);
}

TEST_CASE("VER-1.3: an assignment locks a reserve of a challenger's bond for each verifier, which returns with its bond"
) {
    Params params = quick_params();
    params.verifiers_per_segment = params.verifiers_per_segment_max = 2;
    Chain chain(params);
    REQUIRE(chain.run(chain.stranger, Bond{Role::kVerifier, {6 * kCoin}}) == 0);
    const TaskId id = chain.verifying_task();
    const auto assignments = chain.task(id).assignments;
    REQUIRE(assignments.size() == 4);
    for (const Assignment& assignment : assignments) {
        CHECK(assignment.bond.grains == kCoin);
        CHECK(assignment.reserve.grains == 2 * kCoin);
    }
    CHECK(chain.stake(Role::kVerifier, chain.stranger).free.grains == 0);
    chain.skip(chain.params.commit_blocks);  // nobody commits: a tenth of each bond is held (AVL-8)
    CHECK(chain.stake(Role::kVerifier, chain.stranger).locked.grains == 2 * kCoin / 10);
    CHECK(chain.stake(Role::kVerifier, chain.stranger).free.grains == 6 * kCoin - 2 * kCoin / 10);
}

TEST_CASE("VER-7.4: a task that lacks nothing but free stake waits on, and is judged when there is some") {
    Params params = quick_params();
    params.commit_blocks = 300;
    Chain chain(params);
    REQUIRE(chain.run(chain.solver, Bond{Role::kSolver, {100 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.verifier, Bond{Role::kVerifier, {4 * kCoin}}) == 0);  // what two assignments lock
    TaskSpec spec = make_spec();
    spec.program.memory = 2;
    const std::vector<TaskId> ids{chain.start_task(spec), chain.start_task(spec)};
    for (const TaskId& id : ids) {
        chain.post_checkpoints(id, {hash_of("0"), hash_of("1"), hash_of("2"), hash_of("3")});
        REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
    }
    chain.skip(5 * params.draw_blocks);
    REQUIRE(chain.task(ids[0]).state == TaskState::kVerifying);
    CHECK(chain.stake(Role::kVerifier, chain.verifier).free == Amount{});
    CHECK(chain.task(ids[1]).state == TaskState::kCompleted);
    SUBCASE("the other task ends") {
        chain.commit_all(ids[0]);
        chain.publish_all(ids[0]);
        chain.end_windows(ids[0]);
        REQUIRE(chain.task(ids[0]).state == TaskState::kSettled);
        for (int i = 0; i < 300 && chain.task(ids[1]).state == TaskState::kCompleted; ++i) {
            chain.skip(1);  // TASK-18
        }
        CHECK(chain.task(ids[1]).state == TaskState::kVerifying);
    }
    SUBCASE("the verifier ceases to consent") {
        REQUIRE(chain.run(chain.verifier, RegisterTerms{Role::kVerifier, {.memory = 1}, 0}) == 0);
        chain.skip(15 * params.draw_blocks);
        CHECK(chain.task(ids[1]).state == TaskState::kExpired);
        CHECK(chain.paid(ids[1], Reason::kRefund) == std::vector{23 * kCoin});
    }
}

TEST_CASE("VER-7.2: without an eligible verifier a completed task expires and everything is returned") {
    Chain chain;
    chain.bond_all();
    CHECK(chain.run(chain.verifier, Unbond{Role::kVerifier, {100 * kCoin}}) == 0);
    const TaskId id = chain.start_task(make_spec());
    chain.post_checkpoints(id, {hash_of("0"), hash_of("1"), hash_of("2"), hash_of("3")});
    CHECK(chain.run(chain.solver, CompleteTask{id}) == 0);
    const std::uint64_t before = chain.balance(chain.submitter);
    chain.skip(chain.params.draw_blocks);
    CHECK(chain.task(id).state == TaskState::kCompleted);  // until the next draw
    chain.skip(chain.params.draw_blocks);
    CHECK(chain.task(id).state == TaskState::kExpired);
    CHECK(chain.balance(chain.submitter) == before + 23 * kCoin);
    CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == 100 * kCoin);
    CHECK(chain.burned() == 0);
    CHECK_FALSE(front_waiting(chain.view, Queue::kVerifiers).has_value());
}
