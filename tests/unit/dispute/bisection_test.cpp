// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include <core/base/integers.hpp>
#include <core/codec/borsh.hpp>
#include <core/merkle/tree.hpp>
#include <tests/unit/dispute/game.hpp>

using namespace assay;
using namespace assay::dispute;
using namespace assay::dispute::testing;

namespace {

struct Fixture {
    World world = contraction_world(96);
    ScalarReplay honest{world, false, 7};
    ScalarReplay liar{world, false, 7, {raise(2, 2, 5)}};
    Claim claim = make_claim(world, liar, false, 0, 4, 7);

    Position revealed(const Position& p) {
        const auto next = reveal(claim, p, make_reveal(claim, p, liar));
        REQUIRE(next.has_value());
        return *next;
    }
    Position played_to(Level level) {
        Position p = start_position(claim);
        while (p.level() != level) {
            p = revealed(p);
            const auto next = select(claim, p, make_selection(claim, p, honest));
            REQUIRE(next.has_value());
            p = *next;
        }
        return p;
    }
};

Position at_steps(std::uint32_t count) {
    return {
        .rounds = 0,
        .at = Bisection{AtSteps{.first_step = 0, .step_count = count, .state_before = {}, .state_after = {}}, {}}};
}

/// Played until part of the disputed level's items is left.
template <class Range>
Position played_to_range(const Claim& claim, Replay& responder, Replay& challenger) {
    Position p = start_position(claim);
    while (!std::holds_alternative<Range>(std::get<Bisection>(p.at).range)) {
        p = reveal(claim, p, make_reveal(claim, p, responder)).value();
        p = select(claim, p, make_selection(claim, p, challenger)).value();
    }
    return p;
}

}  // namespace

TEST_CASE("DSP-1: a dispute starts at steps, or at nodes when there is one step") {
    Fixture f;
    CHECK(start_position(f.claim).level() == Level::kSteps);
    Claim single = f.claim;
    single.step_count = 1;
    CHECK(start_position(single).level() == Level::kNodes);
}

TEST_CASE("DSP-2: only the party whose move it is may move") {
    Fixture f;
    const Position start = start_position(f.claim);
    CHECK(select(f.claim, start, {.child = 0, .node = {}}).error() == MoveError::kNotYourMove);
    const Position p = f.revealed(start);
    CHECK(reveal(f.claim, p, p.pending()).error() == MoveError::kNotYourMove);
    const Position end = f.played_to(Level::kProof);
    CHECK(reveal(f.claim, end, {}).error() == MoveError::kNotYourMove);
    CHECK(select(f.claim, end, {.child = 0, .node = {}}).error() == MoveError::kNotYourMove);
    CHECK(judge(f.claim, start, {}).error() == ProofError::kNotAtProof);
}

TEST_CASE("DSP-3: a level splits evenly into at most 256 children") {
    Claim claim;
    struct Row {
        std::uint32_t items;
        Split expected;
    };
    for (const Row& row :
         {Row{2, {2, 0}}, Row{25, {25, 0}}, Row{256, {256, 0}}, Row{257, {17, 4}}, Row{1000, {32, 5}},
          Row{65536, {256, 8}}, Row{65537, {33, 11}}}) {
        CAPTURE(row.items);
        const Split s = split(claim, at_steps(row.items));
        CHECK(s == row.expected);
        CHECK(s.count <= kMaxChildren);
    }
    Fixture f;
    const Position start = start_position(f.claim);
    auto children = make_reveal(f.claim, start, f.liar);
    children.push_back(children.back());
    CHECK(reveal(f.claim, start, children).error() == MoveError::kWrongCount);
    CHECK(reveal(f.claim, start, {}).error() == MoveError::kWrongCount);
}

TEST_CASE("DSP-4: the largest dispute takes 8 rounds and stays under 64 KB") {
    // 1,000 steps of 10,000 nodes over tensors of 10^6 tiles with 256 partials each.
    std::uint32_t rounds = 0;
    std::uint64_t hashes = 0;
    Claim claim;
    for (const std::uint32_t items : {1'000U, 10'000U, 1'000'000U, 256U}) {
        std::uint32_t left = items;
        while (left > 1) {
            const Split s = split(claim, at_steps(left));
            hashes += s.count;
            ++rounds;
            left = std::min(left, 1U << s.child_height);
        }
    }
    CHECK(rounds <= kMaxRounds);
    // The proof of a contraction that closes a chunk: accumulator and sum, two operands, two exponent tiles, paths.
    const std::uint64_t proof = 16'384 + 4 * (4'096 + (20 + 14) * 32);
    CHECK(hashes * 32 + proof < 65'536);
}

TEST_CASE("DSP-4: no dispute takes more than 26 transactions, whatever its node") {
    const auto rounds_for = [](std::uint64_t items) { return div_ceil<std::uint32_t>(merkle::tree_depth(items), 8); };
    constexpr std::uint64_t kTilesMax = std::uint64_t{canonical::kMaxDimension / 32} * (canonical::kMaxDimension / 32);
    constexpr std::uint64_t kPartialsMax = 1U << 24U;  // PRG-4
    const std::uint32_t kept = 3 + 1;                  // of a task's rounds, for the levels that the chain cannot size
    const std::uint32_t rounds = kMaxRounds - kept + rounds_for(kTilesMax) + rounds_for(kPartialsMax);
    CHECK(1 + 2 * rounds + 1 == 26);  // the opening, a reveal and a selection a round, the proof
}

