// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include <contracts/params/spec.hpp>
#include <core/sealed/files/check.hpp>
#include <core/sealed/share.hpp>
#include <tests/unit/contracts/privately.hpp>

/// Private tasks: who reads them, and who answers for their keys (PRV rules).

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

const std::array<std::uint8_t, 32> kAux{};

/// The evidence about a share that the chain has of `who`.
ReportWrongKeys report_of(const TaskId& id, const Actor& who, const KeyShare& share, bool is_of_checkpoints) {
    const Bytes& wrong = is_of_checkpoints ? share.of_checkpoints : share.of_task;
    return {id, is_of_checkpoints, wrong, sealed::make_wrong_share(who.key, wrong, kAux).value()};
}

}  // namespace

TEST_CASE(
    "PRV-1, TASK-2.13: a private task is of one seat and without a parent, and names a sealed file for each artifact"
) {
    const auto sound = [](auto change) {
        TaskSpec spec = private_spec();
        change(spec);
        return check_spec(spec).has_value();
    };
    CHECK(sound([](TaskSpec&) {}));
    CHECK_FALSE(sound([](TaskSpec& s) { s.members = 2; }));
    CHECK_FALSE(sound([](TaskSpec& s) { s.parent = TaskId{}; }));
    CHECK_FALSE(sound([](TaskSpec& s) { s.privacy->key = {}; }));
    CHECK_FALSE(sound([](TaskSpec& s) { s.privacy->program.root = {}; }));
    CHECK_FALSE(sound([](TaskSpec& s) { s.privacy->dataset.size = 0; }));
    CHECK_FALSE(sound([](TaskSpec& s) { s.privacy->initial = SealedFile{hash_of("initial"), 1}; }));
    CHECK_FALSE(sound([](TaskSpec& s) { s.privacy->holdout = SealedFile{hash_of("hold-out"), 1}; }));
}

TEST_CASE("PRV-1: nobody builds upon a private task") {
    Chain chain(private_params());
    chain.bond_all();
    TaskSpec child = honest().spec();
    child.parent = complete_privately(chain);
    CHECK(chain.fail(chain.submitter, SubmitTask{child}) == TxError::kParentUnfit);
}

TEST_CASE("PRV-3: a solver can accept once the submitter has shared the keys with it") {
    Chain chain(private_params());
    chain.bond_all();
    const TaskId id = drawn_privately(chain);
    const Task drawn = chain.task(id);
    CHECK(drawn.secrecy.value().awaited == std::vector{Reader{chain.solver.id, chain.solver.id}});
    CHECK(drawn.deadline.value == chain.height.value + 9);
    CHECK(chain.fail(chain.solver, AcceptTask{id}) == TxError::kKeysMissing);
    const ShareKeys right = share_all(chain, id);
    CHECK(chain.fail(chain.solver, right) == TxError::kNotSubmitter);
    ShareKeys wrong = right;
    wrong.key.reset();
    CHECK(chain.fail(chain.submitter, wrong) == TxError::kShareInvalid);
    wrong = right;
    wrong.shares[0].to = chain.verifier.id;
    CHECK(chain.fail(chain.submitter, wrong) == TxError::kShareInvalid);
    REQUIRE(chain.task(id).state == TaskState::kDrawn);
    REQUIRE(chain.run(chain.submitter, right) == 0);
    CHECK(chain.task(id).secrecy->key == checkpoint_secret().key());
    CHECK(chain.task(id).deadline.value == chain.height.value + chain.params.accept_blocks);
    CHECK(chain.fail(chain.submitter, right) == TxError::kShareInvalid);
    CHECK(chain.run(chain.solver, AcceptTask{id}) == 0);
    CHECK(chain.fail(chain.submitter, right) == TxError::kTaskState);
}

