// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include <contracts/chain/duty.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/params/retention.hpp>
#include <contracts/retention/retention.hpp>
#include <contracts/stake/staking.hpp>
#include <tests/unit/contracts/settlements.hpp>

/// Results that are kept after settlement (RET rules).

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

constexpr std::uint32_t kBlocks = 60;
constexpr Amount kKeepingFee{3 * kCoin};

Params keeping_params() {
    Params params = quick_params();
    params.draw_price = {1'000'000};
    params.retention_shows = 3;
    params.retention_show_blocks = 5;
    return params;
}

TaskSpec keeping_spec(const ToyRun& run) {
    TaskSpec spec = run.spec();
    spec.retention = Retention{.blocks = kBlocks, .fee = kKeepingFee};
    return spec;
}

/// A task that is kept from the last block on.
TaskId kept_task(Chain& chain) {
    const TaskId id = judged_task(chain, keeping_spec(honest()));
    REQUIRE(chain.task(id).state == TaskState::kKept);
    return id;
}

/// Empty blocks until a tile is drawn.
void await_show(Chain& chain, const TaskId& id) {
    for (std::uint32_t i = 0; i < kBlocks && !chain.task(id).keeping->seed; ++i) {
        chain.skip(1);
    }
    REQUIRE(chain.task(id).keeping->seed.has_value());
}

ShowResult answer(const Chain& chain, const TaskId& id) {
    const Task task = chain.task(id);
    const DrawnTile asked = shown_tile(task);
    return {id, open_toy_tile(honest(), task.checkpoints - 1, asked.tensor, asked.number)};
}

std::uint64_t sum(const std::vector<std::uint64_t>& amounts) {
    return std::accumulate(amounts.begin(), amounts.end(), std::uint64_t{0});
}

}  // namespace

TEST_CASE("PAR-14: tiles are drawn for as often as the parameters say, which is a small number") {
    const auto valid = [](auto change) {
        Params params;
        change(params);
        return are_valid(params);
    };
    CHECK(valid([](Params& p) { p.retention_shows = 1; }));
    CHECK(valid([](Params& p) { p.retention_shows = kMaxRetentionShows; }));
    CHECK_FALSE(valid([](Params& p) { p.retention_shows = 0; }));
    CHECK_FALSE(valid([](Params& p) { p.retention_shows = kMaxRetentionShows + 1; }));
    CHECK_FALSE(valid([](Params& p) { p.retention_show_blocks = 0; }));
    CHECK_FALSE(valid([](Params& p) { p.retention_blocks_max = kMaxSpanBlocks + 1; }));
}

