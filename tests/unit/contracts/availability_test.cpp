// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/availability/availability.hpp>
#include <tests/unit/contracts/toy.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

ChallengeId challenge(
    Chain& chain, const TaskId& task, std::uint32_t checkpoint, std::uint32_t tensor, std::uint64_t tile
) {
    const auto nonce = get_account(chain.view, chain.whistleblower.id).nonce;
    REQUIRE(chain.run(chain.whistleblower,
                      ChallengeAvailability{task, checkpoint, tensor, tile, Role::kWhistleblower}) == 0);
    return challenge_id(chain.whistleblower.id, nonce);
}

Stake whistle(const Chain& chain) { return chain.stake(Role::kWhistleblower, chain.whistleblower); }

}  // namespace

TEST_CASE("AVL-1: a challenge names a posted checkpoint, a tensor of the state, and locks a bond") {
    const ToyRun run;
    Chain chain;
    chain.bond_all();
    const TaskId task = chain.start_task(run.spec());
    const auto ask = [&](const Actor& who, std::uint32_t checkpoint, std::uint32_t tensor) {
        return chain.fail(who, ChallengeAvailability{task, checkpoint, tensor, 0, Role::kWhistleblower});
    };
    CHECK(ask(chain.whistleblower, 0, 0) == TxError::kCheckpointUnknown);
    chain.post_checkpoints(task, {run.checkpoint_root(0)});
    CHECK(ask(chain.whistleblower, 0, 2) == TxError::kCheckpointUnknown);
    CHECK(ask(chain.stranger, 0, 0) == TxError::kInsufficientStake);
    CHECK(ask(chain.solver, 0, 0) == TxError::kNotParty);
    const ChallengeId id = challenge(chain, task, 0, 0, 0);
    CHECK(whistle(chain).locked == chain.params.challenger_bond);
    CHECK(chain.task(task).open_challenges == 1);
    CHECK(find_challenge(chain.view, id)->deadline.value == chain.height.value + chain.params.availability_blocks);
    CHECK(chain.fail(chain.solver, make_chunk(run, ChallengeId{}, 0, 0, 0)) == TxError::kChallengeUnknown);
}

TEST_CASE("AVL-2: the right tile ends a challenge and costs the challenger a tenth of its bond") {
    const ToyRun run;
    Chain chain;
    const TaskId task = complete_toy_task(chain, run);
    const ChallengeId id = challenge(chain, task, 2, 0, 3);
    const ServeChunk chunk = make_chunk(run, id, 2, 0, 3);
    CHECK(chain.run(chain.solver, chunk) == 0);
    CHECK(find_challenge(chain.view, id)->state == ChallengeState::kServed);
    CHECK(whistle(chain).free.grains == 100 * kCoin - kCoin / 10);
    CHECK(whistle(chain).locked.grains == 0);
    CHECK(chain.paid(task, Reason::kNeedlessChallenge) == std::vector<std::uint64_t>{kCoin / 20});
    CHECK(chain.burned() == kCoin / 20);
    CHECK(chain.fail(chain.solver, chunk) == TxError::kChallengeOver);
    CHECK(chain.task(task).state != TaskState::kConvicted);
}

TEST_CASE("AVL-3: a challenge that nobody answers in time convicts the solver") {
    const ToyRun run;
    Chain chain;
    const TaskId task = complete_toy_task(chain, run);
    const std::uint64_t before = chain.balance(chain.submitter);
    const ChallengeId id = challenge(chain, task, 2, 0, 0);
    chain.skip(chain.params.availability_blocks - 1);
    CHECK(find_challenge(chain.view, id)->state == ChallengeState::kOpen);
    chain.skip(1);
    CHECK(find_challenge(chain.view, id)->state == ChallengeState::kLapsed);
    CHECK(chain.task(task).state == TaskState::kConvicted);
    CHECK(chain.slashed(task, Reason::kUnavailable) == std::vector{chain.params.solver_bond.grains});
    CHECK(chain.paid(task, Reason::kWonDispute) == std::vector{chain.params.solver_bond.grains / 2});
    CHECK(chain.balance(chain.submitter) == before + 23 * kCoin);
    CHECK(whistle(chain).free.grains == 100 * kCoin);
    CHECK(chain.stake(Role::kVerifier, chain.verifier).locked.grains == 0);
}

