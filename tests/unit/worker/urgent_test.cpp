// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <thread>

#include <tests/unit/artifacts/files.hpp>
#include <tests/unit/contracts/privately.hpp>
#include <tests/unit/worker/chain_worker.hpp>
#include <tests/unit/worker/small_task.hpp>
#include <verifier/worker/replay.hpp>
#include <verifier/worker/urgent.hpp>

/// Duties that cannot wait are attended to while something long is computed.
namespace assay::worker {
namespace {

using namespace contracts::test;
using contracts::TaskId;

/// A role whose only dispute move takes as long as the test wants.
class LongMove final : public Role {
  public:
    explicit LongMove(std::function<void()> move) : move_(std::move(move)) {}
    bool prompt() override {
        ++prompts;
        move_();
        return true;
    }
    bool disputes() override { return false; }
    bool labour() override { return false; }
    void forget(const contracts::TaskId& /*task*/) override {}
    int prompts = 0;

  private:
    std::function<void()> move_;
};

/// A solver at a chain whose verifiers are drawn when the test says so.
struct Scene {
    Scene() {
        chain.bond_all();
        id = complete_privately(chain);
    }
    void draw() {
        node.next();
        node.next();
        REQUIRE(is_awaited());
    }
    bool is_awaited() const { return !chain.task(id).secrecy->awaited.empty(); }
    /// Whether urgent duties between the steps of a computation take no more of it than half a minute until the keys
    /// are shared.
    bool are_shared_meanwhile() const {
        const auto give_up_at = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (is_awaited() && std::chrono::steady_clock::now() < give_up_at) {
            worker.context.interlude();
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return !is_awaited();
    }

    contracts::test::Chain chain{private_params()};
    TaskId id;
    worker_test::ChainNode node{chain};
    test::TemporaryDirectory home;
    worker_test::ChainWorker worker{node, chain.solver, home.path()};
};

}  // namespace

TEST_CASE("PRV-4: keys are shared while a dispute move computes, and no other move is begun meanwhile") {
    Scene at;
    bool are_shared = false;
    LongMove role([&] {
        at.draw();
        are_shared = at.are_shared_meanwhile();
    });
    Urgent urgent(at.worker.context, role);
    at.worker.context.attend_urgent = [&urgent] { urgent.interlude(); };
    CHECK(urgent.attend());
    CHECK(are_shared);
    CHECK(role.prompts == 1);
    CHECK(at.worker.count("keys_shared") == 1);
}

TEST_CASE("PRV-4: keys are shared while a segment is replayed or trained") {
    Scene at;
    LongMove role([] {});
    Urgent urgent(at.worker.context, role);
    at.worker.context.attend_urgent = [&urgent] { urgent.interlude(); };
    at.draw();
    CHECK(at.are_shared_meanwhile());
    CHECK(role.prompts > 0);  // and dispute moves are made
}

TEST_CASE("a share that the node does not take keeps no dispute move from being made") {
    Scene at;
    at.draw();
    at.node.fails_at = "chain_proof";
    LongMove role([] {});
    Urgent urgent(at.worker.context, role);
    CHECK_THROWS_AS(urgent.attend(), client::RpcError);
    CHECK(role.prompts == 1);
    at.node.fails_at.clear();
    CHECK(urgent.attend());
    CHECK_FALSE(at.is_awaited());
}

TEST_CASE("a dispute's replay lets urgent duties in between its steps") {
    const test::SmallTask task;
    std::uint64_t calls = 0;
    EngineReplay replay(task.artifacts, task.claim(0), {}, {}, {.between_steps = [&calls] { ++calls; }});
    static_cast<void>(replay.state_root_after(replay.claim().first_step));
    CHECK(calls == replay.steps_run());
    CHECK(calls >= 1);
}

}  // namespace assay::worker
