// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>

#include <core/dispute/accuser.hpp>
#include <core/dispute/rules.hpp>
#include <core/dispute/statement.hpp>
#include <tests/unit/dispute/game.hpp>

using namespace assay;
using namespace assay::dispute;
using namespace assay::dispute::testing;
using canonical::PartRange;
using canonical::Source;

namespace {

constexpr std::uint64_t kSeed = 7;

Hash256 some_hash(std::uint8_t fill) {
    Hash256 out;
    out.data.fill(fill);
    return out;
}

/// A statement of some pieces, of which one is evidence.
StatedPiece state(const Claim& segment, std::uint64_t step, const Piece& piece) {
    const Piece other{
        .source = Source::kNode,
        .index = 3,
        .part = {},
        .row = 0,
        .col = 0,
        .rows = 1,
        .cols = 1,
        .width = 4,
        .values = {}};
    const merkle::Tree tree({piece_leaf(other), piece_leaf(piece), piece_leaf(other)});
    return {
        .statement =
            {.task = some_hash(1),
             .before = segment.before,
             .session = some_hash(2),
             .step = step,
             .pieces = 3,
             .root = tree.root()},
        .piece = piece,
        .index = 1,
        .path = tree.path(1)};
}

struct Place {
    std::uint32_t row = 0;
    std::uint32_t col = 0;
};

/// A piece around a place, as `replay` has it.
Piece tell(
    const Claim& segment, std::uint64_t step, Source source, std::uint32_t index, const Place& at,
    const canonical::TensorType& type, Replay& replay
) {
    Piece piece{
        .source = source,
        .index = index,
        .part = {},
        .row = at.row,
        .col = at.col,
        .rows = 1,
        .cols = 1,
        .width = static_cast<std::uint8_t>(size_of(type.dtype)),
        .values = {}};
    if (at.row % 32 > 0) {
        piece.row -= 1;
        piece.rows = 2;
    }
    if (at.col % 32 < 31 && at.col + 1 < type.shape.cols) {
        piece.cols = 2;
    }
    piece.values = own_values(segment, step, piece, replay).value();
    return piece;
}

canonical::TensorType type_of(const canonical::Node& node) { return {.dtype = node.dtype, .shape = node.shape}; }

/// The game about a piece that its author told, as each party's own execution has it.
Ruling judge_piece(const Claim& segment, std::uint64_t step, const Piece& told, Replay& accuser, Replay& author) {
    REQUIRE(own_values(segment, step, told, accuser) != told.values);
    const Contradiction shown = make_contradiction(segment, state(segment, step, told), accuser);
    const auto claim = make_accusation(segment, shown);
    REQUIRE(claim.has_value());
    REQUIRE(claim->has_value());
    Ruling ruling = Ruling::kClaimHolds;
    for (const bool challenger_proves : {false, true}) {
        const Outcome outcome = play(**claim, accuser, author, challenger_proves);
        CHECK(outcome.position.rounds <= kMaxRounds);
        ruling = outcome.ruling;
    }
    return ruling;
}

/// A part of a node's tile as `replay` has it, without the upper bytes of sums.
Piece tell_part(
    const Claim& segment, std::uint64_t step, std::uint32_t node, const canonical::PartRange& range, const Place& at,
    Replay& replay
) {
    const bool is_sum =
        replay.graph()[node].op != canonical::Op::kRowExponent && replay.graph()[node].op != canonical::Op::kRowMax;
    Piece piece{
        .source = Source::kNode,
        .index = node,
        .part = range,
        .row = at.row,
        .col = at.col,
        .rows = 1,
        .cols = 1,
        .width = static_cast<std::uint8_t>(is_sum ? 7 : 4),
        .values = {}};
    piece.values = own_values(segment, step, piece, replay).value();
    return piece;
}

/// A part of the partials, with gaps where there is room for them.
PartRange some_part(std::uint32_t partials, std::mt19937_64& random) {
    const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
    const std::uint32_t first = below(partials - 1);
    const std::uint32_t left = partials - first;
    if (left < 3) {
        return PartRange::consecutive(first, 1 + below(left));
    }
    const std::uint32_t run = 1 + below(left - 2);
    const std::uint32_t period = run + 1 + below(left - run - 1);
    std::uint32_t count = run + 1;
    const auto fits = [&](std::uint32_t more) {
        return PartRange{.first = first, .count = more, .run = run, .period = period}.partial(more - 1) < partials;
    };
    while (fits(count + 1) && below(4) != 0) {
        ++count;
    }
    return {.first = first, .count = count, .run = run, .period = period};
}

std::uint32_t first_product(const World& world) {
    std::uint32_t node = 0;
    while (world.step[node].op != canonical::Op::kContract) {
        ++node;
    }
    return node;
}

}  // namespace