TEST_CASE("PRV-3: shares have the size of shares, begin with a point, and are in the order of their accounts") {
    Chain chain(private_params());
    chain.bond_all();
    const TaskId id = drawn_privately(chain);
    const ShareKeys right = share_all(chain, id);
    const auto refuses = [&](auto change, TxError error) {
        ShareKeys wrong = right;
        change(wrong);
        return chain.fail(chain.submitter, wrong) == error;
    };
    CHECK(refuses([](ShareKeys& a) { a.shares.clear(); }, TxError::kFieldOutOfRange));
    CHECK(refuses([](ShareKeys& a) { a.key = sealed::TaskKey{}; }, TxError::kFieldOutOfRange));
    CHECK(refuses([](ShareKeys& a) { a.shares[0].of_task.pop_back(); }, TxError::kShareInvalid));
    CHECK(refuses([](ShareKeys& a) { a.shares[0].of_checkpoints[0] = 9; }, TxError::kShareInvalid));
    CHECK(refuses([](ShareKeys& a) { a.shares.push_back(a.shares[0]); }, TxError::kShareInvalid));
    CHECK(refuses(
        [](ShareKeys& a) { std::swap(a.shares[0].of_task, a.shares[0].of_checkpoints); }, TxError::kShareInvalid
    ));
}

TEST_CASE("PRV-3: nobody shares what somebody else has sealed") {
    // A reader that reported it as wrong would open the other task's keys to everybody.
    Chain chain(private_params());
    chain.bond_all();
    const TaskId theirs = start_privately(chain);
    const KeyShare copied = share_for(theirs, chain.solver.id, chain.solver.id);
    REQUIRE(chain.run(chain.submitter, Transfer{chain.stranger.id, {1}}) == 0);
    const TaskId id = drawn_privately(chain);
    ShareKeys thief = share_all(chain, id);
    thief.shares[0] = copied;
    CHECK(chain.fail(chain.submitter, thief) == TxError::kShareInvalid);
}

TEST_CASE("PRV-2, PRV-3: who was drawn and was given no keys pays nothing, and another draw is paid by the deposit") {
    Params params = private_params();
    params.draw_price = {1'000'000};
    Chain chain(params);
    chain.bond_all();
    const TaskId id = drawn_privately(chain);
    const Amount room = chain.task(id).room;
    chain.skip(9);
    CHECK(chain.task(id).state == TaskState::kOpen);
    const Stake stake = chain.stake(Role::kSolver, chain.solver);
    CHECK(stake.locked.grains == 0);
    CHECK_FALSE(stake.is_unlisted);
    CHECK(stake.declined_until.value == 0);
    CHECK(chain.slashed(id, Reason::kRoom).empty());
    chain.await_solver(id);
    CHECK(chain.task(id).room < room);
    CHECK(chain.task(id).secrecy->awaited.size() == 1);
}

TEST_CASE("PRV-4: the verifiers' time begins when the solver has shared the keys with all of them") {
    Chain chain(private_params());
    const TaskId id = verifying_privately(chain);
    CHECK(chain.task(id).secrecy->awaited == std::vector{Reader{chain.verifier.id, chain.verifier.id}});
    CHECK(chain.task(id).deadline.value == chain.height.value + 9);
    CHECK(chain.fail(chain.submitter, share_all(chain, id)) == TxError::kNotSolver);
    ShareKeys with_key = share_all(chain, id);
    with_key.key = checkpoint_secret().key();
    CHECK(chain.fail(chain.solver, with_key) == TxError::kShareInvalid);
    REQUIRE(chain.run(chain.solver, share_all(chain, id)) == 0);
    CHECK(chain.task(id).secrecy->awaited.empty());
    CHECK(chain.task(id).deadline.value == chain.height.value + chain.params.commit_blocks);
    chain.commit_all(id);
    REQUIRE(chain.run(chain.solver, share_all(chain, id)) == 0);  // with the watcher
    chain.publish_all(id);
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kSettled);
}

