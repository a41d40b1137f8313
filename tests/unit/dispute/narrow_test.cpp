// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <map>

#include <tests/unit/dispute/game.hpp>

using namespace assay;
using namespace assay::dispute;
using namespace assay::dispute::testing;
using canonical::DType;
using canonical::Op;

namespace {

constexpr std::uint32_t kSteps = 3;
constexpr std::uint64_t kLast = kSteps - 1;  // what a lie changes is in the state that is claimed

/// Plays a dispute about a lie by each of the two. Returns where it ended, or nothing when the lie did not reach the
/// state.
std::optional<Pinpoint> disputed(const World& world, const Lie& lie) {
    ScalarReplay honest(world, false, 7);
    ScalarReplay liar(world, false, 7, {lie});
    const Claim wrong = make_claim(world, liar, false, 0, kSteps, 7);
    const Claim right = make_claim(world, honest, false, 0, kSteps, 7);
    if (wrong.after == right.after) {
        return std::nullopt;
    }
    const Outcome own = play(wrong, liar, honest, false);
    const Outcome others = play(wrong, liar, honest, true);
    CHECK(own.ruling == Ruling::kClaimRefuted);
    CHECK(others.ruling == Ruling::kClaimRefuted);
    CHECK(play(right, honest, liar, false).ruling == Ruling::kClaimHolds);
    CHECK(play(right, honest, liar, true).ruling == Ruling::kClaimHolds);
    return pinpoint(others.position);
}

}  // namespace

TEST_CASE("NUM-39, NUM-40: a lie about what is narrowed or widened ends at that node, and convicts whoever told it") {
    for (const program::Moments moments : {program::Moments::kBf16, program::Moments::kInt8}) {
        const World world = moments_world(moments);
        std::map<std::pair<Op, DType>, int> ended;
        for (std::uint32_t node = 0; node + 1 < world.step.size(); ++node) {
            const canonical::Node& n = world.step[node];
            if (n.op != Op::kNarrow && n.op != Op::kWiden) {
                continue;
            }
            CAPTURE(node);
            // The last element lies in the last tile, of which most is padding.
            const auto at = disputed(world, flip(kLast, node, n.shape.element_count() - 1));
            if (at) {
                CHECK(at->step == kLast);
                CHECK(at->node == node);
                CHECK(at->op == n.op);
                CHECK(at->tile == canonical::tile_count(n.shape) - 1);
                ++ended[{n.op, n.dtype}];
            }
        }
        const bool is_byte = moments == program::Moments::kInt8;
        CHECK(ended[{Op::kNarrow, is_byte ? DType::kI8 : DType::kBf16}] >= 4);
        CHECK(ended[{Op::kWiden, is_byte ? DType::kI32 : DType::kF32}] >= 2);
        CHECK(ended.size() == 2);
    }
}

TEST_CASE("DSP-4: a lie about a state root alone ends at the narrow tensor whose tile is another") {
    for (const program::Moments moments : {program::Moments::kBf16, program::Moments::kInt8}) {
        const World world = moments_world(moments);
        const auto commit = static_cast<std::uint32_t>(world.step.size() - 1);
        int narrow = 0;
        for (std::uint32_t tensor = 0; tensor < world.state.size(); ++tensor) {
            if (!canonical::is_narrow(world.state[tensor].dtype)) {
                continue;
            }
            CAPTURE(tensor);
            Lie lie = flip(kLast, commit, world.state[tensor].shape.element_count() - 1);
            lie.tensor = tensor;
            const auto at = disputed(world, lie);
            REQUIRE(at.has_value());
            CHECK(at->node == commit);
            CHECK(at->tensor == tensor);
            ++narrow;
        }
        CHECK(narrow == (moments == program::Moments::kInt8 ? 4 : 12));
    }
}

TEST_CASE("DSP-20: a tile of a narrow tensor that has another length or type is no operand") {
    const canonical::Shape shape{40, 70};
    for (const DType dtype : {DType::kBf16, DType::kI8}) {
        canonical::Node node{Op::kWiden, dtype == DType::kBf16 ? DType::kF32 : DType::kI32, shape, {}, {}, {}};
        node.inputs.push_back({canonical::Source::kState, 0, dtype, shape});
        const auto judged = [&](canonical::Tile tile) {
            return canonical::execute_partial(node, 5, 0, {}, {.before = {}, .tiles = {std::move(tile)}}).has_value();
        };
        CHECK(judged(canonical::make_tile(dtype)));
        CHECK_FALSE(judged(canonical::make_tile(DType::kF32)));
        CHECK_FALSE(judged(canonical::make_tile(dtype == DType::kBf16 ? DType::kI8 : DType::kBf16)));
        canonical::Tile longer = canonical::make_tile(dtype);
        longer.data.push_back(0);
        CHECK_FALSE(judged(longer));
        canonical::Tile shorter = canonical::make_tile(dtype);
        shorter.data.pop_back();
        CHECK_FALSE(judged(shorter));
    }
}