TEST_CASE("STM-5: who states a wrong value of any node is convicted, and who denies a right one") {
    const World world = char_world();
    std::mt19937_64 random(1);
    constexpr std::uint32_t kSteps = 3;
    for (std::uint32_t node = 0; node + 1 < world.step.size(); node += 3) {
        const canonical::Shape shape = world.step[node].shape;
        const std::uint64_t at = random() % shape.element_count();
        const Place place{
            .row = static_cast<std::uint32_t>(at / shape.cols), .col = static_cast<std::uint32_t>(at % shape.cols)};
        const std::uint64_t step = random() % kSteps;
        CAPTURE(node);
        CAPTURE(step);
        ScalarReplay honest(world, false, kSeed);
        ScalarReplay liar(world, false, kSeed, {flip(step, node, at)});
        const Claim segment = make_claim(world, honest, false, 0, kSteps, kSeed);
        const canonical::TensorType type = type_of(world.step[node]);
        const Piece wrong = tell(segment, step, Source::kNode, node, place, type, liar);
        const Piece right = tell(segment, step, Source::kNode, node, place, type, honest);
        CHECK(judge_piece(segment, step, wrong, honest, liar) == Ruling::kClaimHolds);
        CHECK(judge_piece(segment, step, wrong, honest, honest) == Ruling::kClaimHolds);
        CHECK(judge_piece(segment, step, right, liar, honest) == Ruling::kClaimRefuted);
    }
}

TEST_CASE("STM-6: a wrong part of a reduction convicts its author, and a right one who denies it") {
    const World chars = char_world();
    const World long_product = contraction_world(300);
    std::set<canonical::Op> seen;
    bool has_runs = false;
    std::mt19937_64 random(2);
    for (const World* world : {&chars, &long_product, &long_product, &long_product}) {
        ScalarReplay honest(*world, false, kSeed);
        const Claim segment = make_claim(*world, honest, false, 0, 2, kSeed);
        for (std::uint32_t node = 0; node + 1 < world->step.size(); ++node) {
            const canonical::Node& n = world->step[node];
            const std::uint32_t partials = canonical::has_parts(n.op) ? canonical::partial_count(n, 0) : 0;
            if (partials < 2) {
                continue;
            }
            seen.insert(n.op);
            CAPTURE(node);
            const canonical::PartRange range = some_part(partials, random);
            has_runs = has_runs || range.period != 0;
            const Place at{
                .row = static_cast<std::uint32_t>(random() % std::min(32U, n.shape.rows)),
                .col = static_cast<std::uint32_t>(random() % std::min(32U, n.shape.cols))};
            const Piece right = tell_part(segment, 1, node, range, at, honest);
            Piece wrong = right;
            wrong.values = some_hash(8);
            CHECK(judge_piece(segment, 1, wrong, honest, honest) == Ruling::kClaimHolds);

            // A lying accuser: the part is right, and it claims another.
            Contradiction lie = make_contradiction(segment, state(segment, 1, right), honest);
            CHECK(make_accusation(segment, lie).error() == StatementError::kNoContradiction);
            for (auto& byte : std::get<PartEvidence>(lie.evidence).accumulator.data) {
                byte ^= 1U;
            }
            const auto claim = make_accusation(segment, lie);
            REQUIRE(claim.has_value());
            const Outcome outcome = play(**claim, honest, honest, true);
            CHECK(outcome.ruling == Ruling::kClaimRefuted);
            const Pinpoint pinned = pinpoint(outcome.position);
            CHECK(pinned.step == 1);
            CHECK(pinned.node == node);
            REQUIRE(pinned.partial.has_value());
            CHECK(range.contains(*pinned.partial));
        }
    }
    CHECK(has_runs);
    CHECK(seen.contains(canonical::Op::kContract));
    CHECK(seen.contains(canonical::Op::kRowSum));
    CHECK(seen.contains(canonical::Op::kRowExponent));
    CHECK(seen.contains(canonical::Op::kScatterAddRows));
}

