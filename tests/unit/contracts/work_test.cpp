// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <vector>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/params/work.hpp>
#include <tests/unit/contracts/committees.hpp>
#include <tests/unit/contracts/fixture.hpp>
#include <tests/unit/contracts/toy.hpp>
#include <tests/unit/contracts/verdicts.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

constexpr std::uint32_t kGpu = 2;
constexpr std::uint64_t kBlockOfCpu = 10'000'000'000;  ///< multiply-adds in a block of a second at 10,000

Params worked_params() {
    Params params = quick_params();
    params.hardware_classes = {{"cpu", 10'000}, {"gpu", 1'000'000}};
    params.replay_blocks_max = 40;
    return params;
}

/// Ten steps in segments of four; a replay takes `blocks` blocks and a bit.
TaskSpec worked_spec(std::uint64_t blocks) {
    TaskSpec spec = make_spec();
    spec.program.step_work = blocks * kBlockOfCpu / 4 + 1;
    spec.training_blocks = 1'000;
    return spec;
}

TaskId submit(Chain& chain, const TaskSpec& spec) {
    const TaskId id = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
    REQUIRE(chain.run(chain.submitter, SubmitTask{spec}) == 0);
    return id;
}

std::uint64_t blocks_left(const Chain& chain, const TaskId& id) {
    return chain.task(id).deadline.value - chain.height.value;
}

}  // namespace

TEST_CASE("PAR-4, PAR-11: a chain has a class of machines, and numbers by which work becomes windows and fees") {
    const std::vector<void (*)(Params&)> faults{
        [](Params& p) { p.hardware_classes.clear(); },
        [](Params& p) { p.block_ms = 0; },
        [](Params& p) { p.block_ms = kMaxBlockMs + 1; },
        [](Params& p) { p.replay_blocks_max = 0; },
        [](Params& p) { p.replay_blocks_max = kMaxReplayBlocks + 1; },
        [](Params& p) { p.work_price = kMaxWorkPrice + 1; },
        [](Params& p) { p.memory_default = 0; }};
    for (const auto fault : faults) {
        Params params = worked_params();
        REQUIRE(are_valid(params));
        fault(params);
        CHECK_FALSE(are_valid(params));
    }
}

TEST_CASE("WRK-3, WRK-4: a replay takes what the slowest machine of the class takes for the longest segment") {
    const Params params = worked_params();
    TaskSpec spec = worked_spec(8);
    CHECK(class_speed(params, 0) == 10'000);
    CHECK(class_speed(params, kGpu) == 1'000'000);
    CHECK(replay_blocks(params, spec) == 8);
    spec.hardware_class = kGpu;
    CHECK(replay_blocks(params, spec) == 0);
    spec.hardware_class = 0;
    spec.program.init_work = 9 * kBlockOfCpu;
    CHECK(replay_blocks(params, spec) == 9);
    spec.parent = TaskId{};  // LIN-1: nobody executes the initialisation
    CHECK(replay_blocks(params, spec) == 8);
    spec.evaluation.emplace().work = 11 * kBlockOfCpu;
    CHECK(replay_blocks(params, spec) == 11);
    spec.distance.emplace().work = kBlockOfCpu;
    CHECK(replay_blocks(params, spec) == 12);
    Params fast = params;
    fast.block_ms = 250;
    CHECK(replay_blocks(fast, spec) == 48);
    spec.program.step_work = ~std::uint64_t{0};
    CHECK(segment_work(spec) == ~std::uint64_t{0});
}

TEST_CASE("WRK-4: a segment that takes longer than verifiers may be asked for is refused") {
    Chain chain(worked_params());
    CHECK(chain.fail(chain.submitter, SubmitTask{worked_spec(41)}) == TxError::kSegmentTooLong);
    CHECK(chain.run(chain.submitter, SubmitTask{worked_spec(40)}) == 0);
    TaskSpec spec = worked_spec(41);
    spec.hardware_class = kGpu;
    CHECK(chain.run(chain.submitter, SubmitTask{spec}) == 0);
    spec.program.step_work = ~std::uint64_t{0};
    CHECK(chain.fail(chain.submitter, SubmitTask{spec}) == TxError::kSegmentTooLong);
}

TEST_CASE(
    "TASK-16: a task gives its solver a block for each checkpoint and each thousand steps, and half as long again as "
    "the work"
) {
    const Params params = worked_params();
    TaskSpec spec = make_spec();  // 10 steps, 3 segments: 4 checkpoints and the completion
    CHECK(training_blocks_min(params, spec) == 5);
    spec.training_blocks = 4;
    CHECK(check_work(params, spec).error() == TxError::kTimeTooShort);
    spec.training_blocks = 5;
    CHECK(check_work(params, spec).has_value());
    spec.steps = 40'000;
    spec.checkpoint_interval = 20'000;
    CHECK(training_blocks_min(params, spec) == 44);
    spec = worked_spec(8);  // 2 blocks a step
    CHECK(training_blocks_min(params, spec) == 5 + 30);
    spec.program.init_work = 2 * kBlockOfCpu;
    CHECK(training_blocks_min(params, spec) == 5 + 33);
    spec.steps = ~std::uint64_t{0};
    spec.program.step_work = ~std::uint64_t{0};
    CHECK(training_blocks_min(params, spec) == ~std::uint64_t{0});
}

TEST_CASE("WRK-5: every window in which somebody replays is longer by what a replay takes") {
    const Params params = worked_params();
    const TaskSpec spec = worked_spec(16);
    CHECK(accept_span(params, spec) == params.accept_blocks + 16);
    CHECK(commit_span(params, spec) == params.commit_blocks + 48);
    CHECK(report_span(params, spec) == params.commit_blocks + 48 * (params.profile_segments + 1));
    CHECK(challenge_span(params, spec) == params.challenge_blocks + 32);
    CHECK(report_challenge_span(params, spec) == params.challenge_blocks + 32 * (params.profile_segments + 1));
    CHECK(attest_span(params, spec) == params.attest_blocks + 16);
    CHECK(dispute_clock(params, spec) == params.dispute_clock_blocks + 32);
    CHECK(dispute_extension(params, spec) == params.dispute_extension_blocks + 2);
}

TEST_CASE(
    "WRK-4, WRK-5: a party to a dispute has the time in which a step's outputs are hashed twice, whatever its class"
) {
    const Params params = worked_params();
    const std::uint64_t hashed = kHashedPerMs * params.block_ms;
    for (const std::uint32_t number : {std::uint32_t{0}, kGpu}) {
        TaskSpec spec = worked_spec(16);
        spec.hardware_class = number;
        const std::uint64_t replays = 2 * replay_blocks(params, spec);
        spec.program.outputs = 3 * hashed - 1;
        CHECK(dispute_clock(params, spec) == params.dispute_clock_blocks + replays + 4);
        CHECK(commit_span(params, spec) == params.commit_blocks + 3 * replay_blocks(params, spec));
        spec.evaluation.emplace().outputs = 5 * hashed;
        CHECK(dispute_clock(params, spec) == params.dispute_clock_blocks + replays + 10);
        spec.distance.emplace().outputs = 6 * hashed;
        CHECK(dispute_clock(params, spec) == params.dispute_clock_blocks + replays + 12);
    }
}

TEST_CASE("WRK-4: a task whose outputs take longer to hash than a segment may take is refused") {
    Chain chain(worked_params());
    TaskSpec spec = worked_spec(1);
    spec.program.outputs = (chain.params.replay_blocks_max + 1ULL) * kHashedPerMs * chain.params.block_ms;
    CHECK(chain.fail(chain.submitter, SubmitTask{spec}) == TxError::kSegmentTooLong);
    spec.program.outputs -= 1;
    CHECK(chain.run(chain.submitter, SubmitTask{spec}) == 0);
}

TEST_CASE("WRK-5: a task's verdicts, challenge window and clocks have the time that its work takes") {
    Params params = quick_params();
    params.hardware_classes = {{"cpu", 1}};
    params.block_ms = 1;
    params.replay_blocks_max = 1'000;
    const ToyRun honest;
    TaskSpec spec = honest.spec();
    spec.training_blocks = 10'000;
    const std::uint64_t replay = replay_blocks(params, spec);
    REQUIRE(replay >= 8);
    Chain chain(params);
    chain.bond_all();
    const TaskId id = chain.start_task(spec);
    chain.post_checkpoints(id, honest.checkpoint_roots());
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
    chain.skip(1);
    REQUIRE(chain.task(id).state == TaskState::kVerifying);
    CHECK(blocks_left(chain, id) == params.commit_blocks + 3 * replay);
    chain.skip(params.commit_blocks + 3 * replay - 4);
    REQUIRE(chain.task(id).state == TaskState::kVerifying);
    SUBCASE("nobody commits") {
        chain.skip(4 + params.challenge_blocks + 2 * replay);
        await_committee(chain, id);
        CHECK(blocks_left(chain, id) == params.attest_blocks + replay);
        return;
    }
    chain.commit_all(id);
    chain.publish_all(id);
    REQUIRE(chain.task(id).state == TaskState::kChallenge);
    CHECK(blocks_left(chain, id) == params.challenge_blocks + 2 * replay);
    REQUIRE(chain.run(chain.whistleblower, OpenDispute{id, 1, Role::kWhistleblower}) == 0);
    const Dispute opened = find_dispute(chain.view, dispute_id(id, 1, chain.whistleblower.id)).value();
    CHECK(opened.game()->responder_clock == params.dispute_clock_blocks + 2 * replay);
    CHECK(opened.deadline().value == chain.height.value + opened.game()->responder_clock);
}

TEST_CASE("WRK-5, TASK-6: a drawn solver has the time of a replay to try a step before it accepts") {
    Chain chain(worked_params());
    chain.bond_all();
    const TaskSpec spec = worked_spec(16);
    const TaskId id = task_id(chain.submitter.id, 0);
    REQUIRE(chain.run(chain.submitter, SubmitTask{spec}) == 0);
    chain.await_solver(id);
    chain.skip(chain.params.accept_blocks + 16 - 1);
    CHECK(chain.task(id).state == TaskState::kDrawn);
    chain.skip(1);
    CHECK(chain.task(id).state == TaskState::kOpen);
}

TEST_CASE("WRK-6: a verification fee that does not pay the work is refused") {
    Params params = worked_params();
    params.work_price = 2'000;
    Chain chain(params);
    TaskSpec spec = worked_spec(10);  // 10^11 multiply-adds and 4 a segment, 2 of which are checked
    const Amount least{2 * 200'000 + 1};
    CHECK(fee_at(params, spec, params.work_price) == least);
    spec.verification_fee = Amount{least.grains - 1};
    CHECK(chain.fail(chain.submitter, SubmitTask{spec}) == TxError::kFeeBelowWork);
    spec.verification_fee = least;
    CHECK(chain.run(chain.submitter, SubmitTask{spec}) == 0);
}

TEST_CASE("WRK-6: in tolerance mode the part of the profilers pays their replays, and the rest the verifiers'") {
    Params params = worked_params();
    TaskSpec spec = worked_spec(10);
    spec.mode = Mode::kTolerance;
    for (const std::uint32_t part : {0U, 1U, 2'000U, 9'999U}) {
        params.profiling_fee_bps = part;
        spec.verification_fee = fee_at(params, spec, 2'000);
        CHECK(pays(params, spec, 2'000));
        --spec.verification_fee.grains;
        CHECK_FALSE(pays(params, spec, 2'000));
    }
    params.profiling_fee_bps = 10'000;  // nothing is left for verifiers
    CHECK(fee_at(params, spec, 2'000).grains == ~std::uint64_t{0});
}

TEST_CASE("TRM-1: terms are a verifier's, and its price is bounded") {
    Params params = worked_params();
    params.work_price = 100;
    Chain chain(params);
    const auto register_as = [&](Role role, const Terms& terms) {
        return chain.fail(chain.verifier, RegisterTerms{role, terms, 10'000});
    };
    CHECK(register_as(Role::kSolver, {1, 1, 0, 0}) == TxError::kFieldOutOfRange);
    CHECK(register_as(Role::kSolver, {1, 0, 1, 0}) == TxError::kFieldOutOfRange);
    CHECK(register_as(Role::kSolver, {1, 0, 0, 1}) == TxError::kFieldOutOfRange);
    CHECK(register_as(Role::kVerifier, {1, 401, 0, 0}) == TxError::kPriceTooHigh);
    const Terms terms{1, 400, 1'000, 5};
    CHECK(chain.run(chain.verifier, RegisterTerms{Role::kVerifier, terms, 10'000}) == 0);
    CHECK(get_terms(chain.view, Role::kVerifier, chain.verifier.id).terms == terms);
    CHECK(
        chain.run(chain.verifier, RegisterTerms{Role::kVerifier, {0, 0, 0, 1}, 0}) == 0
    );  // of no class, but with terms
    CHECK(get_terms(chain.view, Role::kVerifier, chain.verifier.id).terms.replay_blocks == 1);
    CHECK(chain.run(chain.verifier, RegisterTerms{Role::kVerifier, {}, 0}) == 0);
    CHECK_FALSE(chain.view.get(keys::terms(Role::kVerifier, chain.verifier.id)).has_value());
}

TEST_CASE("TRM-2: a verifier consents by class, memory, time and price") {
    Params params = worked_params();
    params.memory_default = 1'000;
    TaskSpec spec = worked_spec(10);
    spec.program.memory = 1'000;
    spec.verification_fee = fee_at(params, spec, 300);
    CHECK(consents(params, spec, {}));
    CHECK(consents(params, spec, {.price = 300}));
    CHECK_FALSE(consents(params, spec, {.price = 301}));
    CHECK(consents(params, spec, {.memory = 1'000}));
    CHECK_FALSE(consents(params, spec, {.memory = 999}));
    CHECK(consents(params, spec, {.replay_blocks = 10}));
    CHECK_FALSE(consents(params, spec, {.replay_blocks = 9}));
    CHECK(consents(params, spec, {.hardware_class = kGpu, .replay_blocks = 1}));
    spec.hardware_class = kGpu;
    CHECK(consents(params, spec, {.hardware_class = kGpu}));
    CHECK_FALSE(consents(params, spec, {.hardware_class = 1}));
    CHECK_FALSE(consents(params, spec, {}));  // the machine of who registers none may be of the slowest class
    spec.hardware_class = 0;
    spec.program.memory = 1'001;
    CHECK_FALSE(consents(params, spec, {}));
    CHECK(consents(params, spec, {.memory = 1'001}));
}

TEST_CASE("TRM-2: who does not consent is not drawn to verify, whatever its stake") {
    Chain chain(worked_params());
    chain.bond_all();
    chain.add_verifiers(3, {100 * kCoin});
    TaskSpec spec = make_spec();
    spec.program.memory = 2'000;
    REQUIRE(chain.run(chain.others[0], RegisterTerms{Role::kVerifier, {.memory = 1'999}, 0}) == 0);
    for (int i = 0; i < 8; ++i) {
        const TaskId id = chain.start_task(spec);
        chain.post_checkpoints(id, {hash_of("0"), hash_of("1"), hash_of("2"), hash_of("3")});
        REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
        chain.skip(1);
        const Task task = chain.task(id);
        REQUIRE(task.assignments.size() == 2);
        for (const Assignment& assignment : task.assignments) {
            CHECK(assignment.verifier != chain.others[0].id);
        }
    }
}

TEST_CASE("TRM-3: nobody trains a task that nobody could judge") {
    Chain chain(worked_params());
    const std::uint64_t needed = chain.params.verifier_bond.grains + chain.params.challenger_bond.grains;  // VER-1
    REQUIRE(chain.run(chain.solver, Bond{Role::kSolver, {100 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.verifier, Bond{Role::kVerifier, {needed - 1}}) == 0);
    const TaskId id = submit(chain, make_spec());
    chain.skip(4);
    CHECK(chain.task(id).state == TaskState::kOpen);
    REQUIRE(chain.run(chain.verifier, Bond{Role::kVerifier, {1}}) == 0);
    chain.await_solver(id);
    CHECK(chain.task(id).solver == chain.solver.id);
}

TEST_CASE("TRM-3: a task that less than half of the verifiers' stake consents to is drawn for nobody, and expires") {
    Chain chain(worked_params());
    chain.bond_all();  // 100 of the verifier
    TaskSpec spec = make_spec();
    spec.program.memory = 1ULL << 40U;
    chain.add_verifiers(1, {100 * kCoin});
    const TaskId id = submit(chain, spec);
    chain.skip(4);
    CHECK(chain.task(id).state == TaskState::kOpen);
    REQUIRE(chain.run(chain.others[0], RegisterTerms{Role::kVerifier, {.memory = 1ULL << 40U}, 0}) == 0);
    chain.await_solver(id);
    CHECK(chain.task(id).state == TaskState::kDrawn);
    // Were there more who do not, it would wait until it expires.
    chain.add_verifiers(1, {1 * kCoin + chain.params.verifier_bond.grains + chain.params.challenger_bond.grains});
    const TaskId other = submit(chain, spec);
    chain.skip(chain.params.draw_blocks + 1);
    CHECK(chain.task(other).state == TaskState::kExpired);
    CHECK(chain.task(other).solver == std::nullopt);
}

namespace {

/// A quarter of the verifiers' stake is one account's, which consents to much memory and no long replay; the others,
/// two accounts, do the opposite.
struct Divided {
    Chain chain;
    std::uint64_t needed;
    const Actor* coalition;

    Divided() : chain(worked_params()) {
        needed = chain.params.verifier_bond.grains + chain.params.challenger_bond.grains;  // VER-1
        REQUIRE(chain.run(chain.solver, Bond{Role::kSolver, {100 * kCoin}}) == 0);
        chain.add_verifiers(2, {3 * needed});
        chain.add_verifiers(1, {2 * needed});
        coalition = &chain.others[2];
        REQUIRE(
            chain.run(*coalition, RegisterTerms{Role::kVerifier, {.memory = 1ULL << 40U, .replay_blocks = 1}, 0}) == 0
        );
    }

    /// Two assignments for each of three tasks, none of them the coalition's.
    void occupy_honest() {
        for (int i = 0; i < 3; ++i) {
            const TaskId id = chain.start_task(worked_spec(8));
            chain.post_checkpoints(id, {hash_of("0"), hash_of("1"), hash_of("2"), hash_of("3")});
            REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
            chain.skip(1);
            REQUIRE(chain.task(id).state == TaskState::kVerifying);
        }
        for (const Actor& honest : {chain.others[0], chain.others[1]}) {
            REQUIRE(chain.stake(Role::kVerifier, honest).free.grains == 0);
        }
    }
};

}  // namespace

TEST_CASE("TRM-3: stake that is busy counts, so that few do not decide meanwhile who may judge a task") {
    Divided divided;
    TaskSpec spec = make_spec();
    spec.program.memory = 1ULL << 40U;
    divided.occupy_honest();
    const TaskId id = submit(divided.chain, spec);
    divided.chain.skip(4);
    CHECK(divided.chain.task(id).state == TaskState::kOpen);
    // With another quarter that consents they are half, and one of them has to be free.
    const Actor& honest = divided.chain.others[0];
    REQUIRE(divided.chain.run(honest, RegisterTerms{Role::kVerifier, {.memory = 1ULL << 40U}, 0}) == 0);
    divided.chain.await_solver(id);
    REQUIRE(divided.chain.run(*divided.coalition, Unbond{Role::kVerifier, {1 + divided.needed}}) == 0);
    const TaskId other = submit(divided.chain, spec);
    divided.chain.skip(4);
    CHECK(divided.chain.task(other).state == TaskState::kOpen);
}

TEST_CASE("TRM-3, VER-7.4: a quarter of the stake that withdraws its consent leaves the other quarter to judge the task"
) {
    Divided divided;
    Chain& chain = divided.chain;
    TaskSpec spec = make_spec();
    spec.program.memory = 1ULL << 40U;
    const Actor honest = chain.others[0];
    REQUIRE(chain.run(honest, RegisterTerms{Role::kVerifier, {.memory = 1ULL << 40U}, 0}) == 0);
    const TaskId id = chain.start_task(spec);
    chain.post_checkpoints(id, {hash_of("0"), hash_of("1"), hash_of("2"), hash_of("3")});
    REQUIRE(chain.run(*divided.coalition, RegisterTerms{Role::kVerifier, {.memory = 1}, 0}) == 0);
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
    chain.skip(1);
    CHECK(chain.task(id).state == TaskState::kVerifying);
    for (const Assignment& assignment : chain.task(id).assignments) {
        CHECK(assignment.verifier == honest.id);
    }
}
