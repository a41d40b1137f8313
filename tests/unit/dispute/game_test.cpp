// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <random>

#include <tests/unit/dispute/game.hpp>

using namespace assay;
using namespace assay::dispute;
using namespace assay::dispute::testing;

namespace {

constexpr std::size_t kMaxDisputeBytes = 65'536;

/// The tile that holds element `element`.
std::uint64_t tile_holding(canonical::Shape shape, std::uint64_t element) {
    const std::uint64_t row = element / shape.cols;
    const std::uint64_t col = element % shape.cols;
    return row / canonical::kTileDim * canonical::tile_cols(shape) + col / canonical::kTileDim;
}

/// Both sides of one lie: told by the responder it convicts the responder, told by the challenger the challenger.
/// False when the lie did not reach the state.
bool check_lie(const World& world, bool initialisation, std::uint32_t steps, const Lie& lie, std::uint64_t element) {
    const canonical::Graph& graph = initialisation ? world.init : world.step;
    ScalarReplay honest(world, initialisation, 7);
    ScalarReplay liar(world, initialisation, 7, {lie});
    CAPTURE(lie.step);
    CAPTURE(lie.node);
    CAPTURE(element);
    const Claim wrong = make_claim(world, liar, initialisation, 0, steps, 7);
    const Claim right = make_claim(world, honest, initialisation, 0, steps, 7);
    if (wrong.after == right.after) {
        return false;  // The lie had no effect on the state: nothing to dispute.
    }
    for (const bool challenger_proves : {false, true}) {
        const Outcome outcome = play(wrong, liar, honest, challenger_proves);
        CHECK(outcome.ruling == Ruling::kClaimRefuted);
        const Pinpoint at = pinpoint(outcome.position);
        CHECK(at.step == lie.step);
        CHECK(at.node == lie.node);
        CHECK(at.op == graph[lie.node].op);
        CHECK(at.tile == tile_holding(graph[lie.node].shape, element));
        CHECK(at.partial.has_value());
        CHECK(outcome.position.rounds <= kMaxRounds);
        CHECK(outcome.bytes < kMaxDisputeBytes);
    }
    const Outcome accused = play(right, honest, liar, false);
    CHECK(accused.ruling == Ruling::kClaimHolds);
    CHECK(accused.bytes < kMaxDisputeBytes);
    return true;
}

}  // namespace

TEST_CASE("DSP-10: a lie at any node convicts whoever told it, at that node and tile" * doctest::test_suite("full")) {
    const World world = char_world();
    std::mt19937_64 random(2026);
    constexpr std::uint32_t kSteps = 2;
    std::uint32_t played = 0;
    for (std::uint32_t node = 0; node + 1 < world.step.size(); ++node) {
        const std::uint64_t element = random() % world.step[node].shape.element_count();
        const std::uint64_t step = random() % kSteps;
        const bool is_f32 = world.step[node].dtype == canonical::DType::kF32;
        const Lie lie = is_f32 ? raise(step, node, element) : flip(step, node, element);
        played += check_lie(world, false, kSteps, lie, element) ? 1U : 0U;
    }
    // A lie may fail to reach the state (a masked gradient, a rounded bit); most do not.
    MESSAGE(played << " of " << world.step.size() - 1 << " lies reached the state");
    CHECK(played > world.step.size() / 2);
}

TEST_CASE("DSP-10: a lie about what a replica sends convicts whoever told it") {
    const World world = replicas_world();
    std::uint32_t indices = 0;
    std::uint32_t values = 0;
    for (std::uint32_t node = 0; node + 1 < world.step.size(); ++node) {
        const canonical::Node& sent = world.step[node];
        const std::uint64_t last = sent.shape.element_count() - 1;
        if (sent.op == canonical::Op::kRowArgMax) {
            indices += check_lie(world, false, 2, flip(1, node, last), last) ? 1U : 0U;
        }
        // Blocks of a tensor, a column of differences.
        if (sent.op == canonical::Op::kSub && sent.shape.cols == 1 && sent.shape.rows > 3) {
            values += check_lie(world, false, 2, raise(1, node, last), last) ? 1U : 0U;
        }
    }
    CHECK(indices == 6);  // two weights and a bias of 40 elements; the other bias is exchanged whole
    CHECK(values >= 4);
}

TEST_CASE("DSP-11: a wrong initial state is a lie of the initialisation graph") {
    const World world = char_world();
    for (std::uint32_t node = 0; node + 1 < world.init.size(); ++node) {
        const std::uint64_t element = world.init[node].shape.element_count() - 1;
        CHECK(check_lie(world, true, 1, flip(0, node, element), element));
    }
}

