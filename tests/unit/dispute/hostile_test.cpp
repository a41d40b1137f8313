// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <functional>
#include <random>
#include <set>

#include <core/codec/borsh.hpp>
#include <tests/unit/dispute/game.hpp>

using namespace assay;
using namespace assay::dispute;
using namespace assay::dispute::testing;
using canonical::DType;
using canonical::Graph;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Source;

namespace {

constexpr Shape kShape{3, 5};

std::uint32_t below(std::mt19937& random, std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); }

/// A graph of `nodes` nodes each of which reads the one before it and one further back, or the state.
World web_world(std::uint32_t nodes) {
    World world = chain_world(nodes);
    std::mt19937 random(99);
    for (std::uint32_t i = 2; i < nodes; ++i) {
        Node& node = world.step[i];
        node.op = i % 3 == 0 ? Op::kSub : Op::kMul;
        node.attributes = {};
        const std::uint32_t other = below(random, i);
        node.inputs.push_back({Source::kNode, other, DType::kF32, kShape});
        if (i % 7 == 0) {
            node.inputs[1] = {Source::kState, 0, DType::kF32, kShape};
        }
    }
    return world;
}

std::uint64_t tile_holding(Shape shape, std::uint64_t element) {
    const std::uint64_t row = element / shape.cols;
    const std::uint64_t col = element % shape.cols;
    return row / canonical::kTileDim * canonical::tile_cols(shape) + col / canonical::kTileDim;
}

/// One step with the smallest lie at `node`, told by either side. Both sides' proofs are the same.
void check_flip(const World& world, std::uint32_t node, std::uint64_t element) {
    CAPTURE(node);
    CAPTURE(element);
    ScalarReplay honest(world, false, 7);
    ScalarReplay liar(world, false, 7, {flip(0, node, element)});
    const Claim wrong = make_claim(world, liar, false, 0, 1, 7);
    const Outcome outcome = play(wrong, liar, honest, true);
    const Pinpoint at = pinpoint(outcome.position);
    CHECK(outcome.ruling == Ruling::kClaimRefuted);
    CHECK(at.node == node);
    CHECK(at.op == world.step[node].op);
    CHECK(at.tile == tile_holding(world.step[node].shape, element));
    CHECK(codec::encode(play(wrong, liar, honest, false).proof) == codec::encode(outcome.proof));
    const Claim right = make_claim(world, honest, false, 0, 1, 7);
    for (const bool challenger_proves : {false, true}) {
        CHECK(play(right, honest, liar, challenger_proves).ruling == Ruling::kClaimHolds);
    }
}

/// Every byte of a proof, or a sample of the long ones, altered: an error, or the ruling that it had.
void check_altered_proofs(const Claim& claim, const Outcome& outcome) {
    const Bytes whole = codec::encode(outcome.proof);
    std::mt19937 random(5);
    for (std::size_t at = 0; at < whole.size(); at += whole.size() < 2'000 ? 1 : 1 + random() % 60) {
        Bytes altered = whole;
        altered[at] ^= static_cast<std::uint8_t>(1U << random() % 8);
        const auto proof = codec::decode<Proof>(altered);
        if (!proof) {
            continue;
        }
        const auto ruling = judge(claim, outcome.position, *proof);
        CHECK_MESSAGE((!ruling || *ruling == outcome.ruling), "byte " << at);
    }
}

std::uint32_t first_of(const World& world, Op op) {
    std::uint32_t i = 0;
    while (world.step[i].op != op) {
        ++i;
    }
    return i;
}

/// Whether the node at `index` of a program may be selected.
bool may_be_selected(const Graph& graph, bool initialisation, std::uint32_t index) {
    Claim claim;
    claim.program = commit_program(graph, graph, 1, 4, {.rows = 10, .width = 3});
    claim.initialisation = initialisation;
    const std::vector<Hash256> children(graph.size(), claim.after);
    const auto revealed = reveal(claim, start_position(claim), children);
    REQUIRE(revealed.has_value());
    const auto selected =
        select(claim, *revealed, {index, NodeOpening{opened(graph[index]), graph_tree(graph).path(index)}});
    CHECK((selected || selected.error() == MoveError::kNodeNotInProgram));
    return selected.has_value();
}

}  // namespace

TEST_CASE(
    "DSP-10: the smallest lie at any node of a disputed step is found, whether or not it reaches the state" *
    doctest::test_suite("full")
) {
    const World world = char_world();
    std::mt19937_64 random(11);
    std::set<Op> ops;
    for (std::uint32_t node = 0; node + 1 < world.step.size(); ++node) {
        ops.insert(world.step[node].op);
        check_flip(world, node, random() % world.step[node].shape.element_count());
    }
    MESSAGE(ops.size() << " primitives");
    CHECK(ops.size() >= 19);
}

TEST_CASE("DSP-21: siblings of any earlier entry can be told from the reveals") {
    std::mt19937 random(3);
    for (const std::uint32_t nodes : {256U, 299U, 511U, 700U}) {
        const World world = web_world(nodes);
        for (const std::uint32_t node : {0U, nodes / 2, nodes - 1, below(random, nodes), below(random, nodes)}) {
            check_flip(world, node, random() % kShape.element_count());
        }
    }
}

