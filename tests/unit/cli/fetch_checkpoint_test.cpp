// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include <doctest/doctest.h>

#include <contracts/state/state.hpp>
#include <core/codec/borsh.hpp>
#include <tools/cli/task/fetch_checkpoint.hpp>
#include <tools/cli/common/session.hpp>
#include <verifier/artifacts/server.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/compile/program/program.hpp>
#include <core/dispute/commitment.hpp>

#include <tests/unit/cli/forged_node.hpp>
#include <tests/unit/cli/temporary.hpp>

namespace assay::cli {
namespace {

using cli_test::ForgedNode;

/// A task with one checkpoint, whose artifacts a server holds.
struct Published {
    cli_test::TemporaryDirectory directory;
    artifacts::ContentStore store{directory.path() / "store"};
    std::filesystem::path out = directory.path() / "out.safetensors";
    artifacts::ArtifactServer server{http::HttpServerOptions{}, store};
    ForgedNode node{1};
    program::Program program = program::build_char_model(
        {.vocabulary = 5, .context = 4, .embedding = 32, .hidden = 8, .batch_size = 2, .dataset_rows = 10}, {}
    );
    std::vector<canonical::Tensor> state;
    contracts::Checkpoint checkpoint;

    Published() {
        for (const canonical::TensorType& type : program::types_of(program.state)) {
            state.push_back(canonical::make_tensor(type.dtype, type.shape));
        }
        node.task.checkpoints = 1;
        node.task.spec.program = dispute::commit_program(
            program.init, program.step, static_cast<std::uint32_t>(program.state.size()), program.batch_size,
            program.dataset
        );
        node.task.spec.program_artifact = publish(codec::encode(program));
        checkpoint.state_root = artifacts::state_root_of(state);
        checkpoint.location = server.url();
        artifacts::store_state(program, state, artifacts::leaves_of(state), store);
    }
    contracts::ArtifactRef publish(const Bytes& bytes) {
        return {.sha256 = store.put(bytes), .size_bytes = bytes.size(), .location = server.url()};
    }
    FetchedCheckpoint fetch(std::optional<std::uint32_t> index = std::nullopt) {
        node.slots[contracts::keys::checkpoint(node.task.id, 0)] = codec::encode(checkpoint);
        node.serve();
        client::RpcClient rpc(node.url());
        return fetch_checkpoint(rpc, node.task.id, index, out);
    }
    int exit_code(std::optional<std::uint32_t> index = std::nullopt) {
        try {
            static_cast<void>(fetch(index));
            return kExitOk;
        } catch (const std::exception& error) {
            return to_failure(error).exit_code;
        }
    }
};

TEST_CASE("a checkpoint that is what the chain says is fetched") {
    Published published;
    const FetchedCheckpoint fetched = published.fetch();
    CHECK(fetched.index == 0);
    const Bytes expected = artifacts::encode_state(published.program, published.state);
    CHECK(to_bytes(cli_test::read_text(published.out)) == expected);
    CHECK(fetched.size_bytes == expected.size());
    CHECK(!std::filesystem::exists(published.out.string() + ".parts"));
}

/// A first tensor that the task gives and never trains. Of a task with a parent checkpoint 0 has it.
struct PublishedFrozen : Published {
    explicit PublishedFrozen(bool has_parent) {
        program.initial = {{.name = "given", .type = program.state[0].type}};
        for (canonical::Graph* graph : {&program.init, &program.step}) {
            canonical::Input& first = graph->back().inputs.front();
            first.source = canonical::Source::kState;
            first.index = 0;
        }
        REQUIRE(program::check_program(program).has_value());
        const std::vector<canonical::Tensor> initial{state[0]};
        contracts::TaskSpec& spec = node.task.spec;
        spec.program = artifacts::commit_program(program, artifacts::state_root_of(initial));
        spec.program_artifact = publish(codec::encode(program));
        spec.steps = 4;
        spec.checkpoint_interval = 1;
        node.task.checkpoints = 2;
        start = checkpoint;
        if (has_parent) {
            spec.parent = contracts::TaskId{{9}};
            artifacts::store_state(program, state, artifacts::leaves_of(state), store);
        } else {
            spec.initial_artifact = publish(artifacts::encode_initial(program, initial));
        }
        node.slots[contracts::keys::checkpoint(node.task.id, 0)] = codec::encode(start);
        state[1].data[0] ^= 1U;
        checkpoint.state_root = artifacts::state_root_of(state);
        const artifacts::Frozen frozen{.places = artifacts::frozen_places(spec, program, 1)};
        REQUIRE(frozen.has(0));
        artifacts::store_state(program, state, artifacts::leaves_of(state), store, frozen);
        node.slots[contracts::keys::checkpoint(node.task.id, 1)] = codec::encode(checkpoint);
        node.serve();
    }
    FetchedCheckpoint fetch_second() {
        client::RpcClient rpc(node.url());
        return fetch_checkpoint(rpc, node.task.id, 1, out);
    }
    contracts::Checkpoint start;
};

TEST_CASE("ART-10: frozen tensors that a checkpoint's file lacks are in what is written") {
    for (const bool has_parent : {false, true}) {
        CAPTURE(has_parent);
        PublishedFrozen published(has_parent);
        CHECK(published.fetch_second().index == 1);
        CHECK(
            to_bytes(cli_test::read_text(published.out)) == artifacts::encode_state(published.program, published.state)
        );
        published.store.remove(
            has_parent ? published.start.state_root : published.node.task.spec.initial_artifact->sha256
        );
        CHECK_THROWS_AS(static_cast<void>(published.fetch_second()), Failure);
    }
}

TEST_CASE("a file of another state is an invalid artifact") {
    Published published;
    Bytes bytes = artifacts::encode_state(published.program, published.state);
    bytes.back() ^= 1U;
    std::ofstream(published.store.path(published.checkpoint.state_root), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    CHECK(published.exit_code() == kExitInvalidArtifact);
}

TEST_CASE("a program other than the task's is an invalid artifact") {
    Published published;
    published.node.task.spec.program.batch_size += 1;
    CHECK(published.exit_code() == kExitInvalidArtifact);
}

TEST_CASE("a checkpoint that nobody has is not found") {
    Published published;
    published.checkpoint.state_root.data.fill(1);
    CHECK(published.exit_code() == kExitNotFound);
}

TEST_CASE("an artifact's server that does not answer is unreachable") {
    Published published;
    published.checkpoint.location = "http://127.0.0.1:1";
    CHECK(published.exit_code() == kExitUnreachable);
    CHECK(!std::filesystem::exists(published.out.string() + ".parts"));  // nothing has arrived
}

TEST_CASE("a checkpoint that is not posted is not found") {
    Published published;
    CHECK(published.exit_code(3) == kExitNotFound);
    Published before;
    before.node.task.checkpoints = 0;
    CHECK(before.exit_code() == kExitNotFound);
}

TEST_CASE("a checkpoint record that is not the chain's is a mismatch") {
    Published published;
    published.node.tamper = [](const std::string& method, nlohmann::json& result) {
        if (method == "chain_proof" && result.at("value").get<std::string>().size() < 400) {
            result["value"] = "00";
        }
    };
    CHECK(published.exit_code() == kExitMismatch);
}

}  // namespace
}  // namespace assay::cli