TEST_CASE("DSP-12: contractions of several chunks are disputed partial by partial") {
    for (const std::uint32_t k : {32U, 64U, 96U, 200U}) {
        const World world = contraction_world(k);
        for (const std::uint64_t element : {0U, 33U, 1'599U}) {
            CHECK(check_lie(world, false, 3, raise(1, 2, element), element));
        }
    }
}

TEST_CASE("DSP-13: a step of more than 256 entries takes two rounds of nodes") {
    const World world = chain_world(300);
    for (const std::uint32_t node : {0U, 1U, 15U, 16U, 17U, 31U, 144U, 255U, 256U, 288U, 299U}) {
        CHECK(check_lie(world, false, 1, raise(0, node, 7), 7));
    }
}

TEST_CASE("DSP-11: an initialisation reads the tensors that the task gives, opened against their root") {
    const World world = given_world();
    const ProgramCommitment program = world.commitment();
    CHECK(program.initial_tensors == 2);
    CHECK(program.initial_root == root_of(world.initial));
    CHECK(check_lie(world, true, 1, flip(0, 0, 7), 7));
    ScalarReplay honest(world, true, 7);
    CHECK(make_claim(world, honest, true, 0, 1, 7).before == program.initial_root);
    // A responder who started from other parameters than those given: its tiles lead to no state root of the task's.
    World other = world;
    other.initial[1].data[5] ^= 1U;
    ScalarReplay cheat(other, true, 7);
    Claim claim = make_claim(world, cheat, true, 0, 1, 7);
    for (const bool challenger_proves : {false, true}) {
        Position p = start_position(claim);
        std::vector<NodeReveal> reveals;
        while (!p.is_at_proof()) {
            const auto children = make_reveal(claim, p, cheat);
            if (const auto first = first_node_of(p)) {
                reveals.push_back(
                    {.first_node = *first, .child_height = split(claim, p).child_height, .children = children}
                );
            }
            p = reveal(claim, p, children).value();
            p = select(claim, p, make_selection(claim, p, honest)).value();
        }
        CHECK(pinpoint(p).node == 0U);
        const auto ruling = judge(claim, p, make_proof(claim, p, challenger_proves ? honest : cheat, reveals));
        if (challenger_proves) {
            CHECK(ruling.value() == Ruling::kClaimRefuted);
        } else {
            CHECK(ruling.error() == ProofError::kBadTilePath);
        }
    }
}

TEST_CASE("DSP-11: an initialisation that only commits to what the task gives is disputed in one round of each level") {
    World world = given_world();
    const canonical::Shape shape = world.initial[1].shape;
    world.init = {
        {.op = canonical::Op::kCommit,
         .dtype = canonical::DType::kF32,
         .shape = {},
         .attributes = {},
         .inputs = {
             {.source = canonical::Source::kState, .index = 1, .dtype = canonical::DType::kF32, .shape = shape}}}};
    world.state = {world.initial[1]};
    World other = world;
    other.initial[1].data[5] ^= 1U;
    ScalarReplay honest(world, true, 7);
    ScalarReplay cheat(other, true, 7);
    const Claim claim = make_claim(world, cheat, true, 0, 1, 7);
    Position p = start_position(claim);
    std::vector<NodeReveal> reveals;
    while (!p.is_at_proof()) {
        const auto children = make_reveal(claim, p, cheat);
        if (const auto first = first_node_of(p)) {
            reveals.push_back({.first_node = *first, .child_height = split(claim, p).child_height, .children = children}
            );
        }
        p = reveal(claim, p, children).value();
        p = select(claim, p, make_selection(claim, p, honest)).value();
    }
    CHECK(p.rounds == 2);
    CHECK(judge(claim, p, make_proof(claim, p, honest, reveals)).value() == Ruling::kClaimRefuted);
}

TEST_CASE("DSP-4: a lie about the state root alone is found among its tensors, in a dispute of little size") {
    struct Row {
        std::uint32_t tensors;
        std::uint32_t depth;
    };
    for (const Row& row : {Row{1, 1}, Row{2, 1}, Row{170, 16}, Row{256, 2}, Row{257, 2}, Row{1'024, 9}}) {
        CAPTURE(row.tensors);
        const World world = wide_world(row.tensors, row.depth);
        const auto last = static_cast<std::uint32_t>(world.step.size() - 1);
        ScalarReplay honest(world, false, 7);
        std::size_t bytes = 0;
        for (const std::uint32_t tensor : {0U, row.tensors / 2, row.tensors - 1}) {
            Lie lie = flip(0, last, 1);
            lie.tensor = tensor;
            ScalarReplay liar(world, false, 7, {lie});
            const Claim claim = make_claim(world, liar, false, 0, 1, 7);
            const Outcome outcome = play(claim, liar, honest, true);
            CHECK(outcome.ruling == Ruling::kClaimRefuted);
            CHECK(pinpoint(outcome.position).node == last);
            CHECK(pinpoint(outcome.position).tensor == tensor);
            CHECK(outcome.position.rounds <= kMaxRounds);
            CHECK(outcome.bytes < kMaxDisputeBytes / 2);
            bytes = outcome.bytes;
        }
        MESSAGE(row.tensors << " tensors, " << world.step.size() << " nodes: " << bytes << " bytes");
    }
}

TEST_CASE("DSP-14: a skipped segment is refuted though every intermediate root repeats") {
    const World world = char_world();
    ScalarReplay honest(world, false, 7);
    // State outputs replaced by the state before, at both steps.
    std::vector<Lie> lies;
    const auto& outputs = world.step.back().inputs;
    for (std::uint64_t step = 0; step < 2; ++step) {
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (outputs[i].source == canonical::Source::kNode) {
                lies.push_back(
                    {.step = step,
                     .node = outputs[i].index,
                     .alter = [value = world.state[i]](canonical::Tensor& t) { t = value; }}
                );
            }
        }
    }
    ScalarReplay lazy(world, false, 7, lies);
    const Claim claim = make_claim(world, lazy, false, 0, 2, 7);
    CHECK(claim.before == claim.after);
    const Outcome outcome = play(claim, lazy, honest, true);
    CHECK(outcome.ruling == Ruling::kClaimRefuted);
    CHECK(pinpoint(outcome.position).step == 0);
}
