// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <variant>

#include <tests/unit/artifacts/files.hpp>
#include <tests/unit/worker/chain_worker.hpp>
#include <tests/unit/worker/small_task.hpp>
#include <verifier/worker/defence_desk.hpp>
#include <verifier/worker/exposure_watch.hpp>
#include <verifier/worker/role.hpp>
#include <verifier/worker/seat_desk.hpp>

/// What a worker does so that its machine can play and replay what it takes.
namespace assay::worker {
namespace {

using namespace contracts::test;
using contracts::TaskId;
using contracts::TaskSpec;
using contracts::TaskState;

/// The blocks of a test's node follow each other by a millisecond, so clocks have 1,000 s beside their replays.
contracts::Params slow_params() {
    contracts::Params params = quick_params();
    params.dispute_clock_blocks = 1'000'000;
    params.accept_blocks = 100;
    params.segments_checked = 3;
    return params;
}

/// A replay takes the slowest class 3,000 s, of each of four segments.
TaskSpec long_spec() {
    TaskSpec spec = make_spec();
    spec.program.step_work = 7'500'000'000'000;
    spec.training_blocks = 20'000;
    return spec;
}

/// A solver that has a long task in training, and was then drawn for a small one of which everything is there.
struct Scene {
    Scene() : chain(slow_params()) {
        chain.bond_all();
        held = chain.start_task(long_spec());
        TaskSpec spec = small.spec;
        spec.reward = make_spec().reward;
        spec.verification_fee = make_spec().verification_fee;
        spec.training_blocks = 100'000'000;
        offered = contracts::task_id(chain.submitter.id, contracts::get_account(chain.view, chain.submitter.id).nonce);
        REQUIRE(chain.run(chain.submitter, contracts::SubmitTask{spec}) == 0);
        chain.await_solver(offered);
        node = std::make_unique<worker_test::ChainNode>(chain);
        node->next();  // so that there is a time between blocks
        node->next();
        worker = std::make_unique<worker_test::ChainWorker>(*node, chain.solver, home.path());
        worker->context.seats = &seats;
        worker->context.materials[offered] = small.artifacts;
        role = make_solver(worker->context);
    }
    /// Looks at the node, and has the solver do what it would, until it has tried a step of the task.
    void labour() {
        for (int i = 0; i < 50 && node->submitted.empty() && role->declined().empty(); ++i) {
            worker->context.chain.refresh();
            role->labour();
        }
    }
    std::optional<roles::Offer> refusal() const {
        const auto declined = role->declined();
        const auto found = declined.find(offered);
        return found == declined.end() ? std::nullopt : found->second;
    }

