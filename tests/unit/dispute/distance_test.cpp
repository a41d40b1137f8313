// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/distance.hpp>

#include <bit>
#include <cstring>

#include <doctest/doctest.h>
#include <tests/unit/dispute/game.hpp>
#include <core/dispute/commitment.hpp>
#include <core/dispute/tolerance.hpp>
#include <verifier/compile/program/evaluation.hpp>
#include <verifier/compile/program/models.hpp>

using namespace assay;
using namespace assay::dispute;
using namespace assay::dispute::testing;
using canonical::Tensor;

namespace {

void add_to(Tensor& tensor, std::uint64_t element, float amount) {
    float value = 0;
    std::memcpy(&value, tensor.data.data() + element * 4, 4);
    value += amount;
    std::memcpy(tensor.data.data() + element * 4, &value, 4);
}

// What a solver's segment of the character model does to some of its tensors: start, what the replay gives, and what
// the solver published.
struct Segment {
    std::vector<program::StateTensor> types;
    std::vector<Tensor> start, replayed, claimed;
};

Segment segment() {
    const program::CharModelConfig config{
        .vocabulary = 40, .context = 2, .embedding = 32, .hidden = 40, .batch_size = 37, .dataset_rows = 50};
    const program::Program program = program::build_char_model(config, {});
    const World world = char_world();
    ScalarReplay replay(world, false, 7);
    Segment out;
    for (std::size_t t = 0; t < program.state.size(); t += 3) {
        out.types.push_back(program.state[t]);
        out.start.push_back(replay.state_before(0)[t]);
        out.replayed.push_back(replay.state_before(2)[t]);
    }
    out.claimed = out.replayed;
    for (std::size_t t = 0; t < out.claimed.size(); ++t) {
        add_to(out.claimed[t], out.claimed[t].shape.element_count() / 2, 1e-5F);
    }
    return out;
}

// Parameters of a few elements each, more than a graph has room for with a part for each.
Segment small_tensors(std::uint32_t tensors) {
    Segment out;
    for (std::uint32_t i = 0; i < tensors; ++i) {
        const canonical::Shape shape{1 + i % 2, 3 + i % 4};
        out.types.push_back({std::to_string(i), {canonical::DType::kF32, shape}});
        out.start.push_back(canonical::make_tensor(canonical::DType::kF32, shape));
        for (std::uint32_t element = 0; element < shape.element_count(); ++element) {
            add_to(out.start[i], element, 1.0F + static_cast<float>(i));
        }
        out.replayed.push_back(out.start[i]);
        add_to(out.replayed[i], i % 3, 0.5F);
        out.claimed.push_back(out.replayed[i]);
        add_to(out.claimed[i], i % 2, 0.25F);
    }
    return out;
}

// The claim that a measurement is: the distance program's initialisation from the three states.
World measuring_world(const Segment& s) {
    const program::Program program = program::build_distance_program(s.types).value();
    World world{
        .init = program.init,
        .step = program.step,
        .rows = std::make_shared<MemoryRows>(program.dataset, 2),
        .state = {},
        .batch_size = program.batch_size,
        .initial = program::measured_state(s.start, s.replayed, s.claimed)};
    ScalarReplay replay(world, true, 7);
    world.state = replay.state_before(1);
    return world;
}

std::vector<Hash256> leaves_of(const std::vector<Tensor>& state) {
    std::vector<Hash256> leaves;
    for (const Tensor& tensor : state) {
        leaves.push_back(commit_tensor(tensor));
    }
    return leaves;
}

bool reaches_state(const World& world, const Lie& lie) {
    ScalarReplay liar(world, true, 7, {lie});
    return root_of(world.state) != liar.state_root_after(0);
}

}  // namespace

TEST_CASE("TOL-1: the measurement's initial root follows from the three states' own trees") {
    const Segment s = segment();
    const World world = measuring_world(s);
    const std::array<Hash256, 3> roots{root_of(s.start), root_of(s.replayed), root_of(s.claimed)};
    std::array<Hash256, 3> trees{
        merkle::root_of(leaves_of(s.start)), merkle::root_of(leaves_of(s.replayed)),
        merkle::root_of(leaves_of(s.claimed))};
    const auto tensors = static_cast<std::uint32_t>(s.types.size());
    CHECK(measured_root(tensors, roots, trees) == world.commitment().initial_root);
    CHECK(world.commitment().initial_tensors == program::measured_place(tensors, 2, tensors - 1) + 1);
    std::swap(trees[0], trees[1]);
    CHECK_FALSE(measured_root(tensors, roots, trees).has_value());
    std::swap(trees[0], trees[1]);
    CHECK_FALSE(measured_root(tensors - 1, roots, trees).has_value());
    for (std::uint32_t n = 1; n <= tensors; ++n) {
        CAPTURE(n);
        const std::vector<Tensor> state(s.start.begin(), s.start.begin() + n);
        const Hash256 tree = merkle::root_of(leaves_of(state));
        const std::array<Hash256, 3> same{tree, tree, tree};
        const std::array<Hash256, 3> known{root_of(state), root_of(state), root_of(state)};
        CHECK(measured_root(n, known, same) == root_of(program::measured_state(state, state, state)));
    }
}