TEST_CASE("PRV-4: a solver that keeps the keys from its verifiers loses half of its bond, and nobody wins") {
    Chain chain(private_params());
    const TaskId id = verifying_privately(chain);
    const Stake before = chain.stake(Role::kVerifier, chain.verifier);
    chain.skip(9);
    CHECK(chain.task(id).state == TaskState::kConvicted);
    CHECK(chain.slashed(id, Reason::kKeysWithheld) == std::vector{chain.params.solver_bond.grains / 2});
    CHECK(chain.stake(Role::kSolver, chain.solver).locked.grains == 0);
    CHECK(chain.stake(Role::kVerifier, chain.verifier).free.grains == before.free.grains + before.locked.grains);
    CHECK(chain.burned() == chain.params.solver_bond.grains / 2);
}

TEST_CASE("PRV-4: the solver shares the keys as an answer to a duty, without a fee") {
    Chain chain(private_params());
    const TaskId id = verifying_privately(chain);
    const std::uint64_t due = chain.task(id).deadline.value;
    const Bytes tx = chain.make_tx(chain.solver, share_all(chain, id), due, Amount{});
    chain.run_block({tx});
    CHECK(chain.last.receipts.at(0).code == 0);
    CHECK(chain.task(id).secrecy->awaited.empty());
    const TaskId other = drawn_privately(chain);
    chain.run_block(
        {chain.make_tx(chain.submitter, share_all(chain, other), chain.task(other).deadline.value, Amount{})}
    );
    CHECK(static_cast<TxError>(chain.last.receipts.at(0).code) == TxError::kFeeTooLow);
}

TEST_CASE("PRV-4: no window opens before the watchers have the keys") {
    Chain chain(private_params());
    const TaskId id = verifying_privately(chain);
    REQUIRE(chain.run(chain.solver, share_all(chain, id)) == 0);
    chain.commit_all(id);
    const auto awaited = chain.task(id).secrecy->awaited;
    REQUIRE(awaited == std::vector{Reader{chain.whistleblower.id, chain.whistleblower.id}});
    SUBCASE("who shares them goes on") {
        REQUIRE(chain.run(chain.solver, share_all(chain, id)) == 0);
        CHECK(chain.task(id).state == TaskState::kVerifying);
        chain.publish_all(id);
        CHECK(chain.task(id).state == TaskState::kChallenge);
    }
    SUBCASE("who shares them late opens the window") {
        chain.publish_all(id);
        CHECK(chain.task(id).state == TaskState::kVerifying);
        REQUIRE(chain.run(chain.solver, share_all(chain, id)) == 0);
        CHECK(chain.task(id).state == TaskState::kChallenge);
    }
    SUBCASE("who does not is convicted") {
        chain.publish_all(id);
        chain.skip(9);
        CHECK(chain.task(id).state == TaskState::kConvicted);
        CHECK(chain.slashed(id, Reason::kKeysWithheld).size() == 1);
    }
}

TEST_CASE("PRV-4: whoever commits to a verdict has the keys") {
    Chain chain(private_params());
    const TaskId id = verifying_privately(chain);
    const std::uint32_t segment = chain.task(id).assignments[0].segment;
    REQUIRE(chain.commit(chain.verifier, id, segment, honest().checkpoint_root(segment)) == 0);
    CHECK(chain.task(id).secrecy->awaited.empty());
}

TEST_CASE("PRV-4: a verifier that commits without the keys does not shorten the time of the others") {
    Params params = private_params();
    params.segments_checked_max = 4;
    params.commit_blocks = 9;
    Chain chain(params);
    chain.add_verifiers(3);
    const TaskId id = verifying_privately(chain);
    ShareKeys shares = share_all(chain, id);
    REQUIRE(shares.shares.size() >= 2);
    const Actor& last = chain.actor_of(shares.shares.back().to);
    shares.shares.pop_back();
    chain.skip(2);
    REQUIRE(chain.run(chain.solver, shares) == 0);
    const Task task = chain.task(id);
    const auto duty = std::find_if(task.assignments.begin(), task.assignments.end(), [&](const Assignment& each) {
        return each.verifier == last.id;
    });
    REQUIRE(chain.commit(last, id, duty->segment, honest().checkpoint_root(duty->segment)) == 0);
    CHECK(chain.task(id).secrecy->awaited.empty());
    CHECK(chain.task(id).deadline.value == chain.height.value + 9);
}

