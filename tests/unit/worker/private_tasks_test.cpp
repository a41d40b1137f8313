// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include <core/crypto/hash.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <tests/unit/contracts/privately.hpp>
#include <tests/unit/worker/chain_worker.hpp>
#include <verifier/artifacts/sealing.hpp>
#include <verifier/worker/private_tasks.hpp>

/// What a worker can read of private tasks, and what it keeps of them on its disk.
namespace assay::worker {
namespace {

using namespace contracts::test;
using contracts::TaskId;

/// Looks at the node and asks what is shared.
const KeptShare& ask(worker_test::ChainWorker& worker, const TaskId& id) {
    worker.context.chain.refresh();
    return worker.context.privates->share_of(worker.context.chain, worker.context.chain.tasks().at(id));
}

struct Scene {
    Scene() { chain.bond_all(); }
    contracts::test::Chain chain{private_params()};
    test::TemporaryDirectory home;
};

}  // namespace

TEST_CASE("PRV-3: a drawn solver reads a task once the submitter has shared the keys, and reads the history once") {
    Scene at;
    const TaskId id = drawn_privately(at.chain);
    worker_test::ChainNode node(at.chain);
    worker_test::ChainWorker solver(node, at.chain.solver, at.home.path());
    CHECK(ask(solver, id).standing == Standing::kNotShared);
    CHECK(solver.context.is_unreadable(at.chain.task(id)));
    CHECK(solver.count("unreadable") == 1);
    CHECK(solver.context.secrets_of(id) == nullptr);
    CHECK(node.histories == 0);  // the record says that there is nothing to find
    REQUIRE(at.chain.run(at.chain.submitter, share_all(at.chain, id)) == 0);
    node.publish();
    CHECK(ask(solver, id).standing == Standing::kReadable);
    CHECK_FALSE(solver.context.is_unreadable(at.chain.task(id)));
    CHECK(solver.context.secrets_of(id)->of_task.key() == task_secret().key());
    for (int looks = 0; looks < 3; ++looks) {
        node.next();
        CHECK(ask(solver, id).standing == Standing::kReadable);
    }
    CHECK(node.histories == 1);
}

TEST_CASE("PRV-3: a share that the node's history does not have yet is looked for again") {
    Scene at;
    const TaskId id = drawn_privately(at.chain);
    REQUIRE(at.chain.run(at.chain.submitter, share_all(at.chain, id)) == 0);
    const auto record = at.chain.history.back();
    at.chain.history.pop_back();
    worker_test::ChainNode node(at.chain);
    worker_test::ChainWorker solver(node, at.chain.solver, at.home.path());
    CHECK(ask(solver, id).standing == Standing::kNotShared);
    at.chain.history.push_back(record);
    CHECK(ask(solver, id).standing == Standing::kReadable);
    CHECK(node.histories == 2);
}

TEST_CASE("PRV-2: after another draw the keys of the one before are forgotten") {
    Scene at;
    const TaskId id = drawn_privately(at.chain);
    REQUIRE(at.chain.run(at.chain.submitter, share_all(at.chain, id)) == 0);
    worker_test::ChainNode node(at.chain);
    worker_test::ChainWorker solver(node, at.chain.solver, at.home.path());
    CHECK(ask(solver, id).standing == Standing::kReadable);
    REQUIRE(at.chain.run(at.chain.solver, contracts::DeclineTask{id}) == 0);
    at.chain.await_solver(id);
    node.publish();
    CHECK(ask(solver, id).standing == Standing::kNotShared);
    CHECK(solver.context.secrets_of(id) == nullptr);
}

TEST_CASE("PRV-3: keys that were shared with an operator of before are said to be that one's") {
    Scene at;
    REQUIRE(at.chain.run(at.chain.solver, contracts::NameOperator{at.chain.stranger.id}) == 0);
    const TaskId id = drawn_privately(at.chain);
    REQUIRE(at.chain.run(at.chain.submitter, share_all(at.chain, id)) == 0);
    worker_test::ChainNode node(at.chain);
    worker_test::ChainWorker solver(node, at.chain.solver, at.home.path());
    CHECK(ask(solver, id).standing == Standing::kOthersKey);
    CHECK(solver.context.secrets_of(id) == nullptr);
    CHECK(node.histories == 0);
}

TEST_CASE("PRV-5: what is shared under other keys than the task's is wrong, and gives no secrets") {
    Scene at;
    const TaskId id = drawn_privately(at.chain);
    contracts::ShareKeys action = share_all(at.chain, id);
    bool is_task_wrong = false;
    SUBCASE("of the checkpoints") {
        action.shares[0] = share_for(id, at.chain.solver.id, at.chain.solver.id, task_secret(), secret_named("other"));
    }
    SUBCASE("of the task") {
        is_task_wrong = true;
        action.shares[0] = share_for(id, at.chain.solver.id, at.chain.solver.id, secret_named("other"));
    }
    REQUIRE(at.chain.run(at.chain.submitter, action) == 0);
    worker_test::ChainNode node(at.chain);
    worker_test::ChainWorker solver(node, at.chain.solver, at.home.path());
    const KeptShare& kept = ask(solver, id);
    CHECK(kept.standing == Standing::kWrong);
    CHECK(kept.is_task_wrong == is_task_wrong);
    CHECK_FALSE(kept.secrets.has_value());
    CHECK(solver.context.is_unreadable(at.chain.task(id)));
}

TEST_CASE("PRV-1: a file that opens to something else than the task commits to is refused for good") {
    // So a solver declines, and loses no bond by a submitter's garbage.
    Scene at;
    const artifacts::ContentStore served(at.home.path() / "served");
    const Bytes plain(20'000, 7);
    contracts::TaskSpec spec = private_spec();
    spec.program_artifact = {crypto::sha256(plain), plain.size(), "dir:" + served.directory().string()};
    const auto artifact = artifacts::artifact_of(*spec.privacy, spec.program_artifact.sha256);
    std::optional<artifacts::FetchError> error = artifacts::FetchError::kUnopened;
    SUBCASE("of other contents") {
        const Bytes other(20'000, 8);
        const auto another = artifacts::artifact_of(*spec.privacy, crypto::sha256(other));
        spec.privacy->program = artifacts::seal_file(other, task_secret(), another, served);
    }
    SUBCASE("under another key") {
        spec.privacy->program = artifacts::seal_file(plain, secret_named("other"), artifact, served);
    }
    SUBCASE("and one that is right is opened where nobody is served") {
        spec.privacy->program = artifacts::seal_file(plain, task_secret(), artifact, served);
        error.reset();
    }
    const TaskId id = drawn_privately(at.chain, spec);
    REQUIRE(at.chain.run(at.chain.submitter, share_all(at.chain, id)) == 0);
    worker_test::ChainNode node(at.chain);
    worker_test::ChainWorker solver(node, at.chain.solver, at.home.path());
    CHECK(ask(solver, id).standing == Standing::kReadable);
    const auto open = [&] {
        return solver.context.open_artifact(
            at.chain.task(id), artifacts::reference_to(spec.program_artifact), 100'000, artifacts::Urgency::kDuty
        );
    };
    auto opened = open();
    const auto give_up_at = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!opened && opened.error() == artifacts::FetchError::kPending && std::chrono::steady_clock::now() < give_up_at
    ) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        opened = open();
    }
    REQUIRE(opened.has_value() == !error.has_value());
    if (error) {
        CHECK(opened.error() == *error);
    } else {
        CHECK(Bytes(opened->view().begin(), opened->view().end()) == plain);
        CHECK(opened->path().parent_path() == at.home.path() / kPrivateName);
    }
    CHECK_FALSE(solver.context.store.has(spec.program_artifact.sha256));
}

TEST_CASE("what is opened of private tasks lies where nobody else reads it, and no longer than it is of use") {
    const test::TemporaryDirectory home;
    const auto directory = home.path() / kPrivateName;
    const TaskId one{{1}};
    const TaskId two{{2}};
    Hash256 of_both;
    Hash256 of_one;
    {
        PrivateTasks tasks(directory);
        CHECK(std::filesystem::status(directory).permissions() == std::filesystem::perms::owner_all);
        of_both = tasks.store().put(Bytes(100, 1));
        of_one = tasks.store().put(Bytes(100, 2));
        tasks.note(one, of_both);
        tasks.note(one, of_one);
        tasks.note(two, of_both);
        tasks.forget(one);
        CHECK(tasks.store().has(of_both));
        CHECK_FALSE(tasks.store().has(of_one));
        tasks.forget(one);
    }
    CHECK(std::filesystem::exists(directory / to_hex(of_both.view())));
    std::filesystem::permissions(directory, std::filesystem::perms::all);
    PrivateTasks again(directory);
    CHECK_FALSE(again.store().has(of_both));
    CHECK(std::filesystem::status(directory).permissions() == std::filesystem::perms::owner_all);
    again.forget(two);
}

TEST_CASE("a directory that cannot be made is reported") {
    const test::TemporaryDirectory home;
    std::ofstream(home.path() / "file") << "x";
    CHECK_THROWS_AS(PrivateTasks(home.path() / "file" / "private"), artifacts::StoreError);
}

TEST_CASE("PRV-7: of one wrong chunk the first report stays, and another one takes its place") {
    const test::TemporaryDirectory home;
    PrivateTasks tasks(home.path() / kPrivateName);
    contracts::ReportWrongChunk report{.task = TaskId{{1}}, .checkpoint = 1, .evidence = {}};
    CHECK(tasks.wrong_chunk(report.task) == nullptr);
    report.evidence.point.data.fill(1);
    tasks.note_wrong_chunk(report);
    report.evidence.point.data.fill(2);
    tasks.note_wrong_chunk(report);
    CHECK(tasks.wrong_chunk(report.task)->evidence.point.data[0] == 1);
    report.evidence.opening.chunk = 3;
    tasks.note_wrong_chunk(report);
    CHECK(tasks.wrong_chunk(report.task)->evidence.point.data[0] == 2);
    tasks.forget(report.task);
    CHECK(tasks.wrong_chunk(report.task) == nullptr);
}

}  // namespace assay::worker
