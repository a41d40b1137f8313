// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <variant>
#include <vector>

#include <core/codec/borsh.hpp>
#include <core/sealed/files/check.hpp>
#include <core/sealed/files/open.hpp>
#include <core/sealed/share.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <tests/unit/contracts/distances.hpp>
#include <tests/unit/contracts/privately.hpp>
#include <tests/unit/worker/chain_worker.hpp>
#include <verifier/worker/key_desk.hpp>

/// What a worker does about the keys of private tasks, at a node that may be behind or lie.
namespace assay::worker {
namespace {

using namespace contracts::test;
using contracts::Reader;
using contracts::ReportWrongKeys;
using contracts::ShareKeys;
using contracts::Task;
using contracts::TaskId;
using contracts::TaskState;
using worker_test::ChainWorker;

/// A worker and what it does about keys.
struct Desk : ChainWorker {
    using ChainWorker::ChainWorker;
    /// After a look at the node. Returns whether something was sent.
    bool attend() {
        context.chain.refresh();
        return desk.attend();
    }
    KeyDesk desk{context};
};

contracts::Params long_params() {
    contracts::Params params = private_params();
    params.share_blocks = 60;
    params.dispute_clock_blocks = 100;
    return params;
}

/// A chain with more than one verifier, and the homes of workers.
struct Scene {
    explicit Scene(const contracts::Params& params = private_params()) : chain(params) {}
    /// Until verifiers are drawn who wait for their keys.
    TaskId verifying() {
        chain.add_verifiers(2);
        return verifying_privately(chain);
    }
    Task task(const TaskId& id) const { return chain.task(id); }
    std::size_t awaited(const TaskId& id) const { return task(id).secrecy->awaited.size(); }