TEST_CASE("PRV-3: a reader's key is that of the operator that it had when it was drawn") {
    Chain chain(private_params());
    chain.bond_all();
    REQUIRE(chain.run(chain.verifier, NameOperator{chain.stranger.id}) == 0);
    const TaskId id = complete_privately(chain);
    chain.skip(1);
    const std::vector expected{Reader{chain.verifier.id, chain.stranger.id}};
    CHECK(chain.task(id).secrecy->awaited == expected);
    REQUIRE(chain.run(chain.verifier, NameOperator{chain.pauper.id}) == 0);
    CHECK(chain.task(id).secrecy->awaited == expected);
    const KeyShare share = share_all(chain, id).shares[0];
    REQUIRE(chain.run(chain.solver, ShareKeys{id, {}, {share}}) == 0);
    // The new operator's key does not open it, and shows nothing.
    CHECK(chain.fail(chain.verifier, report_of(id, chain.pauper, share, false)) == TxError::kKeysRight);
    CHECK(chain.fail(chain.verifier, report_of(id, chain.stranger, share, false)) == TxError::kKeysRight);
}

TEST_CASE("PRV-5: a solver that shares another key is convicted, and who shows it wins") {
    Chain chain(private_params());
    const TaskId id = verifying_privately(chain);
    bool is_of_checkpoints = false;
    SUBCASE("of the task") {}
    SUBCASE("of the checkpoints") { is_of_checkpoints = true; }
    const KeyShare wrong =
        is_of_checkpoints ? share_for(id, chain.verifier.id, chain.verifier.id, task_secret(), secret_named("other"))
                          : share_for(id, chain.verifier.id, chain.verifier.id, secret_named("other"));
    REQUIRE(chain.run(chain.solver, ShareKeys{id, {}, {wrong}}) == 0);
    CHECK(chain.fail(chain.verifier, report_of(id, chain.verifier, wrong, !is_of_checkpoints)) == TxError::kKeysRight);
    CHECK(
        chain.fail(chain.stranger, report_of(id, chain.stranger, wrong, is_of_checkpoints)) == TxError::kShareInvalid
    );
    const std::uint64_t balance = chain.balance(chain.verifier);
    REQUIRE(chain.run(chain.verifier, report_of(id, chain.verifier, wrong, is_of_checkpoints)) == 0);
    CHECK(chain.task(id).state == TaskState::kConvicted);
    CHECK(chain.slashed(id, Reason::kWrongKeys) == std::vector{chain.params.solver_bond.grains});
    CHECK(chain.balance(chain.verifier) > balance);
    CHECK(chain.paid(id, Reason::kWonDispute) == std::vector{chain.params.solver_bond.grains / 2});
}

TEST_CASE("PRV-5: nobody is convicted for shares that are right, whatever is said of them") {
    Chain chain(private_params());
    const TaskId id = verifying_privately(chain);
    const KeyShare right = share_all(chain, id).shares[0];
    CHECK(chain.fail(chain.verifier, report_of(id, chain.verifier, right, false)) == TxError::kShareInvalid);
    REQUIRE(chain.run(chain.solver, ShareKeys{id, {}, {right}}) == 0);
    CHECK(chain.fail(chain.verifier, report_of(id, chain.verifier, right, false)) == TxError::kKeysRight);
    CHECK(chain.fail(chain.verifier, report_of(id, chain.verifier, right, true)) == TxError::kKeysRight);
    ReportWrongKeys other = report_of(id, chain.verifier, right, true);
    other.share = right.of_task;
    other.is_of_checkpoints = false;
    other.evidence.point = sealed::make_wrong_share(chain.stranger.key, right.of_task, kAux).value().point;
    CHECK(chain.fail(chain.verifier, other) == TxError::kKeysRight);
    other.share.pop_back();
    CHECK(chain.fail(chain.verifier, other) == TxError::kFieldOutOfRange);
    CHECK(chain.task(id).state == TaskState::kVerifying);
}

