// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <verifier/artifacts/safetensors.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::artifacts {
namespace {

program::Program two_tensors() {
    program::Program program;
    program.state = {
        {.name = "weight", .type = {canonical::DType::kF32, {40, 3}}},
        {.name = "count", .type = {canonical::DType::kI32, {1, 1}}}};
    return program;
}

std::vector<canonical::Tensor> some_state(const program::Program& program) {
    std::vector<canonical::Tensor> state;
    for (const auto& [name, type] : program.state) {
        state.push_back(canonical::make_tensor(type.dtype, type.shape));
        state.back().data[1] = static_cast<std::uint8_t>(name.size());
    }
    return state;
}

TEST_CASE("ART-10: a state survives its file, in whatever order the file has it") {
    const auto program = two_tensors();
    const auto state = some_state(program);
    const Bytes bytes = encode_state(program, state);
    REQUIRE(decode_state(program, bytes).has_value());
    CHECK(*decode_state(program, bytes) == state);
    auto file = *decode_safetensors(bytes);
    std::swap(file.tensors[0], file.tensors[1]);
    CHECK(*decode_state(program, encode_safetensors(file)) == state);
}

TEST_CASE("ART-10: a state is written from its tensors and read from its file without other copies") {
    const test::TemporaryDirectory home;
    const ContentStore store(home.path());
    const auto program = two_tensors();
    const auto state = some_state(program);
    const Bytes bytes = encode_state(program, state);
    const auto [hash, size_bytes] = store_state(program, state, leaves_of(state), store);
    CHECK(hash == state_root_of(state));
    CHECK(size_bytes == bytes.size());
    const auto file = store.open(hash);
    REQUIRE(file.has_value());
    CHECK(test::file_bytes(store.path(hash)) == bytes);
    CHECK(decode_state(program, *file).value() == state);
    CHECK(root_of_state(program, *file).value() == state_root_of(state));
    auto other = program;
    other.state[1].name = "other";
    CHECK(decode_state(other, *file).error() == StateError::kTensors);
    CHECK(root_of_state(other, *file).error() == StateError::kTensors);
    store.remove(hash);
    CHECK(decode_state(program, *file).value() == state);  // for as long as somebody has it open
}

TEST_CASE("ART-10: frozen tensors that a file lacks are taken from the initial tensors") {
    // Of four tensors the second and the last stay what the task gives, in another order.
    const canonical::TensorType type{canonical::DType::kF32, {40, 3}};
    program::Program program;
    program.state = {
        {.name = "a", .type = type},
        {.name = "b", .type = type},
        {.name = "c", .type = type},
        {.name = "d", .type = type}};
    program.initial = {{.name = "d", .type = type}, {.name = "b", .type = type}};
    canonical::Node commit{.op = canonical::Op::kCommit, .dtype = canonical::DType::kF32, .shape = {0, 0}};
    for (std::uint32_t i = 0; i < 4; ++i) {
        commit.inputs.push_back({canonical::Source::kState, i, type.dtype, type.shape});
    }
    program.step = {commit};
    program.step.back().inputs[0].index = 2;
    program.step.back().inputs[2].index = 0;
    program.init = {commit};
    program.init.back().inputs[1].index = 1;
    program.init.back().inputs[3].index = 0;
    CHECK(program::frozen_tensors(program) == std::vector<std::optional<std::uint32_t>>{{}, 1, {}, 0});
    std::vector<canonical::Tensor> state;
    for (std::uint8_t i = 0; i < 4; ++i) {
        state.push_back(canonical::make_tensor(type.dtype, type.shape));
        state.back().data[0] = i;
    }
    const std::vector<canonical::Tensor> initial{state[3], state[1]};
    const std::vector<Hash256> commitments{commit_tensor(initial[0]), commit_tensor(initial[1])};
    const Frozen frozen{program::frozen_tensors(program), initial, commitments};
    REQUIRE(frozen.is_any());
    const Bytes bytes = encode_state(program, state, frozen);
    CHECK(bytes.size() < encode_state(program, state).size());
    CHECK(decode_state(program, bytes, frozen).value() == state);
    CHECK(decode_state(program, encode_state(program, state), frozen).value() == state);
    CHECK(decode_state(program, bytes).error() == StateError::kTensors);
    // All of them, or none.
    auto file = *decode_safetensors(encode_state(program, state));
    file.tensors.pop_back();
    CHECK(decode_state(program, encode_safetensors(file), frozen).error() == StateError::kTensors);
    file = *decode_safetensors(bytes);
    file.tensors.back().name = "b";
    CHECK(decode_state(program, encode_safetensors(file), frozen).error() == StateError::kTensors);
    file.tensors.back().name = "e";
    CHECK(decode_state(program, encode_safetensors(file), frozen).error() == StateError::kTensors);
    const test::TemporaryDirectory home;
    const ContentStore store(home.path());
    const auto stored = store_state(program, state, leaves_of(state), store, frozen);
    CHECK(stored.hash == checkpoint_name(state_root_of(state), {1, 3}));
    CHECK(stored.hash == name_of(expected_state(program, state_root_of(state), frozen)));
    CHECK(root_of_state(program, *store.open(stored.hash), frozen).value() == state_root_of(state));
    CHECK(root_of_state(program, *store.open(stored.hash)).error() == StateError::kTensors);
    // Where the initialisation is not executed, what it passes on does not count.
    CHECK(program::inherited_tensors(program) == std::vector<std::optional<std::uint32_t>>{{}, 1, {}, 3});
    program.init.back().inputs[1].source = canonical::Source::kNode;
    CHECK(program::inherited_tensors(program) == std::vector<std::optional<std::uint32_t>>{{}, 1, {}, 3});
    CHECK(program::frozen_tensors(program) == std::vector<std::optional<std::uint32_t>>{{}, {}, {}, 0});
    program.init.back().inputs[1].source = canonical::Source::kState;
    // A program that trains nothing has whole checkpoints.
    program.step.back().inputs[0].index = 0;
    program.step.back().inputs[2].index = 2;
    program.init.back().inputs[0].index = 0;
    CHECK(program::frozen_tensors(program) == std::vector<std::optional<std::uint32_t>>(4));
    CHECK(!Frozen{.places = program::inherited_tensors(program)}.is_any());
}

TEST_CASE("leaves that are known are not computed again") {
    const auto program = two_tensors();
    const auto state = some_state(program);
    Leaves known(2);
    known[0] = {Hash256{{1}}, Hash256{{2}}};
    const Leaves leaves = leaves_of(state, known);
    CHECK(leaves[0] == known[0]);
    CHECK(leaves[1] == leaves_of(state)[1]);
    CHECK(leaves_of(state, Leaves{}) == leaves_of(state));
}

TEST_CASE("ART-10: a file of other tensors is no checkpoint") {
    const auto program = two_tensors();
    const auto good = *decode_safetensors(encode_state(program, some_state(program)));
    CHECK(decode_state(program, as_bytes("nonsense")).error() == StateError::kFormat);
    auto file = good;
    file.tensors.pop_back();
    CHECK(decode_state(program, encode_safetensors(file)).error() == StateError::kTensors);
    file = good;
    file.tensors[0].name = "wait";
    CHECK(decode_state(program, encode_safetensors(file)).error() == StateError::kTensors);
    file = good;
    file.tensors.push_back({"more", file.tensors[1].tensor});
    CHECK(decode_state(program, encode_safetensors(file)).error() == StateError::kTensors);
    file = good;
    file.tensors[0].tensor.shape = {3, 40};
    CHECK(decode_state(program, encode_safetensors(file)).error() == StateError::kType);
    file = good;
    file.tensors[0].tensor.dtype = canonical::DType::kI32;
    CHECK(decode_state(program, encode_safetensors(file)).error() == StateError::kType);
}

TEST_CASE("ART-11: initial tensors have names and types of their own") {
    auto program = two_tensors();
    program.initial = {{.name = "given", .type = {canonical::DType::kF32, {5, 70}}}};
    canonical::Tensor given = canonical::make_tensor(canonical::DType::kF32, {5, 70});
    given.data[7] = 3;
    const Bytes bytes = encode_initial(program, std::vector{given});
    CHECK(decode_initial(program, bytes).value() == std::vector{given});
    CHECK(decode_state(program, bytes).error() == StateError::kTensors);
    CHECK(decode_initial(program, encode_state(program, some_state(program))).error() == StateError::kTensors);
    const Hash256 root = state_root_of(std::vector{given});
    program.init = program.step = canonical::Graph(1);
    const auto commitment = commit_program(program, root);
    CHECK(commitment.initial_tensors == 1);
    CHECK(commitment.initial_root == root);
    CHECK(commitment.state_tensors == 2);
    program.initial.clear();
    CHECK(commit_program(program).initial_tensors == 0);
    CHECK(commit_program(program).initial_root.is_zero());
}

TEST_CASE("TRC-3: the state root commits to every tensor in order") {
    const auto program = two_tensors();
    auto state = some_state(program);
    const std::vector<Hash256> commitments{dispute::commit_tensor(state[0]), dispute::commit_tensor(state[1])};
    const Hash256 root = state_root_of(state);
    CHECK(root == dispute::state_root(commitments));
    state[0].data.back() = 1;
    CHECK(state_root_of(state) != root);
    CHECK(program::types_of(program.state)[0] == canonical::TensorType{canonical::DType::kF32, {40, 3}});
}

}  // namespace
}  // namespace assay::artifacts