TEST_CASE("RET-1: a result is kept for a time and a fee within the limits of the parameters, by a single solver") {
    const Params params = keeping_params();
    TaskSpec spec = keeping_spec(honest());
    spec.program.memory = std::uint64_t{1} << 40U;
    const auto code = [&](auto change) {
        TaskSpec other = spec;
        change(other);
        const auto result = check_retention(params, other);
        return result ? std::optional<TxError>() : result.error();
    };
    const Amount least = retention_fee_min(params, spec, kBlocks);
    // 1,024 GiB for 60 blocks at 80,000 grains for one of them and 1,000 blocks, and three attestations and draws.
    CHECK(least.grains == 1'024 * 60 * 80 + 3 * (params.attest_fee.grains + params.draw_price.grains));
    CHECK_FALSE(code([](TaskSpec&) {}));
    CHECK_FALSE(code([](TaskSpec& s) { s.retention.reset(); }));
    CHECK_FALSE(code([&](TaskSpec& s) { s.retention->fee = least; }));
    CHECK(code([&](TaskSpec& s) { s.retention->fee.grains = least.grains - 1; }) == TxError::kRetentionUnfit);
    CHECK_FALSE(code([](TaskSpec& s) { s.retention->fee = task_value(s); }));
    CHECK(code([](TaskSpec& s) { s.retention->fee.grains = task_value(s).grains + 1; }) == TxError::kRetentionUnfit);
    CHECK_FALSE(code([](TaskSpec& s) { s.retention->blocks = 15; }));
    CHECK(code([](TaskSpec& s) { s.retention->blocks = 14; }) == TxError::kRetentionUnfit);
    CHECK(code([&](TaskSpec& s) {
              s.retention->blocks = params.retention_blocks_max + 1;
          }) == TxError::kRetentionUnfit);
    CHECK(code([](TaskSpec& s) { s.members = 2; }) == TxError::kRetentionUnfit);
    spec.program.memory = ~std::uint64_t{0};
    CHECK(retention_fee_min(params, spec, ~std::uint32_t{0}).grains == ~std::uint64_t{0});
}

TEST_CASE("RET-1: the fee is in escrow from the submission on, and is refunded with it") {
    Chain chain(keeping_params());
    TaskSpec spec = keeping_spec(honest());
    spec.retention->blocks = 1;
    CHECK(chain.fail(chain.submitter, SubmitTask{spec}) == TxError::kRetentionUnfit);
    spec = keeping_spec(honest());
    const TaskId id = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
    REQUIRE(chain.run(chain.submitter, SubmitTask{spec}) == 0);
    CHECK(chain.task(id).escrow.grains == task_value(spec).grains + kKeepingFee.grains);
    REQUIRE(chain.run(chain.submitter, CancelTask{id}) == 0);
    CHECK(chain.paid(id, Reason::kRefund) == std::vector{task_value(spec).grains + kKeepingFee.grains});
    spec.reward = {~std::uint64_t{0} - spec.verification_fee.grains - kKeepingFee.grains + 1};
    CHECK(chain.fail(chain.submitter, SubmitTask{spec}) == TxError::kOverflow);
}

TEST_CASE("RET-1: a submission pays for the answers that it imposes on the solver that keeps the result") {
    const Params params = keeping_params();
    const SubmitTask plain{honest().spec()};
    const SubmitTask kept{keeping_spec(honest())};
    const std::uint64_t show = (imposed_gas(kept, params) - imposed_gas(plain, params)) / params.retention_shows;
    CHECK(show > 100);
    CHECK((imposed_gas(kept, params) - imposed_gas(plain, params)) % params.retention_shows == 0);
}

TEST_CASE("RET-2, RET-3: everybody is paid, the fee stays in escrow and as much of the solver's stake locked") {
    Chain chain(keeping_params());
    const TaskId id = kept_task(chain);
    const Task task = chain.task(id);
    const std::uint64_t draws = 3 * chain.params.draw_price.grains;
    CHECK(chain.paid(id, Reason::kReward) == std::vector{task.spec.reward.grains});
    CHECK(sum(chain.paid(id, Reason::kVerificationFee)) == task.spec.verification_fee.grains);
    CHECK(chain.paid(id, Reason::kRefund).empty());
    CHECK(task.escrow.grains == kKeepingFee.grains - draws);
    CHECK(task.room.grains == draws);
    CHECK(task.solver_bond == kKeepingFee);
    CHECK(chain.stake(Role::kSolver, chain.solver).locked == kKeepingFee);
    CHECK(chain.stake(Role::kVerifier, chain.verifier).locked.grains == 0);
    CHECK(task.keeping->shows == 0);
    CHECK(task.keeping->shows_due == 3);
    CHECK(task.deadline.value == task.keeping->begun_at.value + kBlocks / 3);
}

TEST_CASE("RET-3: no more of the stake stays locked than the task's bond was") {
    Chain chain(keeping_params());
    TaskSpec spec = keeping_spec(honest());
    spec.retention->fee = {6 * kCoin};
    const TaskId id = judged_task(chain, spec);
    CHECK(chain.task(id).solver_bond == chain.params.solver_bond);
    CHECK(chain.params.solver_bond < spec.retention->fee);
}

TEST_CASE("RET-4, RET-5: a solver that shows every tile that is drawn has the whole fee and its bond") {
    Chain chain(keeping_params());
    const TaskId id = kept_task(chain);
    const std::uint64_t before = chain.balance(chain.solver);
    const Height begun = chain.task(id).keeping->begun_at;
    std::uint64_t fees = 0;
    for (std::uint32_t show = 0; show < 3; ++show) {
        CHECK(chain.task(id).keeping->shows == show);
        await_show(chain, id);
        CHECK(chain.height.value >= begun.value + kBlocks * (show + 1) / 3);
        CHECK(chain.task(id).deadline.value == chain.height.value + chain.params.retention_show_blocks);
        REQUIRE(chain.run(chain.solver, answer(chain, id)) == 0);
        fees += kFee;
    }
    const std::uint64_t earned = kKeepingFee.grains - 3 * chain.params.draw_price.grains;
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.height.value >= begun.value + kBlocks);
    CHECK(sum(chain.paid(id, Reason::kRetention)) == earned);
    CHECK(chain.paid(id, Reason::kRetention).size() == 3);
    CHECK(chain.balance(chain.solver) + fees == before + earned);
    CHECK(chain.stake(Role::kSolver, chain.solver).locked.grains == 0);
    CHECK(chain.slashed(id, Reason::kNotShown).empty());
    CHECK(get_lane(chain.view).tasks == 0);
}