TEST_CASE("DSP-25: an altered proof is refused or ruled as before, whoever was wrong") {
    const World world = char_world();
    for (const Op op : {Op::kBatchRows, Op::kGatherRows, Op::kScatterAddRows, Op::kContract, Op::kAdd}) {
        const std::uint32_t node = first_of(world, op);
        CAPTURE(node);
        ScalarReplay honest(world, false, 7);
        ScalarReplay liar(world, false, 7, {flip(0, node, 3)});
        const Claim right = make_claim(world, honest, false, 0, 1, 7);
        const Claim wrong = make_claim(world, liar, false, 0, 1, 7);
        check_altered_proofs(right, play(right, honest, liar, false));
        check_altered_proofs(wrong, play(wrong, liar, honest, true));
    }
    ScalarReplay honest(world, false, 7);
    Claim claim = make_claim(world, honest, false, 0, 1, 7);
    check_altered_proofs(claim, play(claim, honest, honest, true));
    ScalarReplay liar(world, false, 7, {flip(0, static_cast<std::uint32_t>(world.step.size() - 1), 3)});
    claim = make_claim(world, liar, false, 0, 1, 7);
    const Outcome refuted = play(claim, liar, honest, true);
    CHECK(refuted.ruling == Ruling::kClaimRefuted);
    check_altered_proofs(claim, refuted);
}

TEST_CASE("DSP-8: nodes that no well-formed program has cannot be selected") {
    const Input state{Source::kState, 0, DType::kF32, kShape};
    const Input first{Source::kNode, 0, DType::kF32, kShape};
    const Node fill{Op::kFill, DType::kF32, kShape, {}, {}};
    const Node relu{Op::kRelu, DType::kF32, kShape, {}, {first}};
    const Node commit{Op::kCommit, DType::kF32, {}, {}, {first}};
    const Graph good{fill, relu, commit};
    for (std::uint32_t i = 0; i < good.size(); ++i) {
        CHECK(may_be_selected(good, false, i));
        CHECK(may_be_selected(good, true, i));
    }
    Node forward = relu;
    forward.inputs[0].index = 1;
    CHECK_FALSE(may_be_selected({fill, forward, commit}, false, 1));
    Node from_state = relu;
    from_state.inputs[0] = state;
    CHECK(may_be_selected({fill, from_state, commit}, false, 1));
    CHECK_FALSE(may_be_selected({fill, from_state, commit}, true, 1));
    from_state.inputs[0].index = 1;
    CHECK_FALSE(may_be_selected({fill, from_state, commit}, false, 1));
    CHECK_FALSE(may_be_selected({fill, commit, commit}, false, 1));
    CHECK_FALSE(may_be_selected({fill, relu, relu}, false, 2));
    Node wide = commit;
    wide.inputs.push_back(first);
    CHECK_FALSE(may_be_selected({fill, relu, wide}, false, 2));
    Node batch{Op::kBatchRows, DType::kI32, {4, 3}, {}, {}};
    CHECK(may_be_selected({fill, batch, commit}, false, 1));
    CHECK_FALSE(may_be_selected({fill, batch, commit}, true, 1));
    batch.shape.cols = 4;
    CHECK_FALSE(may_be_selected({fill, batch, commit}, false, 1));
    Node unknown = relu;
    unknown.shape = {0, 5};
    CHECK_FALSE(may_be_selected({fill, unknown, commit}, false, 1));
}

TEST_CASE("DSP-9: moves and rulings refuse positions that no moves lead to") {
    const World world = contraction_world(160);
    ScalarReplay honest(world, false, 7);
    ScalarReplay liar(world, false, 7, {flip(1, 2, 0)});
    const Claim claim = make_claim(world, liar, false, 0, 2, 7);
    std::vector<Bytes> seen;
    // The lie is found at a contraction; of a claim that is right, at the last tensor of the state.
    for (ScalarReplay* responder : {&liar, &honest}) {
        const Claim played = make_claim(world, *responder, false, 0, 2, 7);
        Position p = start_position(played);
        while (!p.is_at_proof()) {
            seen.push_back(codec::encode(p));
            p = reveal(played, p, make_reveal(played, p, *responder)).value();
            seen.push_back(codec::encode(p));
            p = select(played, p, make_selection(played, p, honest)).value();
        }
        seen.push_back(codec::encode(p));
    }
    std::mt19937 random(8);
    std::size_t refused = 0;
    for (int i = 0; i < 20'000; ++i) {
        Bytes altered = seen[random() % seen.size()];
        for (std::uint32_t changes = 1 + below(random, 3); changes > 0; --changes) {
            altered[random() % altered.size()] = static_cast<std::uint8_t>(random() % 3 == 0 ? random() : random() % 6);
        }
        const auto position = codec::decode<Position>(altered);
        if (!position) {
            continue;
        }
        (void)pinpoint(*position);
        const Split s = split(claim, *position);
        CHECK(s.count <= kMaxChildren);
        refused += s.count == 0 ? 1U : 0U;
        const auto revealed = reveal(claim, *position, std::vector<Hash256>(s.count, claim.after));
        if (revealed) {
            (void)select(claim, *revealed, {s.count - 1, {}}).has_value();
        }
        (void)select(claim, *position, {below(random, 8), {}}).has_value();
        (void)judge(claim, *position, {}).has_value();
    }
    CHECK(refused > 100);
    const Claim nothing{
        .program = {},
        .dataset_root = {},
        .seed = 0,
        .initialisation = false,
        .first_step = 0,
        .step_count = 0,
        .before = {},
        .after = {}};
    CHECK(split(nothing, start_position(nothing)).count == 0);
    CHECK(reveal(nothing, start_position(nothing), {}).error() == MoveError::kNotYourMove);
}
