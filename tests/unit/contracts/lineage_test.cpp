// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include <contracts/lifecycle/lineage.hpp>
#include <contracts/verification/verification.hpp>
#include <core/dispute/player.hpp>
#include <contracts/settlement/taints.hpp>
#include <tests/unit/contracts/fixture.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

TaskSpec stacked_on(const TaskId& parent) {
    TaskSpec spec = make_spec();
    spec.parent = parent;
    return spec;
}

TaskId submit(Chain& chain, const TaskSpec& spec) {
    const TaskId id = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
    REQUIRE(chain.run(chain.submitter, SubmitTask{spec}) == 0);
    return id;
}

/// Accepts, and posts what is missing, from `first_root` on.
void train(Chain& chain, const TaskId& id, const Hash256& first_root) {
    chain.skip(1);
    REQUIRE(chain.run(chain.solver, AcceptTask{id}) == 0);
    chain.post_checkpoints(id, {first_root, hash_of("1"), hash_of("2"), hash_of("3")});
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
}

/// A completed child of `parent`.
TaskId completed_child(Chain& chain, const TaskId& parent) {
    const TaskId id = submit(chain, stacked_on(parent));
    train(chain, id, hash_of("3"));
    return id;
}

/// Long windows, so that a family can be made while its first member is being verified.
Params slow_params() {
    Params params = quick_params();
    params.commit_blocks = 400;
    params.publish_blocks = 100;
    params.draw_blocks = 300;
    params.dispute_clock_blocks = 5;
    return params;
}

/// Convicts `id`, in the next block: its solver is silent in a dispute.
void convict(Chain& chain, const TaskId& id) {
    REQUIRE(chain.run(chain.whistleblower, OpenDispute{id, 1, Role::kWhistleblower}) == 0);
    chain.skip(chain.params.dispute_clock_blocks - 1);
    REQUIRE(chain.task(id).state != TaskState::kConvicted);
}

void accept_verdicts(Chain& chain, const TaskId& id) {
    chain.commit_all(id);
    chain.publish_all(id);
}

/// Through the windows to a state after them, disclosing when it is time.
void pass_windows(Chain& chain, const TaskId& id, TaskState state) {
    for (std::uint32_t i = 0; i < 2 * chain.params.commit_blocks && chain.task(id).state != state; ++i) {
        if (chain.task(id).state == TaskState::kDisclosure) {
            chain.disclose_all(id);
        } else {
            chain.skip(1);
        }
    }
    REQUIRE(chain.task(id).state == state);
}

void settle(Chain& chain, const TaskId& id) { pass_windows(chain, id, TaskState::kSettled); }

/// As settle, of a task that has an ancestor that is not over.
void judge(Chain& chain, const TaskId& id) { pass_windows(chain, id, TaskState::kJudged); }

std::vector<TaskId> tainted(const Chain& chain) {
    std::vector<TaskId> ids;
    for (const HistoryRecord& entry : chain.history) {
        if (std::holds_alternative<history::Tainted>(entry.event)) {
            ids.push_back(entry.task);
        }
    }
    return ids;
}

}  // namespace

TEST_CASE("TASK-14: what a task's ancestors are worth does not count") {
    Params params = slow_params();
    params.task_value_max = {23 * kCoin};  // of one of them
    Chain chain(params);
    chain.bond_all();
    const TaskId parent = submit(chain, make_spec());
    train(chain, parent, hash_of("0"));
    TaskSpec child = stacked_on(parent);
    child.reward.grains += 1;
    CHECK(chain.fail(chain.submitter, SubmitTask{child}) == TxError::kValueTooHigh);
    CHECK(chain.task(completed_child(chain, parent)).depth == 1);
}

TEST_CASE("LIN-1: a parent has a last state that nobody has refuted") {
    Chain chain;
    chain.bond_all();
    CHECK(chain.fail(chain.submitter, SubmitTask{stacked_on(TaskId{})}) == TxError::kParentUnfit);
    const TaskId parent = submit(chain, make_spec());
    CHECK(chain.fail(chain.submitter, SubmitTask{stacked_on(parent)}) == TxError::kParentUnfit);
    REQUIRE(chain.run(chain.solver, AcceptTask{parent}) == 0);
    CHECK(chain.fail(chain.submitter, SubmitTask{stacked_on(parent)}) == TxError::kParentUnfit);
    chain.post_checkpoints(parent, {hash_of("0"), hash_of("1"), hash_of("2"), hash_of("3")});
    REQUIRE(chain.run(chain.solver, CompleteTask{parent}) == 0);
    TaskSpec other = stacked_on(parent);
    other.program.state_tensors = 3;
    CHECK(chain.fail(chain.submitter, SubmitTask{other}) == TxError::kParentUnfit);
    const TaskId child = submit(chain, stacked_on(parent));
    CHECK(chain.task(child).depth == 1);
    CHECK(chain.task(child).spec.parent == parent);
    const TaskId second = submit(chain, stacked_on(parent));
    CHECK(get_lineage(chain.view, parent).first_child == second);
    CHECK(get_lineage(chain.view, second).next_sibling == child);
    CHECK_FALSE(get_lineage(chain.view, child).next_sibling.has_value());
    convict(chain, parent);
    chain.skip(1);
    REQUIRE(chain.task(parent).state == TaskState::kConvicted);
    CHECK(chain.fail(chain.submitter, SubmitTask{stacked_on(parent)}) == TxError::kParentUnfit);
}