TEST_CASE("RET-5: a tile is shown without a fee, as an answer to a duty, in the lane of duties") {
    Chain chain(keeping_params());
    const TaskId id = kept_task(chain);
    await_show(chain, id);
    CHECK(chain.task(id).lane != 0);
    CHECK(get_lane(chain.view).tasks == chain.task(id).lane);
    const std::uint64_t before = chain.balance(chain.solver);
    const std::uint64_t share = chain.task(id).escrow.grains / 3;
    const Bytes tx = chain.make_tx(chain.solver, answer(chain, id), chain.task(id).deadline.value, Amount{});
    REQUIRE(chain.run_block({tx}).receipts.at(0).code == 0);
    CHECK(chain.balance(chain.solver) == before + share);
    CHECK(chain.task(id).lane == 0);
}

TEST_CASE("RET-4: tiles are drawn anew for each show, from the beacon's seed") {
    Chain chain(keeping_params());
    const TaskId id = kept_task(chain);
    await_show(chain, id);
    const Hash256 first = *chain.task(id).keeping->seed;
    CHECK(first == get_beacon(chain.view).seed);
    REQUIRE(chain.run(chain.solver, answer(chain, id)) == 0);
    await_show(chain, id);
    CHECK(first != *chain.task(id).keeping->seed);
}

TEST_CASE("RET-5: nothing but the tile that was drawn is taken, from nobody but the solver, while it is due") {
    Chain chain(keeping_params());
    const TaskId id = kept_task(chain);
    const ShowResult early{id, open_toy_tile(honest(), 3, 0, 0)};
    CHECK(chain.fail(chain.solver, early) == TxError::kNotAsked);
    CHECK(chain.fail(chain.solver, ShowResult{TaskId{hash_of("none").data}, early.opening}) == TxError::kTaskUnknown);
    await_show(chain, id);
    const ShowResult right = answer(chain, id);
    CHECK(chain.fail(chain.stranger, right) == TxError::kNotSolver);
    const auto& tile = std::get<dispute::StateOpening>(right.opening);
    const std::uint32_t other = 1 - tile.tensor;
    // The tile of the other tensor that the number names there.
    const std::uint64_t number = shown_tile(chain.task(id)).number;
    CHECK(chain.fail(chain.solver, ShowResult{id, open_toy_tile(honest(), 3, other, number)}) == TxError::kTileInvalid);
    const ShowResult older{id, open_toy_tile(honest(), 2, tile.tensor, tile.tile)};
    CHECK(chain.fail(chain.solver, older) == TxError::kTileInvalid);
    ShowResult longer = right;
    std::get<dispute::StateOpening>(longer.opening).opening.tile_path.resize(65);
    CHECK(chain.fail(chain.solver, longer) == TxError::kFieldOutOfRange);
    REQUIRE(chain.run(chain.solver, right) == 0);
    CHECK(chain.fail(chain.solver, right) == TxError::kNotAsked);
    const TaskId plain = chain.start_task(honest().spec());
    CHECK(chain.fail(chain.solver, ShowResult{plain, right.opening}) == TxError::kTaskState);
}