TEST_CASE("STM-4: a wrong value of the state is shown by the state, at a segment's start without a game") {
    const World world = char_world();
    ScalarReplay honest(world, false, kSeed);
    const Claim segment = make_claim(world, honest, false, 0, 3, kSeed);
    const Place place{.row = 33, .col = 2};
    const canonical::TensorType type{.dtype = world.state[0].dtype, .shape = world.state[0].shape};
    for (const std::uint64_t step : {0U, 2U}) {
        Piece told = tell(segment, step, Source::kState, 0, place, type, honest);
        told.values = some_hash(8);
        const Contradiction shown = make_contradiction(segment, state(segment, step, told), honest);
        const auto claim = make_accusation(segment, shown);
        REQUIRE(claim.has_value());
        CHECK(claim->has_value() == (step > 0));
        if (claim->has_value()) {
            CHECK(play(**claim, honest, honest, true).ruling == Ruling::kClaimHolds);
        }
        Contradiction other_state = shown;
        other_state.state_root = some_hash(9);
        CHECK(make_accusation(segment, other_state).error() == StatementError::kNotOpened);
    }
    // Whoever claims another state loses the game.
    ScalarReplay liar(world, false, kSeed, {raise(0, 5, 1)});
    const Piece right = tell(segment, 2, Source::kState, 0, place, type, honest);
    REQUIRE(own_values(segment, 2, right, liar) != right.values);
    const auto claim = make_accusation(segment, make_contradiction(segment, state(segment, 2, right), liar));
    REQUIRE(claim.has_value());
    CHECK(play(**claim, liar, honest, true).ruling == Ruling::kClaimRefuted);
}

TEST_CASE("STM-4: evidence that does not belong together is refused") {
    const World world = char_world();
    ScalarReplay honest(world, false, kSeed);
    const Claim segment = make_claim(world, honest, false, 0, 3, kSeed);
    const std::uint32_t node = 20;
    const canonical::TensorType type = type_of(world.step[node]);
    const Piece right = tell(segment, 1, Source::kNode, node, {.row = 1, .col = 0}, type, honest);
    Piece told = right;
    told.values = some_hash(8);
    const Contradiction good = make_contradiction(segment, state(segment, 1, told), honest);
    REQUIRE(make_accusation(segment, good).has_value());
    const auto refused = [&](auto alter) {
        Contradiction bad = good;
        alter(bad);
        const auto claim = make_accusation(segment, bad);
        return claim ? std::optional<StatementError>() : std::optional(claim.error());
    };
    const auto restated = [&](auto alter) {
        return refused([&](auto& c) {
            Piece piece = told;
            alter(piece);
            c.stated = state(segment, 1, piece);
        });
    };
    const auto opened = [&](auto alter) {
        return refused([&](auto& c) { alter(std::get<OutputEvidence>(c.evidence)); });
    };
    using E = StatementError;
    CHECK(refused([](auto& c) { c.stated.piece.values = some_hash(7); }) == E::kNotStated);
    CHECK(refused([](auto& c) { c.stated.index = 0; }) == E::kNotStated);
    CHECK(refused([](auto& c) { c.stated.statement.pieces = 2; }) == E::kNotStated);
    CHECK(restated([](Piece& p) { p.rows = 0; }) == E::kNotStated);
    CHECK(restated([](Piece& p) { p.cols = 33; }) == E::kNotStated);
    CHECK(restated([](Piece& p) { p.width = 9; }) == E::kNotStated);
    CHECK(restated([](Piece& p) { p.part = PartRange::consecutive(0, 0); }) == E::kNotStated);
    CHECK(restated([](Piece& p) { p.width = 2; }) == E::kNotOpened);
    CHECK(restated([](Piece& p) { p.row = 1U << 30U; }) == E::kNotOpened);
    CHECK(restated([](Piece& p) { p.index = 21; }) == E::kNotOpened);
    CHECK(restated([](Piece& p) { p.index = 0xffffffffU; }) == E::kNotOpened);
    CHECK(restated([](Piece& p) { p.source = Source::kState; }) == E::kNotOpened);
    CHECK(restated([](Piece& p) { p.part = PartRange::consecutive(0, 1); }) == E::kNotOpened);
    CHECK(refused([](auto& c) { c.stated.statement.step = 3; }) == E::kWrongStep);
    CHECK(refused([](auto& c) { c.stated.statement.before = some_hash(4); }) == E::kWrongStep);
    CHECK(opened([](OutputEvidence& e) { e.trace_root = some_hash(4); }) == E::kNotOpened);
    CHECK(opened([](OutputEvidence& e) { e.opening.tile.data[9] ^= 1U; }) == E::kNotOpened);
    CHECK(opened([](OutputEvidence& e) { e.type.shape.rows += 1; }) == E::kNotOpened);
    CHECK(opened([](OutputEvidence& e) { e.opening.tile_path.push_back({}); }) == E::kNotOpened);
    CHECK(refused([&](auto& c) {
              const auto opening = std::get<OutputEvidence>(c.evidence).opening;
              c.evidence = StateEvidence{.type = type, .opening = opening};
          }) == E::kNotOpened);
    CHECK(refused([&](auto& c) { c.stated = state(segment, 1, right); }) == E::kNoContradiction);
}