TEST_CASE("LIN-1: a task with a parent needs no initial tensors, and may not name any") {
    Chain chain;
    const TaskId parent = chain.complete_task();
    TaskSpec spec = stacked_on(parent);
    spec.program.initial_tensors = 2;
    spec.program.initial_root = hash_of("initial");
    submit(chain, spec);
    spec.initial_artifact.emplace();
    CHECK(chain.fail(chain.submitter, SubmitTask{spec}) == TxError::kSpecInvalid);
}

TEST_CASE("LIN-3, VER-22: a task that waits for its ancestors holds nobody's stake, so they can be judged with it") {
    Chain chain(slow_params());
    REQUIRE(chain.run(chain.solver, Bond{Role::kSolver, {100 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.verifier, Bond{Role::kVerifier, {2 * kCoin}}) == 0);  // enough for one segment, of two
    const TaskId parent = chain.start_task(make_spec());
    chain.post_checkpoints(parent, {hash_of("0"), hash_of("1"), hash_of("2"), hash_of("3")});
    REQUIRE(chain.run(chain.solver, CompleteTask{parent}) == 0);
    chain.skip(70);  // TASK-18: its next draw is far away
    const TaskId child = completed_child(chain, parent);
    REQUIRE(chain.run(chain.verifier, Bond{Role::kVerifier, {2 * kCoin}}) == 0);  // and for the two of one task
    chain.skip(1);
    REQUIRE(chain.task(child).state == TaskState::kVerifying);
    REQUIRE(chain.task(parent).state == TaskState::kCompleted);
    accept_verdicts(chain, child);
    judge(chain, child);
    CHECK(chain.stake(Role::kVerifier, chain.verifier).locked == Amount{});
    CHECK(chain.task(child).lane == 0);
    for (int i = 0; i < 300 && chain.task(parent).state == TaskState::kCompleted; ++i) {
        chain.skip(1);
    }
    CHECK(chain.task(parent).state == TaskState::kVerifying);
    CHECK(chain.task(child).state == TaskState::kJudged);
    accept_verdicts(chain, parent);
    settle(chain, parent);
    settle(chain, child);
}

TEST_CASE("LIN-1: a lineage is at most as deep as its settlement is affordable") {
    Params params = slow_params();
    params.solver_bond = {kCoin};
    params.verifier_bond = {kCoin};
    Chain chain(params);
    chain.add_verifiers(4);
    TaskId last = chain.complete_task();
    TaskSpec cheap = make_spec();
    cheap.reward = {kCoin};
    cheap.verification_fee = {0};
    for (std::uint32_t depth = 1; depth <= kMaxDepth; ++depth) {
        cheap.parent = last;
        last = submit(chain, cheap);
        train(chain, last, hash_of("3"));
        CHECK(chain.task(last).depth == depth);
    }
    CHECK(chain.fail(chain.submitter, SubmitTask{stacked_on(last)}) == TxError::kParentUnfit);
}

TEST_CASE("LIN-2: checkpoint 0 is the parent's last, and the chain sees to it") {
    Chain chain;
    const TaskId parent = chain.complete_task();
    const TaskId child = submit(chain, stacked_on(parent));
    chain.skip(1);
    REQUIRE(chain.run(chain.solver, AcceptTask{child}) == 0);
    CHECK(chain.fail(chain.solver, PostCheckpoint{child, 0, hash_of("2"), {}}) == TxError::kNotParentsState);
    const std::vector<canonical::Tensor> infinite{
        {.dtype = canonical::DType::kF32, .shape = {.rows = 1, .cols = 1}, .data = Bytes{0, 0, 0x80, 0x7f}}};
    const auto opening = dispute::open_divergence(infinite).value();
    const DeclareDivergence divergence{child, 0, hash_of("x"), {}, opening};
    CHECK(chain.fail(chain.solver, divergence) == TxError::kCheckpointOrder);
    CHECK(chain.run(chain.solver, PostCheckpoint{child, 0, hash_of("3"), {}}) == 0);
    CHECK(chain.run(chain.solver, PostCheckpoint{child, 1, hash_of("other"), {}}) == 0);
}

TEST_CASE("LIN-2: nobody is drawn for segment 0 of a task with a parent, nor disputes it") {
    Params params = quick_params();
    params.segments_checked = 20;
    Chain chain(params);
    const TaskId child = completed_child(chain, chain.complete_task());
    chain.skip(1);
    std::vector<std::uint32_t> segments;
    for (const Assignment& assignment : chain.task(child).assignments) {
        segments.push_back(assignment.segment);
    }
    CHECK(segments == std::vector<std::uint32_t>{1, 2, 3});
    CHECK(chain.fail(chain.whistleblower, OpenDispute{child, 0, Role::kWhistleblower}) == TxError::kSegmentUnknown);
    CHECK(chain.run(chain.whistleblower, OpenDispute{child, 1, Role::kWhistleblower}) == 0);
}

TEST_CASE("LIN-3: a task is settled after its ancestors") {
    Chain chain(slow_params());
    const TaskId parent = chain.verifying_task();
    const TaskId child = completed_child(chain, parent);
    const TaskId grandchild = completed_child(chain, child);
    chain.skip(1);
    accept_verdicts(chain, grandchild);
    accept_verdicts(chain, child);
    judge(chain, grandchild);
    judge(chain, child);
    CHECK(chain.task(child).solver_bond == Amount{});
    CHECK(chain.fail(chain.whistleblower, OpenDispute{child, 1, Role::kWhistleblower}) == TxError::kTaskState);
    const ChallengeVerdict late{child, 1, chain.task(child).assignments[0].verifier, Role::kWhistleblower};
    CHECK(chain.fail(chain.whistleblower, late) == TxError::kTaskState);
    CHECK(chain.paid(child, Reason::kReward).empty());
    accept_verdicts(chain, parent);
    settle(chain, parent);
    CHECK(chain.task(child).state == TaskState::kJudged);
    settle(chain, child);
    CHECK(chain.task(grandchild).state == TaskState::kJudged);
    settle(chain, grandchild);
    CHECK(chain.paid(grandchild, Reason::kReward) == std::vector{20 * kCoin});
    CHECK(tainted(chain).empty());
}

TEST_CASE("LIN-4: descendants of the convicted are marked, and cancelled when nobody has accepted them") {
    Chain chain(slow_params());
    const TaskId parent = chain.verifying_task();
    const TaskId done = completed_child(chain, parent);
    const TaskId grandchild = completed_child(chain, done);
    const TaskId training = submit(chain, stacked_on(parent));
    chain.skip(1);
    REQUIRE(chain.run(chain.solver, AcceptTask{training}) == 0);
    const TaskId drawn = submit(chain, stacked_on(grandchild));
    const std::uint64_t before = chain.balance(chain.submitter);
    convict(chain, parent);
    CHECK(tainted(chain).empty());
    chain.skip(1);
    REQUIRE(chain.task(parent).state == TaskState::kConvicted);
    CHECK(tainted(chain) == std::vector{training, done, grandchild, drawn});
    for (const TaskId& id : {training, done, grandchild, drawn}) {
        CHECK(chain.task(id).tainted_by == parent);
    }
    CHECK(chain.task(drawn).state == TaskState::kCancelled);
    CHECK(chain.paid(drawn, Reason::kRefund) == std::vector{23 * kCoin});
    CHECK(chain.balance(chain.submitter) == before + 46 * kCoin);  // with the parent's own refund
    CHECK(get_taints(chain.view).empty());
    CHECK(chain.fail(chain.submitter, SubmitTask{stacked_on(done)}) == TxError::kParentUnfit);
}

TEST_CASE("LIN-4: marks spread by so many tasks a block, and the first one stays") {
    Params params = slow_params();
    params.accept_blocks = 300;
    Chain chain(params);
    const TaskId parent = chain.verifying_task();
    TaskSpec cheap = stacked_on(parent);
    cheap.reward = {1};
    cheap.verification_fee = {0};
    std::vector<TaskId> children;
    for (std::uint32_t i = 0; i < kMaxMarksPerBlock + 3; ++i) {
        children.push_back(submit(chain, cheap));
    }
    convict(chain, parent);
    chain.skip(1);
    CHECK(tainted(chain).size() == kMaxMarksPerBlock);
    CHECK(get_taints(chain.view).size() == 1);
    chain.skip(1);
    CHECK(tainted(chain).size() == children.size());
    CHECK(get_taints(chain.view).empty());
    chain.skip(2);
    CHECK(tainted(chain).size() == children.size());
}

TEST_CASE("LIN-5: a descendant that was accepted is settled by its own merit, with the mark") {
    Chain chain(slow_params());
    const TaskId parent = chain.verifying_task();
    const TaskId child = completed_child(chain, parent);
    const TaskId liar = completed_child(chain, child);
    chain.skip(1);
    accept_verdicts(chain, child);
    convict(chain, liar);
    chain.skip(1);
    REQUIRE(chain.task(liar).state == TaskState::kConvicted);
    judge(chain, child);
    CHECK_FALSE(chain.task(child).tainted_by.has_value());
    convict(chain, parent);
    chain.skip(1);
    REQUIRE(chain.task(parent).state == TaskState::kConvicted);
    CHECK(chain.task(child).tainted_by == parent);
    CHECK_FALSE(chain.task(liar).tainted_by.has_value());  // over already
    settle(chain, child);
    CHECK(chain.paid(child, Reason::kReward) == std::vector{20 * kCoin});
    CHECK(chain.task(child).tainted_by == parent);
}