    contracts::test::Chain chain;
    test::TemporaryDirectory home;
    test::TemporaryDirectory another_home;
};

/// The first verifier that was drawn.
const Actor& drawn(const Scene& at, const TaskId& id) {
    return at.chain.actor_of(at.task(id).assignments.front().verifier);
}

const ShareKeys& shared_in(const worker_test::ChainNode& node, std::size_t number) {
    return std::get<ShareKeys>(node.submitted.at(number));
}

/// What is found wrong with a file that is said to be checkpoint 1.
sealed::WrongChunk find_wrong(const TaskId& id, const sealed::SealedFile& file, const AccountId& reporter) {
    std::vector<canonical::TensorType> types;
    for (const canonical::Tensor& tensor : honest().state(ToyRun::kInterval)) {
        types.push_back({tensor.dtype, tensor.shape});
    }
    const sealed::StateReader reader{
        .secret = checkpoint_secret(),
        .artifact = {retag<Hash256>(id), honest().checkpoint_root(1)},
        .sealed_root = file.root,
        .types = types,
        .reporter = reporter};
    const auto opened = sealed::open_state(sealed::MemorySource(file.bytes), reader);
    REQUIRE_FALSE(opened.has_value());
    return std::get<sealed::WrongChunk>(opened.error());
}

/// Checkpoints 0 and 1 of a task that is trained, the second with this file.
void post_two(contracts::test::Chain& chain, const TaskId& id, const sealed::SealedFile& second) {
    const sealed::SealedFile first = seal_checkpoint(id, 0);
    for (std::uint32_t index = 0; index < 2; ++index) {
        const sealed::SealedFile& file = index == 0 ? first : second;
        contracts::PostCheckpoint action{id, index, honest().checkpoint_root(index), {}};
        action.sealed = contracts::SealedFile{file.root, file.bytes.size()};
        REQUIRE(chain.run(chain.solver, action) == 0);
    }
}

}  // namespace

TEST_CASE("PRV-4: a solver shares its keys with those whom the chain awaits, and once") {
    Scene at;
    const TaskId id = at.verifying();
    const std::size_t readers = at.awaited(id);
    REQUIRE(readers >= 2);
    worker_test::ChainNode node(at.chain);
    Desk solver(node, at.chain.solver, at.home.path());
    REQUIRE(solver.attend());
    CHECK(at.awaited(id) == 0);
    CHECK(shared_in(node, 0).shares.size() == readers);
    CHECK(solver.count("keys_shared") == 1);
    CHECK_FALSE(solver.attend());
    CHECK(node.submitted.size() == 1);
    // Whoever was drawn reads by them.
    Desk reader(node, drawn(at, id), at.another_home.path());
    CHECK_FALSE(reader.attend());
    const KeptShare& kept = reader.context.privates->share_of(reader.context.chain, at.task(id));
    REQUIRE(kept.standing == Standing::kReadable);
    CHECK(kept.secrets->of_task.key() == task_secret().key());
    CHECK(kept.secrets->of_checkpoints.value().key() == checkpoint_secret().key());
    CHECK(node.submitted.size() == 1);
    CHECK(solver.count("unproven") + reader.count("unproven") == 0);
}

TEST_CASE("PRV-4: a solver that starts again has its keys from the chain, and shares them") {
    Scene at;
    const TaskId id = at.verifying();
    worker_test::ChainNode node(at.chain);
    {
        Desk solver(node, at.chain.solver, at.home.path());
        solver.context.chain.refresh();
        CHECK(solver.context.privates->share_of(solver.context.chain, at.task(id)).standing == Standing::kReadable);
    }
    Desk again(node, at.chain.solver, at.home.path());
    CHECK(again.attend());
    CHECK(at.awaited(id) == 0);
}

TEST_CASE("PRV-4: a draw in the newest block is proven by the next one, and the keys are shared then") {
    Scene at;
    at.chain.bond_all();
    const TaskId id = complete_privately(at.chain);
    worker_test::ChainNode node(at.chain);
    Desk solver(node, at.chain.solver, at.home.path());
    CHECK_FALSE(solver.attend());
    node.next();
    REQUIRE(at.awaited(id) > 0);
    CHECK_FALSE(solver.attend());
    CHECK(node.submitted.empty());
    node.next();
    CHECK(solver.attend());
    CHECK(at.awaited(id) == 0);
    CHECK(solver.count("unproven") == 0);
}

TEST_CASE("PRV-4: keys are not shared again with whom the newest block has shared them") {
    Scene at;
    const TaskId id = at.verifying();
    worker_test::ChainNode node(at.chain);
    Desk solver(node, at.chain.solver, at.home.path());
    ShareKeys first = share_all(at.chain, id);
    first.shares.resize(1);
    REQUIRE(at.chain.run(at.chain.solver, first) == 0);
    node.publish();
    const std::size_t left = at.awaited(id);
    REQUIRE(left >= 1);
    CHECK(solver.attend());
    CHECK(shared_in(node, 0).shares.size() == left);
    CHECK(at.awaited(id) == 0);
}

TEST_CASE("PRV-4: a node that tells of readers who were not drawn is not given keys for them") {
    Scene at;
    const TaskId id = at.verifying();
    worker_test::ChainNode node(at.chain);
    const Reader invented{at.chain.stranger.id, at.chain.stranger.id};
    SUBCASE("besides those who were") {
        node.lie = [&](Task& task) { task.secrecy->awaited.push_back(invented); };
    }
    SUBCASE("with the key of somebody else for each") {
        node.lie = [&](Task& task) {
            for (Reader& reader : task.secrecy->awaited) {
                reader.key = invented.key;
            }
        };
    }
    Desk solver(node, at.chain.solver, at.home.path());
    CHECK(solver.attend());
    for (const contracts::KeyShare& share : shared_in(node, 0).shares) {
        CHECK(share.to != invented.account);
        CHECK_FALSE(sealed::open_share(at.chain.stranger.key, task_secret().key(), share.of_task).has_value());
        CHECK_FALSE(
            sealed::open_share(at.chain.stranger.key, checkpoint_secret().key(), share.of_checkpoints).has_value()
        );
    }
    CHECK(at.awaited(id) == 0);
}

TEST_CASE("PRV-4: nothing is shared while the chain awaits nobody, whatever the node tells, and the worker says so") {
    Scene at;
    at.chain.bond_all();
    start_privately(at.chain);
    worker_test::ChainNode node(at.chain);
    node.lie = [&](Task& task) {
        task.state = TaskState::kVerifying;
        task.secrecy->awaited = {{at.chain.stranger.id, at.chain.stranger.id}};
    };
    Desk solver(node, at.chain.solver, at.home.path());
    for (int block = 0; block < 12; ++block) {
        CHECK_FALSE(solver.attend());
        node.next();
    }
    CHECK(node.submitted.empty());
    REQUIRE(solver.count("unproven") == 1);
    const auto told = std::find_if(solver.events.begin(), solver.events.end(), [](const auto& event) {
        return event.at("event") == "unproven";
    });
    CHECK(told->at("what") == "of readers");
    CHECK(solver.count("trouble") == 1);
}

TEST_CASE("PRV-4: shares that no block takes are sent again as they are, and not for ever") {
    Scene at(long_params());
    const TaskId id = at.verifying();
    worker_test::ChainNode node(at.chain);
    node.refuses = true;
    Desk solver(node, at.chain.solver, at.home.path());
    for (int tries = 0; tries < 6; ++tries) {
        CHECK_FALSE(solver.attend());
    }
    REQUIRE(node.submitted.size() == 3);
    CHECK(codec::encode(shared_in(node, 0)) == codec::encode(shared_in(node, 2)));
    node.refuses = false;
    for (int block = 0; block < 25; ++block) {
        node.next();
    }
    CHECK(solver.attend());
    CHECK(codec::encode(shared_in(node, 0)) == codec::encode(shared_in(node, 3)));
    CHECK(at.awaited(id) == 0);
}

TEST_CASE("PRV-4: shares are made anew for other readers") {
    Scene at(long_params());
    const TaskId id = at.verifying();
    worker_test::ChainNode node(at.chain);
    node.refuses = true;
    Desk solver(node, at.chain.solver, at.home.path());
    for (int tries = 0; tries < 4; ++tries) {
        CHECK_FALSE(solver.attend());
    }
    ShareKeys first = share_all(at.chain, id);
    first.shares.resize(1);
    REQUIRE(at.chain.run(at.chain.solver, first) == 0);
    node.publish();
    node.refuses = false;
    CHECK(solver.attend());  // without waiting, since it is another answer
    CHECK(at.awaited(id) == 0);
}

TEST_CASE("PRV-5: a reader that was given other keys reports it once the chain has proven it, and the solver loses") {
    Scene at;
    const TaskId id = at.verifying();
    worker_test::ChainNode node(at.chain);
    const Actor reader = drawn(at, id);
    bool is_task_wrong = false;
    SUBCASE("of the checkpoints") {}
    SUBCASE("of the task") { is_task_wrong = true; }
    ShareKeys wrong{.task = id, .key = {}, .shares = {}};
    const Task verifying = at.task(id);
    for (const Reader& each : verifying.secrecy->awaited) {
        const auto& right = is_task_wrong ? checkpoint_secret() : task_secret();
        wrong.shares.push_back(share_for(
            id, each.account, each.key, is_task_wrong ? secret_named("other") : right,
            is_task_wrong ? right : secret_named("other")
        ));
    }
    REQUIRE(at.chain.run(at.chain.solver, wrong) == 0);
    node.publish();
    Desk desk(node, reader, at.home.path());
    CHECK_FALSE(desk.attend());
    CHECK(node.submitted.empty());
    node.next();
    CHECK(desk.attend());
    REQUIRE(node.submitted.size() == 1);
    CHECK(std::get<ReportWrongKeys>(node.submitted[0]).is_of_checkpoints == !is_task_wrong);
    CHECK(at.task(id).state == TaskState::kConvicted);
    CHECK(at.chain.slashed(id, contracts::Reason::kWrongKeys).size() == 1);
    CHECK(desk.count("wrong_keys") == 1);
}

TEST_CASE("PRV-5: a right share is not reported, whatever key a node invents, and not once it tells the truth again") {
    // A report would open the share for everybody.
    Scene at;
    const TaskId id = at.verifying();
    REQUIRE(at.chain.run(at.chain.solver, share_all(at.chain, id)) == 0);
    worker_test::ChainNode node(at.chain);
    SUBCASE("of the checkpoints") {
        node.lie = [](Task& task) { task.secrecy->key = secret_named("other").key(); };
    }
    SUBCASE("of the task") {
        node.lie = [](Task& task) { task.spec.privacy->key = secret_named("other").key(); };
    }
    Desk reader(node, drawn(at, id), at.home.path());
    reader.context.chain.refresh();
    const Task& told = reader.context.chain.tasks().at(id);
    CHECK(reader.context.privates->share_of(reader.context.chain, told).standing == Standing::kWrong);
    for (int block = 0; block < 5; ++block) {  // the time to commit is six
        CHECK_FALSE(reader.attend());
        node.next();
    }
    CHECK_FALSE(reader.attend());
    CHECK(reader.count("unproven") == 1);
    node.lie = nullptr;
    CHECK_FALSE(reader.attend());
    CHECK(reader.context.privates->share_of(reader.context.chain, at.task(id)).standing == Standing::kReadable);
    CHECK(node.submitted.empty());
}

TEST_CASE("PRV-5: a node that tells of a task that cannot be gets nothing, and stops no worker") {
    Scene at;
    const TaskId id = at.verifying();
    REQUIRE(at.chain.run(at.chain.solver, share_all(at.chain, id)) == 0);
    worker_test::ChainNode node(at.chain);
    node.lie = [](Task& task) {
        task.state = TaskState::kProfiling;
        task.secrecy->key = secret_named("other").key();
    };
    Desk reader(node, drawn(at, id), at.home.path());
    CHECK_FALSE(reader.attend());
    CHECK(node.submitted.empty());
}

TEST_CASE("PRV-5: a drawn solver reports the submitter's wrong keys and another draw follows, but none that are right"
) {
    Scene at;
    at.chain.bond_all();
    const TaskId id = drawn_privately(at.chain);
    worker_test::ChainNode node(at.chain);
    Desk solver(node, at.chain.solver, at.home.path());
    CHECK_FALSE(solver.attend());
    ShareKeys action = share_all(at.chain, id);
    SUBCASE("of the task") {
        action.shares[0] = share_for(id, at.chain.solver.id, at.chain.solver.id, secret_named("other"));
    }
    SUBCASE("of the checkpoints") {
        action.shares[0] = share_for(id, at.chain.solver.id, at.chain.solver.id, task_secret(), secret_named("other"));
    }
    SUBCASE("right ones") {}
    const bool is_right = codec::encode(action) == codec::encode(share_all(at.chain, id));
    const std::uint64_t before = at.chain.stake(contracts::Role::kSolver, at.chain.solver).free.grains;
    REQUIRE(at.chain.run(at.chain.submitter, action) == 0);
    node.publish();
    CHECK_FALSE(solver.attend());  // a block behind
    node.next();
    CHECK(solver.attend() == !is_right);
    CHECK(node.submitted.size() == (is_right ? 0 : 1));
    CHECK(at.task(id).state == (is_right ? TaskState::kDrawn : TaskState::kOpen));
    CHECK(at.chain.stake(contracts::Role::kSolver, at.chain.solver).free.grains >= before);
}

TEST_CASE("PRV-10, PRV-11: a profiler reads with a share of the task's key, and reports another one before it commits"
) {
    contracts::Params params = tolerance_params();
    params.share_blocks = 60;
    Scene at(params);
    bond_for_tolerance(at.chain);
    contracts::TaskSpec spec = tolerance_spec();
    spec.privacy = private_spec().privacy;
    const TaskId id =
        contracts::task_id(at.chain.submitter.id, contracts::get_account(at.chain.view, at.chain.submitter.id).nonce);
    REQUIRE(at.chain.run(at.chain.submitter, contracts::SubmitTask{spec}) == 0);
    at.chain.skip(1);
    REQUIRE(at.awaited(id) == 4);
    ShareKeys shares = share_all(at.chain, id);
    const Actor served = at.chain.actor_of(shares.shares[0].to);
    const Actor cheated = at.chain.actor_of(shares.shares[1].to);
    shares.shares[1].of_task = share_for(id, cheated.id, cheated.id, secret_named("other")).of_task;
    worker_test::ChainNode node(at.chain);
    REQUIRE(at.chain.run(at.chain.submitter, shares) == 0);
    node.publish();
    Desk reader(node, served, at.home.path());
    CHECK_FALSE(reader.attend());
    const auto& kept = reader.context.privates->share_of(reader.context.chain, at.task(id));
    REQUIRE(kept.standing == Standing::kReadable);
    CHECK(kept.secrets->of_task.key() == task_secret().key());
    CHECK_FALSE(kept.secrets->of_checkpoints);
    SUBCASE("before it commits") {
        Desk other(node, cheated, at.another_home.path());
        CHECK_FALSE(other.attend());  // what is proven is a block behind
        node.next();
        CHECK_FALSE(reader.attend());
        CHECK(other.attend());
        REQUIRE(node.submitted.size() == 1);
        CHECK_FALSE(std::get<ReportWrongKeys>(node.submitted[0]).is_of_checkpoints);
        CHECK(at.task(id).tolerance->phase == contracts::ProfilingPhase::kDraw);
    }
    SUBCASE("after it") {
        REQUIRE(at.chain.run(cheated, contracts::CommitProfile{id, hash_of("commitment")}) == 0);
        node.publish();
        Desk other(node, cheated, at.another_home.path());
        node.next();
        CHECK_FALSE(other.attend());
        CHECK(node.submitted.empty());
    }
}

TEST_CASE("PRV-7: a chunk that was found is reported once the checkpoint is proven, by whoever has not solved") {
    Scene at;
    at.chain.bond_all();
    const TaskId id = start_privately(at.chain);
    const sealed::SealedFile other = seal_checkpoint(id, 1, secret_named("other"));
    worker_test::ChainNode node(at.chain);
    Desk reader(node, at.chain.verifier, at.home.path());
    reader.context.privates->note_wrong_chunk(
        {.task = id, .checkpoint = 1, .evidence = find_wrong(id, other, at.chain.verifier.id)}
    );
    CHECK_FALSE(reader.attend());
    post_two(at.chain, id, other);
    node.publish();
    CHECK_FALSE(reader.attend());
    CHECK(node.submitted.empty());
    node.next();
    CHECK(reader.attend());
    CHECK(node.submitted.size() == 1);
    CHECK(at.task(id).state == TaskState::kConvicted);
    CHECK(reader.count("wrong_chunk") == 1);
    CHECK(reader.count("unproven") == 0);
}

TEST_CASE("PRV-7: a report that convicts nobody by what is proven is not sent, and a later one is") {
    Scene at;
    at.chain.bond_all();
    const TaskId id = start_privately(at.chain);
    // The node has served another file, and told its root, than the chain has.
    sealed::SealedFile served = seal_checkpoint(id, 1);
    served.bytes.back() ^= 1U;
    served.root = sealed::check_sealed(served.bytes).value();
    const sealed::SealedFile posted = seal_checkpoint(id, 1, secret_named("other"));
    post_two(at.chain, id, posted);
    worker_test::ChainNode node(at.chain);
    Desk reader(node, at.chain.verifier, at.home.path());
    reader.context.privates->note_wrong_chunk(
        {.task = id, .checkpoint = 1, .evidence = find_wrong(id, served, at.chain.verifier.id)}
    );
    for (int block = 0; block < 8; ++block) {
        CHECK_FALSE(reader.attend());
        node.next();
    }
    CHECK(node.submitted.empty());
    CHECK(reader.count("unproven") == 1);
    reader.context.privates->note_wrong_chunk(
        {.task = id, .checkpoint = 1, .evidence = find_wrong(id, posted, at.chain.verifier.id)}
    );
    CHECK(reader.attend());
    CHECK(at.task(id).state == TaskState::kConvicted);
}

}  // namespace assay::worker