TEST_CASE("PRV-5: a drawn solver that shows that its keys are wrong is free, and accepts for good otherwise") {
    Chain chain(private_params());
    chain.bond_all();
    const TaskId id = drawn_privately(chain);
    ShareKeys wrong = share_all(chain, id);
    wrong.shares[0] = share_for(id, chain.solver.id, chain.solver.id, task_secret(), secret_named("other"));
    REQUIRE(chain.run(chain.submitter, wrong) == 0);
    SUBCASE("before it accepts") {
        REQUIRE(chain.run(chain.solver, report_of(id, chain.solver, wrong.shares[0], true)) == 0);
        CHECK(chain.task(id).state == TaskState::kOpen);
        CHECK(chain.stake(Role::kSolver, chain.solver).locked.grains == 0);
        CHECK(chain.stake(Role::kSolver, chain.solver).declined_until.value == 0);
    }
    SUBCASE("after it") {
        REQUIRE(chain.run(chain.solver, AcceptTask{id}) == 0);
        CHECK(chain.fail(chain.solver, report_of(id, chain.solver, wrong.shares[0], true)) == TxError::kShareInvalid);
    }
}

TEST_CASE("PRV-6: each checkpoint of a private task names its sealed file, and of no other") {
    Chain chain(private_params());
    chain.bond_all();
    const TaskId id = start_privately(chain);
    PostCheckpoint action{id, 0, honest().checkpoint_root(0), {}};
    CHECK(chain.fail(chain.solver, action) == TxError::kSealedMismatch);
    action.sealed = SealedFile{hash_of("file"), 7};
    REQUIRE(chain.run(chain.solver, action) == 0);
    CHECK(find_checkpoint(chain.view, id, 0)->sealed == action.sealed);
    const TaskId plain = chain.start_task(honest().spec());
    action.task = plain;
    CHECK(chain.fail(chain.solver, action) == TxError::kSealedMismatch);
    CHECK(
        chain.fail(
            chain.submitter,
            ShareKeys{plain, checkpoint_secret().key(), {share_for(plain, chain.solver.id, chain.solver.id)}}
        ) == TxError::kNotPrivate
    );
}

TEST_CASE("PRV-6: a divergence names its state's sealed file too, which can be reported") {
    const ToyRun run({}, ToyRun::kDivergingScale);
    TaskSpec spec = run.spec();
    spec.privacy = private_spec().privacy;
    Chain chain(private_params());
    chain.bond_all();
    const TaskId id = start_privately(chain, spec);
    const sealed::SealedFile file = seal_checkpoint(id, 0);
    for (std::uint32_t index = 0; index < 2; ++index) {
        PostCheckpoint action{id, index, run.checkpoint_root(index), {}};
        action.sealed = SealedFile{file.root, file.bytes.size()};
        REQUIRE(chain.run(chain.solver, action) == 0);
    }
    const auto& state = run.state(ToyRun::kDivergesAt + 1);
    DeclareDivergence action{id, ToyRun::kDivergesAt, root_of(state), {}, dispute::open_divergence(state).value()};
    CHECK(chain.fail(chain.solver, action) == TxError::kSealedMismatch);
    action.sealed = SealedFile{file.root, file.bytes.size()};
    REQUIRE(chain.run(chain.solver, action) == 0);
    const sealed::WrongChunk evidence{
        .opening = sealed::open_sealed(
            sealed::MemorySource(file.bytes), sealed::check_file(sealed::MemorySource(file.bytes)).value(), 0, 0
        ),
        .point = {},
        .proof = {},
        .tensor = {},
        .expected = {},
        .expected_path = {}};
    CHECK(chain.fail(chain.stranger, ReportWrongChunk{id, 2, evidence}) == TxError::kChunkRight);
}