TEST_CASE("RET-6: who does not show a tile in time loses the bond, and what is not earned goes back") {
    Chain chain(keeping_params());
    const TaskId id = kept_task(chain);
    await_show(chain, id);
    REQUIRE(chain.run(chain.solver, answer(chain, id)) == 0);
    await_show(chain, id);
    const std::uint64_t left = chain.task(id).escrow.grains;
    const std::uint64_t stake = chain.stake(Role::kSolver, chain.solver).free.grains;
    const std::uint64_t burned = chain.burned();
    chain.skip(chain.params.retention_show_blocks - 1);
    CHECK(chain.task(id).state == TaskState::kKept);
    chain.skip(1);
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.slashed(id, Reason::kNotShown) == std::vector{kKeepingFee.grains});
    CHECK(chain.burned() == burned + kKeepingFee.grains);
    CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == stake);
    CHECK(chain.stake(Role::kSolver, chain.solver).locked.grains == 0);
    CHECK(chain.paid(id, Reason::kRefund) == std::vector{left});
    CHECK(chain.paid(id, Reason::kRetention).size() == 1);
    // The bond is as much as the fee, so what was earned before is lost with it.
    CHECK(sum(chain.paid(id, Reason::kRetention)) < sum(chain.slashed(id, Reason::kNotShown)));
    CHECK(chain.fail(chain.solver, ShowResult{id, open_toy_tile(honest(), 3, 0, 0)}) == TxError::kTaskState);
}

TEST_CASE("RET-2: a result that diverged is not kept, and the fee is refunded") {
    static const ToyRun kRun({}, ToyRun::kDivergingScale);
    Chain chain(keeping_params());
    chain.bond_all();
    const TaskId id = chain.start_task(keeping_spec(kRun));
    auto roots = kRun.checkpoint_roots();
    roots.resize(2);
    chain.post_checkpoints(id, roots);
    const auto& state = kRun.state(ToyRun::kDivergesAt + 1);
    REQUIRE(
        chain.run(
            chain.solver,
            DeclareDivergence{id, ToyRun::kDivergesAt, root_of(state), {}, dispute::open_divergence(state).value()}
        ) == 0
    );
    chain.skip(1);
    chain.commit_all(id);
    chain.publish_all(id);
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.paid(id, Reason::kRefund).front() == kKeepingFee.grains);
    CHECK(chain.stake(Role::kSolver, chain.solver).locked.grains == 0);
}

TEST_CASE("RET-2: who builds upon a result that is kept waits for nobody") {
    Chain chain(keeping_params());
    const TaskId parent = kept_task(chain);
    TaskSpec spec = honest().spec();
    spec.parent = parent;
    spec.initial_artifact.reset();
    const TaskId child = chain.start_task(spec);
    auto roots = honest().checkpoint_roots();
    roots.front() = roots.back();
    chain.post_checkpoints(child, roots);
    REQUIRE(chain.run(chain.solver, CompleteTask{child}) == 0);
    chain.skip(1);
    chain.commit_all(child);
    chain.publish_all(child);
    chain.end_windows(child);
    CHECK(chain.task(parent).state == TaskState::kKept);
    CHECK(chain.task(child).state == TaskState::kSettled);
}

TEST_CASE("RET-4: while the lane of duties has no room the draw waits, and nobody loses anything") {
    Chain chain(keeping_params());
    const TaskId id = kept_task(chain);
    const std::uint64_t half = lane_half(chain.params);
    Overlay full = Overlay::over(chain.view);
    Lane lane;
    lane.tasks = half;
    set_lane(full, lane);
    Task task = chain.task(id);
    task.keeping->is_waiting = true;
    CHECK_FALSE(has_room_for_draw(full, chain.params, task));
    lane.tasks = 0;
    set_lane(full, lane);
    CHECK(has_room_for_draw(full, chain.params, task));
}