TEST_CASE("TOL-2: a measurement's bits give the root that the program commits to") {
    const World world = measuring_world(segment());
    ScalarReplay replay(world, true, 7);
    const Tensor& tile = replay.state_before(1).front();
    const Measurement measurement = decode_measurement(canonical::tile_of(tile, 0));
    CHECK(is_possible(measurement));
    CHECK(measurement_root(measurement) == replay.state_root_after(0));
    CHECK(measurement.parameters.drift2 != 0);
    CHECK(measurement.other.drift2 != 0);
    CHECK_FALSE(exceeds(measurement.parameters, {1, 10}));
    CHECK(exceeds(measurement.parameters, {1, 1'000'000}));
}

TEST_CASE(
    "TOL-2: a wrong measurement is bisected to the partial that is wrong, whoever lies" * doctest::test_suite("full")
) {
    const World world = measuring_world(segment());
    ScalarReplay honest(world, true, 7);
    const Claim right = make_claim(world, honest, true, 0, 1, 7);
    std::uint32_t played = 0;
    // Every kind of node once: an honest verifier wins against a wrong report, and against a wrong accusation.
    std::vector<std::uint32_t> tries(256, 0);
    for (std::uint32_t node = 0; node + 1 < world.init.size(); ++node) {
        const canonical::Node& n = world.init[node];
        const auto op = static_cast<std::size_t>(n.op);
        const bool is_f32 = n.dtype == canonical::DType::kF32;
        const Lie lie = is_f32 ? raise(0, node, n.shape.element_count() - 1) : flip(0, node, 0);
        constexpr std::uint32_t kTries = 2;
        if (tries[op]++ >= kTries || !reaches_state(world, lie)) {
            continue;
        }
        tries[op] = kTries;
        ++played;
        CAPTURE(node);
        CAPTURE(to_string(n.op));
        ScalarReplay liar(world, true, 7, {lie});
        const Claim wrong = make_claim(world, liar, true, 0, 1, 7);
        for (const bool challenger_proves : {false, true}) {
            const Outcome outcome = play(wrong, liar, honest, challenger_proves);
            CHECK(outcome.ruling == Ruling::kClaimRefuted);
            CHECK(pinpoint(outcome.position).node == node);
            CHECK(pinpoint(outcome.position).partial.has_value());
            CHECK(outcome.position.rounds <= kMaxRounds);
        }
        CHECK(play(right, honest, liar, false).ruling == Ruling::kClaimHolds);
    }
    CHECK(played >= 8);
}