    contracts::test::Chain chain;
    test::SmallTask small;
    test::TemporaryDirectory home;
    SeatDesk seats;
    TaskId held;
    TaskId offered;
    std::unique_ptr<worker_test::ChainNode> node;
    std::unique_ptr<worker_test::ChainWorker> worker;
    std::unique_ptr<Role> role;
};

TEST_CASE("DSP-32: a solver leaves a task that it could not defend beside another, waits for room, and then declines") {
    Scene at;
    at.labour();
    CHECK(at.node->submitted.empty());
    CHECK(at.refusal() == roles::Offer::kTooMany);
    CHECK(at.chain.task(at.offered).state == TaskState::kDrawn);
    at.node->lie = [&](contracts::Task& task) {
        task.deadline = task.id == at.offered ? Height{at.worker->context.chain.height() + 1} : task.deadline;
    };
    at.worker->context.chain.refresh();
    CHECK(at.role->labour());
    REQUIRE(at.node->submitted.size() == 1);
    CHECK(std::get<contracts::DeclineTask>(at.node->submitted.front()).task == at.offered);
    CHECK(at.worker->count("decline") == 1);
}

TEST_CASE("DSP-32: a solver takes the task that waited as soon as the other one has ended") {
    Scene at;
    at.labour();
    CHECK(at.refusal() == roles::Offer::kTooMany);
    at.node->lie = [&](contracts::Task& task) { task.state = task.id == at.held ? TaskState::kJudged : task.state; };
    at.worker->context.chain.refresh();
    CHECK_FALSE(at.refusal());
    CHECK(at.role->labour());
    REQUIRE(at.node->submitted.size() == 1);
    CHECK(std::get<contracts::AcceptTask>(at.node->submitted.front()).task == at.offered);
}

TEST_CASE("a solver that was told how many tasks it may answer for takes as many") {
    Scene at;
    at.worker->options.tasks_at_once = 2;
    at.labour();
    REQUIRE(at.node->submitted.size() == 1);
    CHECK(std::get<contracts::AcceptTask>(at.node->submitted.front()).task == at.offered);
    CHECK(at.chain.task(at.offered).state == TaskState::kTraining);
}

TEST_CASE("GRP-2: a seat that was signed counts until its task has another state, and a task in work counts once") {
    Scene at;
    const OfferDesk offers(at.worker->context);
    DefenceDesk desk(at.worker->context, offers);
    const auto admits = [&] {
        at.worker->context.chain.refresh();
        return desk.admits(at.worker->context.chain.tasks().at(at.offered), 4);
    };
    CHECK_FALSE(admits());
    CHECK(desk.refused().contains(at.offered));
    // What it accepts anyway is not counted against itself.
    CHECK(desk.admits(at.worker->context.chain.tasks().at(at.held), 4));
    // Another account leads the long task, and this one has no seat of it.
    at.node->lie = [&](contracts::Task& task) {
        task.solver = task.id == at.held ? at.chain.stranger.id : task.solver;
    };
    CHECK(admits());
    CHECK(desk.refused().empty());
    desk.pledge(at.held, 4);
    CHECK_FALSE(admits());
    at.node->lie = [&](contracts::Task& task) {
        if (task.id == at.held) {
            task.solver = at.chain.stranger.id;
            task.state = TaskState::kCompleted;
        }
    };
    CHECK(admits());
    // It begins again without us.
    at.node->lie = [&](contracts::Task& task) {
        task.solver = task.id == at.held ? at.chain.stranger.id : task.solver;
    };
    CHECK_FALSE(admits());
    desk.forget(at.held);
    CHECK(admits());
}

TEST_CASE("WRK-5: a verifier with bonds for more than its machine can replay is warned once, with what ends it") {
    contracts::test::Chain chain(slow_params());
    chain.bond_all();
    REQUIRE(chain.run(chain.verifier, contracts::Bond{contracts::Role::kVerifier, Amount{400 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.solver, contracts::Bond{contracts::Role::kSolver, Amount{400 * kCoin}}) == 0);
    chain.start_task(long_spec());
    const TaskId second = chain.start_task(long_spec());
    worker_test::ChainNode node(chain);
    const test::TemporaryDirectory home;
    worker_test::ChainWorker worker(node, chain.verifier, home.path());
    worker.options.mode = Mode::kVerify;
    worker.options.contributes = false;
    const auto look = [&] {
        worker.context.chain.refresh();
        ExposureWatch(worker.context).look();
    };
    // Verdicts are due after 9,006 s, and a replay takes 3,000.
    look();
    CHECK(worker.count("exposed") == 1);
    CHECK(worker.count("trouble") == 1);
    CHECK(worker.context.exposure.find("for 6 segments at once, of which this machine replays 3") != std::string::npos);
    CHECK(worker.context.exposure.find("`assay stake unbond verifier \"494 ASY\"`") != std::string::npos);
    // One watch says it once.
    ExposureWatch watch(worker.context);
    watch.look();
    watch.look();
    CHECK(worker.count("exposed") == 2);
    REQUIRE(
        chain.run(
            chain.verifier,
            contracts::RegisterTerms{.role = contracts::Role::kVerifier, .terms = {.replay_blocks = 100}}
        ) == 0
    );
    node.publish();
    look();
    CHECK(worker.context.exposure.empty());
    CHECK(worker.count("exposed") == 2);
    CHECK(chain.task(second).state == TaskState::kTraining);
}

}  // namespace
}  // namespace assay::worker