TEST_CASE("STM-4: a part is one of the program's node, within its partials") {
    const World world = contraction_world(300);
    ScalarReplay honest(world, false, kSeed);
    const Claim segment = make_claim(world, honest, false, 0, 2, kSeed);
    const auto range = PartRange::consecutive(2, 3);
    Piece told = tell_part(segment, 1, first_product(world), range, {.row = 33, .col = 1}, honest);
    told.values = some_hash(8);
    const Contradiction good = make_contradiction(segment, state(segment, 1, told), honest);
    REQUIRE(make_accusation(segment, good).has_value());
    using E = StatementError;
    const auto refused = [&](auto alter) {
        Contradiction bad = good;
        alter(bad);
        bad.stated = state(segment, 1, bad.stated.piece);
        const auto claim = make_accusation(segment, bad);
        return claim ? std::optional<StatementError>() : std::optional(claim.error());
    };
    const auto with_part = [&](const PartRange& part) { return refused([&](auto& c) { c.stated.piece.part = part; }); };
    CHECK(with_part(PartRange::consecutive(2, 9)) == E::kNotInProgram);
    CHECK(with_part({.first = 2, .count = 3, .run = 1, .period = 4}) == E::kNotInProgram);
    CHECK(with_part(PartRange::consecutive(0xffffffffU, 1)) == E::kNotInProgram);
    CHECK(with_part(PartRange::consecutive(0xffffffffU, 2)) == E::kNotStated);
    CHECK(with_part(PartRange::consecutive(2, 0)) == E::kNotStated);
    CHECK(with_part({.first = 2, .count = 3, .run = 0, .period = 0}) == E::kNotStated);
    CHECK(with_part({.first = 2, .count = 3, .run = 2, .period = 2}) == E::kNotStated);
    // Other partials than those of the accumulator: STM-6 has the accused bisect it.
    CHECK(with_part({.first = 2, .count = 3, .run = 2, .period = 3}) == std::nullopt);
    CHECK(refused([](auto& c) { c.stated.piece.index = 0; }) == E::kNotInProgram);
    CHECK(refused([](auto& c) { c.stated.piece.part.reset(); }) == E::kNotOpened);
    CHECK(refused([](auto& c) { c.stated.piece.row = 40; }) == E::kNotOpened);
    CHECK(refused([](auto& c) { std::get<PartEvidence>(c.evidence).accumulator.data.resize(8); }) == E::kNotOpened);
    CHECK(refused([](auto& c) { c.stated.piece.width = 8; }) == std::nullopt);
}

