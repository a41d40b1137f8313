// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <tests/unit/group/group_runs.hpp>
#include <verifier/plan/message.hpp>
#include <verifier/plan/plan.hpp>

using namespace assay;
using namespace assay::group::testing;
using canonical::Op;
using dispute::testing::ScalarReplay;

namespace {

constexpr std::uint32_t kSteps = 2;

// What crossed in a run, and what it cost to have it signed.
struct Total {
    group::StatementCost cost;
    std::uint64_t ledger_bytes = 0;
};

Total total_of(const GroupRun& run) {
    Total out;
    for (const group::StatementCost& cost : run.costs) {
        out.cost.messages += cost.messages;
        out.cost.pieces += cost.pieces;
        out.cost.value_bytes += cost.value_bytes;
        out.cost.signature_bytes += cost.signature_bytes;
        out.cost.time += cost.time;
    }
    for (const auto& ledger : run.ledgers) {
        out.ledger_bytes = std::max(out.ledger_bytes, ledger->bytes());
    }
    return out;
}

// Which operations had parts that were told.
void note_parts(const GroupRun& run, const Model& model, std::set<Op>& seen) {
    for (const auto& ledger : run.ledgers) {
        for (const auto& told : ledger->told(0)) {
            for (const plan::MessagePiece& piece : told->message->pieces) {
                if (piece.part) {
                    seen.insert(model.program.step[piece.index].op);
                }
            }
        }
    }
}

void check_honest(
    const Model& model, const std::vector<std::pair<const char*, std::uint32_t>>& layouts, std::set<Op>& seen
) {
    ScalarReplay replay(model.world, false, kSeed);
    const dispute::Claim segment = dispute::testing::make_claim(model.world, replay, false, 0, kSteps, kSeed);
    for (const auto& [text, ranks] : layouts) {
        const std::string name = text;
        CAPTURE(model.name);
        CAPTURE(name);
        const GroupRun run = run_group(model, *plan::decode_layout(name, ranks), kSteps);
        for (const std::string& failure : run.failures) {
            CHECK(failure == std::string());
        }
        REQUIRE(run.root.has_value());
        CHECK(*run.root == segment.after);
        const auto start = std::chrono::steady_clock::now();
        for (const auto& ledger : run.ledgers) {
            CHECK_FALSE(ledger->told(0).empty());
            const auto wrong = group::find_first_wrong(*ledger, segment, replay);
            if (wrong) {
                const auto& piece = wrong->stated.piece;
                CAPTURE(wrong->author);
                CAPTURE(wrong->stated.statement.step);
                CAPTURE(piece.index);
                CAPTURE(piece.part.has_value());
                CHECK_FALSE(wrong.has_value());
            }
        }
        const double search = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        note_parts(run, model, seen);
        const Total total = total_of(run);
        MESSAGE(
            model.name, " ", name, " over ", ranks, ": ", total.cost.messages, " messages, ", total.cost.pieces,
            " pieces, ", total.cost.value_bytes, " bytes, signatures add ",
            100.0 * static_cast<double>(total.cost.signature_bytes) / static_cast<double>(total.cost.value_bytes),
            " %; hashing and signing take ", std::chrono::duration<double>(total.cost.time).count(),
            " s on all ranks of ", run.seconds, " s of steps; a ledger has at most ", total.ledger_bytes / kSteps,
            " bytes a step; comparing all ledgers took ", search, " s"
        );
    }
}

}  // namespace

TEST_CASE("STM-1, NUM-41: what ranks of several accounts tell each other is what a scalar replay has: mlp") {
    std::set<Op> seen;
    check_honest(small_mlp(), {{"dp", 2}, {"zero1", 2}, {"zero3", 2}, {"tp", 2}, {"pp", 2}, {"dp2tp2", 4}}, seen);
    // Ranks have 37 or 38 rows of the last weight, and of its transpose answer for whole partials of 32.
    check_honest(small_mlp(75), {{"zero3", 2}}, seen);
    CHECK(seen.contains(Op::kContract));
    CHECK(seen.contains(Op::kRowExponent));
    CHECK(seen.contains(Op::kRowSum));
}

TEST_CASE(
    "STM-1, NUM-41: what ranks of several accounts tell each other is what a scalar replay has: cnn" *
    doctest::test_suite("full")
) {
    std::set<Op> seen;
    check_honest(small_cnn(), {{"dp", 2}, {"zero1", 2}, {"zero3", 2}, {"tp", 2}, {"pp", 2}, {"dp2tp2", 4}}, seen);
    CHECK(seen.contains(Op::kContract));
    CHECK(seen.contains(Op::kRowSum));
}