TEST_CASE("DSP-5: the last child must be the claimed result") {
    Fixture f;
    const Position start = start_position(f.claim);
    auto children = make_reveal(f.claim, start, f.liar);
    children.back().data[0] ^= 1U;
    CHECK(reveal(f.claim, start, children).error() == MoveError::kWrongResult);

    const Position nodes = f.played_to(Level::kNodes);
    children = make_reveal(f.claim, nodes, f.liar);
    children.back().data[0] ^= 1U;
    CHECK(reveal(f.claim, nodes, children).error() == MoveError::kWrongResult);

    const Position partials = f.played_to(Level::kPartials);
    children = make_reveal(f.claim, partials, f.liar);
    children.back().data[0] ^= 1U;
    CHECK(reveal(f.claim, partials, children).error() == MoveError::kWrongResult);
}

TEST_CASE("DSP-6: children must hash to what was claimed before") {
    Fixture f;
    const Position tiles = f.played_to(Level::kTiles);
    auto children = make_reveal(f.claim, tiles, f.liar);
    children.front().data[0] ^= 1U;
    CHECK(reveal(f.claim, tiles, children).error() == MoveError::kWrongRoot);

    const World chain = chain_world(300);
    ScalarReplay liar(chain, false, 7, {flip(0, 40, 1)});
    ScalarReplay honest(chain, false, 7);
    const Claim claim = make_claim(chain, liar, false, 0, 1, 7);
    Position p = start_position(claim);
    p = *reveal(claim, p, make_reveal(claim, p, liar));
    p = *select(claim, p, make_selection(claim, p, honest));
    REQUIRE(std::holds_alternative<AtNodes>(std::get<Bisection>(p.at).range));
    children = make_reveal(claim, p, liar);
    children.front().data[0] ^= 1U;
    CHECK(reveal(claim, p, children).error() == MoveError::kWrongRoot);
}

TEST_CASE("DSP-6: the tensors under a claimed state root must fold to it, or its claimant has no move") {
    for (const std::uint32_t tensors : {1U, 2U, 5U, 200U}) {
        CAPTURE(tensors);
        const World world = wide_world(tensors, 1);
        ScalarReplay honest(world, false, 7);
        Claim claim = make_claim(world, honest, false, 0, 1, 7);
        claim.after.data[0] ^= 1U;
        Position p = played_to_range<AtNode>(claim, honest, honest);
        DisputedNode& node = std::get<AtNode>(std::get<Bisection>(p.at).range).node;
        CHECK(op_of(node.node) == canonical::Op::kCommit);
        const auto children = make_reveal(claim, p, honest);
        CHECK(reveal(claim, p, children).error() == MoveError::kWrongRoot);
        CHECK(split(claim, p).count == children.size());
        // The same tensors are the claim's when the root is theirs.
        node.claim = honest.state_root_after(0);
        CHECK(reveal(claim, p, children).has_value());
    }
}

TEST_CASE("DSP-6: the second reveal of a state's tensors is bound to the first") {
    const World world = wide_world(300, 1);
    ScalarReplay honest(world, false, 7);
    Lie lie = flip(0, static_cast<std::uint32_t>(world.step.size() - 1), 0);
    lie.tensor = 17;
    ScalarReplay liar(world, false, 7, {lie});
    const Claim claim = make_claim(world, liar, false, 0, 1, 7);
    const Position p = played_to_range<AtTensors>(claim, liar, honest);
    auto children = make_reveal(claim, p, liar);
    children.back().data[0] ^= 1U;
    CHECK(reveal(claim, p, children).error() == MoveError::kWrongRoot);
}

TEST_CASE("DSP-7: a selection beyond the children is refused") {
    Fixture f;
    const Position p = f.revealed(start_position(f.claim));
    CHECK(select(f.claim, p, {.child = 4, .node = {}}).error() == MoveError::kChildOutOfRange);
}

TEST_CASE("DSP-8: selecting a node opens the program's node, exactly then") {
    Fixture f;
    const Position steps = f.revealed(start_position(f.claim));
    const Position nodes = f.revealed(f.played_to(Level::kNodes));
    const Selection good = make_selection(f.claim, nodes, f.honest);
    REQUIRE(good.node.has_value());
    CHECK(select(f.claim, steps, {.child = 0, .node = good.node}).error() == MoveError::kNodeMissing);
    CHECK(select(f.claim, nodes, {.child = good.child, .node = {}}).error() == MoveError::kNodeMissing);
    Selection other = good;
    std::get<canonical::Node>(other.node->node).attributes[0] ^= 1U;
    CHECK(select(f.claim, nodes, other).error() == MoveError::kNodeNotInProgram);
    other = good;
    other.child = good.child + 1;
    CHECK(select(f.claim, nodes, other).error() == MoveError::kNodeNotInProgram);
    other = good;
    other.node->path.pop_back();
    CHECK(select(f.claim, nodes, other).error() == MoveError::kNodeNotInProgram);
}

TEST_CASE("DSP-9: a position survives its encoding at every level") {
    Fixture f;
    Position p = start_position(f.claim);
    while (!p.is_at_proof()) {
        CHECK(codec::encode(*codec::decode<Position>(codec::encode(p))) == codec::encode(p));
        p = f.revealed(p);
        CHECK(codec::encode(*codec::decode<Position>(codec::encode(p))) == codec::encode(p));
        p = *select(f.claim, p, make_selection(f.claim, p, f.honest));
    }
    CHECK(p.rounds == 4);
}