TEST_CASE("AVL-4: only the challenged tile of the challenged checkpoint answers") {
    const ToyRun run;
    const ToyRun other(Tamper{false, 7, 4, 0});
    Params params = quick_params();
    params.availability_blocks = 50;
    Chain chain(params);
    const TaskId task = complete_toy_task(chain, run);
    const ChallengeId id = challenge(chain, task, 2, 0, 1);
    const auto refuses = [&](const ServeChunk& chunk) {
        return chain.fail(chain.solver, chunk) == TxError::kChunkInvalid;
    };
    CHECK(refuses(make_chunk(run, id, 2, 0, 0)));
    CHECK(refuses(make_chunk(run, id, 1, 0, 1)));
    CHECK(refuses(make_chunk(run, id, 2, 1, 1)));
    CHECK(refuses(make_chunk(other, id, 2, 0, 1)));
    ServeChunk short_path = make_chunk(run, id, 2, 0, 1);
    short_path.opening.tile_path.pop_back();
    CHECK(refuses(short_path));
    ServeChunk wrong_type = make_chunk(run, id, 2, 0, 1);
    wrong_type.type.shape.rows = 63;
    CHECK(refuses(wrong_type));
    CHECK(chain.run(chain.stranger, make_chunk(run, id, 2, 0, 1)) == 0);
}

TEST_CASE("AVL-4: a tile number beyond the tensor means the tile modulo their number") {
    const ToyRun run;
    Chain chain;
    const TaskId task = complete_toy_task(chain, run);
    const ChallengeId id = challenge(chain, task, 0, 0, 4 * 1'000'000 + 3);
    CHECK(chain.run(chain.solver, make_chunk(run, id, 0, 0, 3)) == 0);
    const ChallengeId single = challenge(chain, task, 0, 1, ~std::uint64_t{0});
    CHECK(chain.run(chain.solver, make_chunk(run, single, 0, 1, 1)) == 0);
}

TEST_CASE("AVL-5: a challenge during training does not buy the solver time") {
    const ToyRun run;
    Params params = quick_params();
    params.availability_blocks = 100;
    Chain chain(params);
    chain.bond_all();
    const TaskId task = chain.start_task(run.spec());
    chain.post_checkpoints(task, {run.checkpoint_root(0)});
    const ChallengeId id = challenge(chain, task, 0, 0, 0);
    chain.skip(run.spec().training_blocks);
    CHECK(chain.task(task).state == TaskState::kExpired);
    CHECK(find_challenge(chain.view, id)->state == ChallengeState::kMoot);
    CHECK(whistle(chain).free.grains == 100 * kCoin);
}

TEST_CASE("AVL-6: verifiers are not penalised while a challenge is open, and get the waiting time back") {
    const ToyRun run;
    Chain chain;
    const TaskId task = complete_toy_task(chain, run);
    chain.skip(1);
    REQUIRE(chain.task(task).state == TaskState::kVerifying);
    SUBCASE("the deadline passes while the challenge is open") {
        chain.skip(chain.params.commit_blocks - 3);
        const ChallengeId id = challenge(chain, task, 2, 0, 0);
        chain.skip(3);
        CHECK(chain.task(task).deadline.value == 0);
        CHECK(chain.task(task).assignments[0].status == VerdictStatus::kDue);
        CHECK(chain.run(chain.solver, make_chunk(run, id, 2, 0, 0)) == 0);
        CHECK(chain.task(task).deadline.value == chain.height.value + chain.params.availability_blocks);
    }
    SUBCASE("it is served before the deadline") {
        const Height deadline = chain.task(task).deadline;
        const ChallengeId id = challenge(chain, task, 2, 0, 0);
        CHECK(chain.run(chain.solver, make_chunk(run, id, 2, 0, 0)) == 0);
        CHECK(chain.task(task).deadline.value == deadline.value + chain.params.availability_blocks);
    }
    chain.commit_all(task);
    chain.publish_all(task);
    CHECK(chain.task(task).state == TaskState::kChallenge);
    CHECK(chain.slashed(task, Reason::kMissedVerdict).empty());
}