TEST_CASE(
    "STM-1, NUM-41: what ranks of several accounts tell each other is what a scalar replay has: gpt" *
    doctest::test_suite("full")
) {
    std::set<Op> seen;
    check_honest(
        small_gpt(), {{"dp", 2}, {"zero1", 2}, {"tp", 2}, {"pp", 2}, {"dp2tp2", 4}, {"dp2pp2+1f1b2", 4}}, seen
    );
    CHECK(seen.contains(Op::kContract));
    CHECK(seen.contains(Op::kRowExponent));
    CHECK(seen.contains(Op::kRowMax));
    CHECK(seen.contains(Op::kRowSum));
    CHECK(seen.contains(Op::kScatterAddRows));
}

TEST_CASE("STM-1: each segment has its own statements, of the state as the one before has left it") {
    const Model model = small_mlp();
    ScalarReplay replay(model.world, false, kSeed);
    Doubles doubles;
    doubles.more_steps = 1;
    const GroupRun run = run_group(model, *plan::decode_layout("zero3", 2), kSteps, doubles);
    const dispute::Claim first = dispute::testing::make_claim(model.world, replay, false, 0, kSteps, kSeed);
    const dispute::Claim second = dispute::testing::make_claim(model.world, replay, false, kSteps, 1, kSeed);
    CHECK(second.before == first.after);
    CHECK(run.root == second.after);
    for (const auto& ledger : run.ledgers) {
        const auto told = ledger->told(kSteps);
        CHECK_FALSE(told.empty());
        for (const auto& message : told) {
            CHECK(message->statement.before == second.before);
            CHECK(message->statement.step == kSteps);
        }
        CHECK_FALSE(group::find_first_wrong(*ledger, first, replay).has_value());
        CHECK_FALSE(group::find_first_wrong(*ledger, second, replay).has_value());
    }
}

TEST_CASE("STM-3: who was misled in one segment states what is so in the next one") {
    const Model model = small_mlp();
    std::uint32_t misled = 0;
    for (std::uint32_t skipped = 0; skipped < 24; ++skipped) {
        CAPTURE(skipped);
        Doubles doubles;
        doubles.lie = Lie{.rank = 1, .step = 0, .kind = Lie::Kind::kValues, .skipped = skipped, .byte = 2};
        doubles.more_steps = 1;
        const GroupRun run = run_group(model, *plan::decode_layout("dp2tp2", 4), kSteps, doubles);
        REQUIRE(run.root.has_value());
        ScalarReplay first(model.world, false, kSeed);
        const dispute::Claim segment = dispute::testing::make_claim(model.world, first, false, 0, kSteps, kSeed);
        for (const auto& ledger : run.ledgers) {
            misled += group::find_first_wrong(*ledger, segment, first).has_value() ? 1U : 0U;
        }
        // Whatever came of the first segment is what the second one begins with.
        dispute::testing::World world = model.world;
        world.state = run.middle;
        ScalarReplay second(world, false, kSeed, {}, kSteps);
        const dispute::Claim next = dispute::testing::make_claim(world, second, false, kSteps, 1, kSeed);
        CHECK(run.root == next.after);
        for (const auto& ledger : run.ledgers) {
            CHECK_FALSE(group::find_first_wrong(*ledger, next, second).has_value());
        }
    }
    CHECK(misled > 6);
}

TEST_CASE("GRP-11: a step that several accounts divide sends what its plan says, and signatures") {
    for (const Model& model : models()) {
        for (const auto& entry :
             {std::pair{"dp", 2U}, {"zero1", 2U}, {"tp", 2U}, {"pp", 2U}, {"pp4", 4U}, {"dp2tp2", 4U}}) {
            CAPTURE(model.name);
            const std::string name = entry.first;
            const std::uint32_t ranks = entry.second;
            CAPTURE(name);
            const plan::Layout layout = *plan::decode_layout(name, ranks);
            const plan::Plan plan = plan::make_plan(model.program, layout);
            if (plan::unstatable_node(plan, model.program.step)) {
                continue;
            }
            constexpr std::uint64_t kSteps = 2;
            const GroupRun run = run_group(model, layout, kSteps);
            for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                CAPTURE(rank);
                REQUIRE(run.failures[rank].empty());
                const std::uint64_t said = plan::traffic_of(plan, model.program.step, rank, true).bytes();
                const std::uint64_t votes = ranks - 1 + sizeof(float);
                CHECK(run.served[rank].sent_bytes >= kSteps * said);
                CHECK(run.served[rank].sent_bytes <= kSteps * (said + votes) + run.costs[rank].signature_bytes);
            }
        }
    }
}