TEST_CASE("STM-7: two values of one rectangle, signed by one member, need no game") {
    const World world = char_world();
    ScalarReplay honest(world, false, kSeed);
    const Claim segment = make_claim(world, honest, false, 0, 3, kSeed);
    const Piece one{
        .source = Source::kNode,
        .index = 4,
        .part = {},
        .row = 0,
        .col = 0,
        .rows = 2,
        .cols = 2,
        .width = 4,
        .values = some_hash(1)};
    Piece other = one;
    other.values = some_hash(2);
    const auto first = state(segment, 1, one);
    const auto second = state(segment, 1, other);
    CHECK(check_equivocation(first, second).has_value());
    using E = StatementError;
    CHECK(check_equivocation(first, first).error() == E::kNoContradiction);
    CHECK(check_equivocation(first, state(segment, 2, other)).error() == E::kWrongStep);
    Piece elsewhere = other;
    elsewhere.index = 5;
    CHECK(check_equivocation(first, state(segment, 1, elsewhere)).error() == E::kWrongStep);
    elsewhere = other;
    elsewhere.part = PartRange::consecutive(0, 1);
    CHECK(check_equivocation(first, state(segment, 1, elsewhere)).error() == E::kWrongStep);
    auto restarted = second;
    restarted.statement.session = some_hash(5);
    CHECK(check_equivocation(first, restarted).error() == E::kWrongStep);
    auto forged = second;
    forged.piece.values = some_hash(3);
    CHECK(check_equivocation(first, forged).error() == E::kNotStated);
}

TEST_CASE("STM-6: a part cannot be selected where the claim has none, or before all of the step is agreed") {
    const World world = contraction_world(300);
    ScalarReplay honest(world, false, kSeed);
    const Claim plain = make_claim(world, honest, false, 0, 1, kSeed);
    const auto revealed = reveal(plain, start_position(plain), make_reveal(plain, start_position(plain), honest));
    REQUIRE(revealed.has_value());
    const auto children = static_cast<std::uint32_t>(revealed->pending().size());
    const Selection part{.child = children, .node = open_node(world.step, 2)};
    CHECK(select(plain, *revealed, part).error() == MoveError::kChildOutOfRange);

    const std::uint32_t node = first_product(world);
    const Claim segment = make_claim(world, honest, false, 0, 2, kSeed);
    const auto range = PartRange::consecutive(2, 3);
    Piece wrong = tell_part(segment, 1, node, range, {.row = 1, .col = 1}, honest);
    wrong.values = some_hash(8);
    const auto accusation = make_accusation(segment, make_contradiction(segment, state(segment, 1, wrong), honest));
    REQUIRE(accusation.has_value());
    const Claim& claim = accusation->value();
    const Position start = start_position(claim);
    const auto steps = reveal(claim, start, make_reveal(claim, start, honest));
    REQUIRE(steps.has_value());
    const Selection early{.child = 2, .node = open_node(world.step, node)};
    CHECK(select(claim, *steps, early).error() == MoveError::kChildOutOfRange);
    const auto last = select(claim, *steps, {.child = 1, .node = {}});
    REQUIRE(last.has_value());
    // STM-5: another trace than the one of the evidence is refused.
    ScalarReplay liar(world, false, kSeed, {flip(1, 0, 1)});
    CHECK(reveal(claim, *last, make_reveal(claim, *last, liar)).error() == MoveError::kWrongRoot);
    const auto own = make_reveal(claim, *last, honest);
    const auto nodes = reveal(claim, *last, own);
    REQUIRE(nodes.has_value());
    const auto count = static_cast<std::uint32_t>(own.size());
    const auto selected = [&](std::uint32_t child, std::optional<std::uint32_t> opened) {
        Selection selection{.child = child, .node = {}};
        if (opened) {
            selection.node = open_node(world.step, *opened);
        }
        return select(claim, *nodes, selection);
    };
    CHECK(selected(count, std::nullopt).error() == MoveError::kNodeMissing);
    CHECK(selected(count, 0).error() == MoveError::kNodeNotInProgram);
    CHECK(selected(count + 1, node).error() == MoveError::kChildOutOfRange);
    const auto at_part = selected(count, node);
    REQUIRE(at_part.has_value());
    CHECK(at_part->level() == Level::kPartials);
    CHECK(split(claim, *at_part).count == 3);
}