TEST_CASE(
    "TOL-2: a wrong measurement of joined tensors is bisected to the row that joins them" * doctest::test_suite("full")
) {
    const World world = measuring_world(small_tensors(1'400));
    ScalarReplay honest(world, true, 7);
    // The last of the nodes that pad a tensor, that add one to others, and that take a difference of joined tensors.
    const auto last = [&](canonical::Op op) {
        for (std::size_t node = world.init.size(); node-- > 0;) {
            const canonical::Node& n = world.init[node];
            const bool is_joined = n.shape.rows == 1 && n.shape.cols > canonical::kMeasuredColumns;
            if (n.op == op && n.dtype == canonical::DType::kF32 && is_joined) {
                return static_cast<std::uint32_t>(node);
            }
        }
        return std::uint32_t{0};
    };
    for (const canonical::Op op : {canonical::Op::kView, canonical::Op::kAdd, canonical::Op::kSub}) {
        const std::uint32_t node = last(op);
        CAPTURE(node);
        REQUIRE(world.init[node].op == op);
        const Lie lie = raise(0, node, world.init[node].shape.element_count() - 1);
        REQUIRE(reaches_state(world, lie));
        ScalarReplay liar(world, true, 7, {lie});
        const Outcome outcome = play(make_claim(world, liar, true, 0, 1, 7), liar, honest, true);
        CHECK(outcome.ruling == Ruling::kClaimRefuted);
        CHECK(pinpoint(outcome.position).node == node);
        CHECK(pinpoint(outcome.position).partial.has_value());
        CHECK(outcome.position.rounds <= kMaxRounds);
        CHECK(play(make_claim(world, honest, true, 0, 1, 7), honest, liar, false).ruling == Ruling::kClaimHolds);
    }
}

TEST_CASE("TOL-2: the measurement alone misreported, with every node right, is found at the commitment") {
    const World world = measuring_world(segment());
    ScalarReplay honest(world, true, 7);
    const auto last = static_cast<std::uint32_t>(world.init.size() - 1);
    Lie lie = flip(0, last, 0);
    ScalarReplay liar(world, true, 7, {lie});
    const Claim wrong = make_claim(world, liar, true, 0, 1, 7);
    const Outcome outcome = play(wrong, liar, honest, true);
    CHECK(outcome.ruling == Ruling::kClaimRefuted);
    CHECK(pinpoint(outcome.position).node == last);
}

namespace {

/// The Merkle root over the graph that a program's result is computed by, and how many nodes that has.
std::string graph_of(const program::Program& program) {
    const auto commitment = commit_program(
        program.init, program.step, static_cast<std::uint32_t>(program.state.size()), program.batch_size,
        program.dataset
    );
    return std::to_string(commitment.init_nodes) + " " + to_hex(commitment.init_root.view());
}

/// The state of the demo's character model with 75 characters (docs/protocol/programs.md).
std::vector<program::StateTensor> character_state() {
    using canonical::DType;
    using canonical::Shape;
    std::vector<program::StateTensor> state;
    for (const std::string before : {"", "adam.first.", "adam.second."}) {
        state.push_back({before + "embedding.weight", {DType::kF32, Shape{75, 32}}});
        state.push_back({before + "hidden.weight", {DType::kF32, Shape{128, 512}}});
        state.push_back({before + "hidden.bias", {DType::kF32, Shape{1, 128}}});
        state.push_back({before + "output.weight", {DType::kF32, Shape{75, 128}}});
        state.push_back({before + "output.bias", {DType::kF32, Shape{1, 75}}});
    }
    state.push_back({"adam.first_weight", {DType::kF32, Shape{1, 1}}});
    state.push_back({"adam.second_weight", {DType::kF32, Shape{1, 1}}});
    return state;
}

/// The second state of that document with a root.
std::vector<program::StateTensor> state_in_parts() {
    using canonical::DType;
    using canonical::Shape;
    return {
        {"table", {DType::kF32, Shape{3'000, 1'000}}},
        {"count", {DType::kI32, Shape{1, 40}}},
        {"places", {DType::kI32, Shape{7, 9}}},
        {"adam.first.table", {DType::kF32, Shape{3'000, 1'000}}}};
}

/// The third: some tensors of more than a part, some of a third of one, many small ones.
std::vector<program::StateTensor> state_to_join() {
    using canonical::DType;
    using canonical::Shape;
    std::vector<program::StateTensor> state;
    for (std::uint32_t i = 0; i < 1'400; ++i) {
        const std::string name = (i % 3 == 2 ? "adam.first." : "") + std::to_string(i);
        if (i <= 20) {
            state.push_back({name, {DType::kF32, i == 0 ? Shape{2'000, 1'000} : Shape{1, 300'000}}});
        } else {
            state.push_back({name, {i % 10 == 9 ? DType::kI32 : DType::kF32, Shape{2, 1 + i % 5}}});
        }
    }
    return state;
}

/// The fourth: moments of type bf16, in parts, joined and alone.
std::vector<program::StateTensor> state_of_halves() {
    using canonical::DType;
    using canonical::Shape;
    return {
        {"table", {DType::kF32, Shape{3'000, 1'000}}},
        {"bias", {DType::kF32, Shape{1, 40}}},
        {"adam.first.table", {DType::kBf16, Shape{3'000, 1'000}}},
        {"adam.first.bias", {DType::kBf16, Shape{1, 40}}},
        {"adam.second.table", {DType::kBf16, Shape{3'000, 1'000}}},
        {"adam.second.bias", {DType::kBf16, Shape{1, 40}}}};
}

}  // namespace

// Verifiers refuse a task whose graphs are not these, so no compiler may decide the order of their nodes. Built by
// clang, the same functions gave other graphs as long as two arguments of one call appended nodes.
TEST_CASE("TOL-1: the distance program of a state is one graph to the node") {
    CHECK(
        graph_of(program::build_distance_program(character_state()).value()) ==
        "836 99b0efea51f7ba021911dd59a97033ce849398b14b5dee2ed7dba27cbee4f1a1"
    );
    CHECK(
        graph_of(program::build_distance_program(state_in_parts()).value()) ==
        "364 90ff88f914fb68d711113053505c89723076117b858dbf4c0e42f1ab1b35bc6b"
    );
    CHECK(
        graph_of(program::build_distance_program(state_to_join()).value()) ==
        "16546 a0d9073fe44d7de6fb8366b123becde0c96ac1dfc9962e1a6079e4001784392f"
    );
    CHECK(
        graph_of(program::build_distance_program(state_of_halves()).value()) ==
        "618 ab3c2d0afa085d0387e2ee067e5fe04d48f0451479e5f5491f42afc22ba819b3"
    );
}

TEST_CASE("EVL-7: the evaluation of a program is one graph to the node") {
    program::MlpConfig model;
    model.features = 4;
    model.classes = 3;
    model.batch_size = 2;
    model.dataset_rows = 8;
    CHECK(
        graph_of(program::make_evaluation(program::build_mlp(model, {}), 4).value()) ==
        "83 875f4fd25e0cba9d8c1acb07480ea6eb2be6aea01c3fce49c2afa72ad6468a6c"
    );
}
