// SPDX-License-Identifier: Apache-2.0
#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <tests/fuzz/dispute_shapes.hpp>
#include <tests/fuzz/seeds.hpp>
#include <tests/unit/dispute/game.hpp>

namespace assay::fuzz {
namespace {

using namespace dispute::testing;
using canonical::Op;

std::uint32_t first_node(const canonical::Graph& graph, Op op) {
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        if (graph[i].op == op) {
            return i;
        }
    }
    return 0;
}

/// A dispute about a lie in the first node of `op`, played to its proof.
void write_game(const CorpusWriter& out, const World& world, Op op, std::uint64_t element) {
    const bool initialisation = op == Op::kUniform;
    const std::uint32_t node = first_node(initialisation ? world.init : world.step, op);
    ScalarReplay honest(world, initialisation, 7);
    ScalarReplay liar(world, initialisation, 7, {flip(0, node, element)});
    const dispute::Claim claim = make_claim(world, liar, initialisation, 0, 1, 7);
    const Outcome outcome = play(claim, liar, honest, true);
    const JudgeCase c{.claim = claim, .position = outcome.position, .proof = outcome.proof};
    ASSERT(op_of(outcome.position.node()->node) == op);
    const std::string name = to_string(op);
    out.write("judge", name, codec::encode(c));
    if (op == Op::kBatchRows || op == Op::kContract) {
        out.write("proof", name, codec::encode(outcome.proof));
    }
    out.write("position", name, codec::encode(outcome.position));
}

/// A dispute about a state root that the step's nodes do not give.
void write_commit_game(const CorpusWriter& out) {
    const World world = wide_world(5, 1);
    ScalarReplay honest(world, false, 7);
    Lie lie = flip(0, static_cast<std::uint32_t>(world.step.size() - 1), 1);
    lie.tensor = 2;
    ScalarReplay liar(world, false, 7, {lie});
    const dispute::Claim claim = make_claim(world, liar, false, 0, 1, 7);
    const Outcome outcome = play(claim, liar, honest, true);
    ASSERT(std::holds_alternative<dispute::EntryProof>(outcome.proof));
    out.write("judge", "commit", codec::encode(JudgeCase{claim, outcome.position, outcome.proof}));
    out.write("proof", "commit", codec::encode(outcome.proof));
    out.write("position", "commit", codec::encode(outcome.position));
}

/// A position with children pending, and a selection with a node.
void write_moves(const CorpusWriter& out, const World& world) {
    ScalarReplay liar(world, false, 7, {flip(1, 0, 0)});
    const dispute::Claim claim = make_claim(world, liar, false, 0, 4, 7);
    dispute::Position p = dispute::start_position(claim);
    for (const std::string name : {"steps", "nodes"}) {
        const auto revealed = dispute::reveal(claim, p, dispute::make_reveal(claim, p, liar));
        out.write("position", name, codec::encode(revealed.value()));
        const dispute::Selection selection = dispute::make_selection(claim, revealed.value(), liar);
        out.write("position", name + "_selection", codec::encode(selection));
        p = dispute::select(claim, revealed.value(), selection).value();
    }
}

void write_script(const CorpusWriter& out, const std::string& name, const World& world) {
    DisputeScript script;
    script.claim.step_count = 1000;
    script.graph = world.step;
    for (std::uint32_t i = 0; i < 12; ++i) {
        script.children.push_back(i * 7 + 2);
        script.noise.push_back(static_cast<std::uint8_t>(i + 1));
    }
    out.write("dispute", name, codec::encode(script));
}

}  // namespace

void write_trace_seeds(const CorpusWriter& out) {
    const World model = char_world();
    for (const Op op : {Op::kBatchRows, Op::kGatherRows, Op::kScatterAddRows, Op::kUniform}) {
        write_game(out, model, op, 3);
    }
    const World contraction = contraction_world(96);
    write_game(out, contraction, Op::kContract, 5);
    write_game(out, contraction, Op::kRowMax, 1);
    write_commit_game(out);
    write_moves(out, contraction);
    write_script(out, "contraction", contraction);
    write_script(out, "chain", chain_world(260));
    write_script(out, "wide", wide_world(300, 1));
    World large = contraction_world(96);
    large.step[0] = {.op = Op::kFill, .dtype = canonical::DType::kF32, .shape = {1U << 22U, 1U << 12U}};
    large.step.erase(large.step.begin() + 1, large.step.end() - 1);
    write_script(out, "many_tiles", large);
}

}  // namespace assay::fuzz
