// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <core/crypto/keys.hpp>
#include <core/dispute/accuser.hpp>
#include <tests/unit/group/group_runs.hpp>

using namespace assay;
using namespace assay::group::testing;
using dispute::Ruling;
using dispute::testing::ScalarReplay;

namespace {

constexpr std::uint32_t kSteps = 2;

// What all ranks were told.
std::vector<std::shared_ptr<const group::Told>> all_told(const GroupRun& run) {
    std::vector<std::shared_ptr<const group::Told>> out;
    for (const auto& ledger : run.ledgers) {
        const auto told = ledger->told(0);
        out.insert(out.end(), told.begin(), told.end());
    }
    return out;
}

// What a rank has stated and was told in the same place of the order, so that it could not show who told it; empty if
// there is nothing.
std::string unanswerable(const GroupRun& run) {
    using Place = std::pair<dispute::StatedOrder, dispute::Piece>;
    const auto overlap = [](const Place& one, const Place& other) {
        const dispute::Piece& a = one.second;
        const dispute::Piece& b = other.second;
        return one.first == other.first && a.part == b.part && a.row < b.row + b.rows && b.row < a.row + a.rows &&
               a.col < b.col + b.cols && b.col < a.col + a.cols;
    };
    const std::size_t ranks = run.ledgers.size();
    std::vector<std::vector<Place>> told(ranks);
    std::vector<std::vector<Place>> stated(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        for (const auto& message : run.ledgers[rank]->told(0)) {
            for (std::size_t i = 0; i < message->values.size(); ++i) {
                dispute::Piece piece = message->piece(i);
                const Place place(dispute::order_of(message->statement.step, piece), piece);
                told[rank].push_back(place);
                stated[message->author].push_back(place);
            }
        }
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        for (auto* const places : {&told[rank], &stated[rank]}) {
            std::sort(places->begin(), places->end(), [](const Place& a, const Place& b) { return a.first < b.first; });
        }
        for (const Place& place : stated[rank]) {
            const auto [begin, end] =
                std::equal_range(told[rank].begin(), told[rank].end(), place, [](const Place& a, const Place& b) {
                    return a.first < b.first;
                });
            if (std::any_of(begin, end, [&](const Place& other) { return overlap(place, other); })) {
                return "rank " + std::to_string(rank) + ", step " + std::to_string(place.first.step) + ", " +
                       (place.first.is_output ? "node " : "tensor ") + std::to_string(place.first.index) + ", hop " +
                       std::to_string(place.first.hop);
            }
        }
    }
    return {};
}

// The whole way from a message with a lie to the end of the dispute about it.
void check_liar(const Model& model, const char* name, std::uint32_t ranks, const Lie& lie) {
    CAPTURE(model.name);
    CAPTURE(std::string(name));
    CAPTURE(lie.rank);
    CAPTURE(static_cast<int>(lie.kind));
    CAPTURE(lie.skipped);
    Doubles doubles;
    doubles.lie = lie;
    const GroupRun run = run_group(model, *plan::decode_layout(name, ranks), kSteps, doubles);
    REQUIRE(run.lies == 1);
    ScalarReplay honest(model.world, false, kSeed);
    const dispute::Claim segment = dispute::testing::make_claim(model.world, honest, false, 0, kSteps, kSeed);
    const auto wrong = group::find_first_wrong(all_told(run), segment, honest);
    REQUIRE(wrong.has_value());
    CHECK(wrong->author == lie.rank);
    CHECK(wrong->stated.statement.step == lie.step);
    CHECK(wrong->stated.piece.part.has_value() == (lie.kind == Lie::Kind::kPart));
    CHECK((wrong->stated.piece.source == canonical::Source::kState) == (lie.kind == Lie::Kind::kState));

    const group::Signers signers = signers_of(ranks);
    const Hash256 digest = dispute::statement_digest(signers.chain_id, wrong->stated.statement);
    CHECK(crypto::verify_signature(signers.accounts[lie.rank], digest.view(), wrong->signature));
    const auto claim = make_accusation(segment, make_contradiction(segment, wrong->stated, honest));
    REQUIRE(claim.has_value());
    const bool is_shown_at_once = lie.kind == Lie::Kind::kState && lie.step == 0;
    REQUIRE(claim->has_value() != is_shown_at_once);
    for (const bool challenger_proves : {false, true}) {
        if (claim->has_value()) {
            const auto outcome = dispute::testing::play(**claim, honest, honest, challenger_proves);
            CHECK(outcome.ruling == Ruling::kClaimHolds);
        }
    }
}

}  // namespace

TEST_CASE("STM-5: a rank that signs a wrong value is found and convicted") {
    const Model model = small_mlp();
    check_liar(model, "tp", 2, {.rank = 1, .step = 1, .kind = Lie::Kind::kValues, .skipped = 1});
    check_liar(model, "pp", 2, {.rank = 1, .step = 0, .kind = Lie::Kind::kValues, .skipped = 0});
    check_liar(model, "dp2tp2", 4, {.rank = 2, .step = 1, .kind = Lie::Kind::kValues, .skipped = 4});
    check_liar(model, "dp", 2, {.rank = 0, .step = 1, .kind = Lie::Kind::kValues, .skipped = 0});
}

TEST_CASE("STM-6: a rank that signs a wrong part of a reduction is found and convicted") {
    const Model model = small_mlp();
    for (const std::uint32_t skipped : {0U, 3U, 9U}) {
        check_liar(model, "dp", 2, {.rank = 1, .step = 1, .kind = Lie::Kind::kPart, .skipped = skipped});
        check_liar(model, "dp2tp2", 4, {.rank = 3, .step = 0, .kind = Lie::Kind::kPart, .skipped = skipped});
    }
}

TEST_CASE(
    "STM-6: a rank of a larger model that signs a wrong part is found and convicted" * doctest::test_suite("full")
) {
    check_liar(small_gpt(), "tp", 2, {.rank = 1, .step = 1, .kind = Lie::Kind::kPart, .skipped = 2});
    check_liar(small_gpt(), "dp2tp2", 4, {.rank = 2, .step = 0, .kind = Lie::Kind::kPart, .skipped = 20});
    check_liar(small_cnn(), "dp", 2, {.rank = 0, .step = 0, .kind = Lie::Kind::kPart, .skipped = 1});
}

TEST_CASE("STM-5: a member that lies in whatever way is the first whose statements are wrong") {
    using adversary::Misstatement;
    const Model model = small_mlp();
    ScalarReplay honest(model.world, false, kSeed);
    const dispute::Claim segment = dispute::testing::make_claim(model.world, honest, false, 0, kSteps, kSeed);
    for (const char* const name : {"shard", "zeros", "stale", "reduce", "stage", "equivocate", "withhold"}) {
        CAPTURE(std::string(name));
        const auto kind = adversary::decode_misstatement(name);
        REQUIRE(kind.has_value());
        CHECK(adversary::to_string(*kind) == std::string(name));
        for (const std::uint32_t liar : {0U, 2U, 3U}) {
            CAPTURE(liar);
            Doubles doubles;
            doubles.misstated[liar] = {.kind = *kind, .first_step = 1, .last_step = 1};
            const GroupRun run = run_group(model, *plan::decode_layout("dp2tp2", 4), kSteps, doubles);
            const auto wrong = group::find_first_wrong(all_told(run), segment, honest);
            if (*kind == Misstatement::kWithhold) {
                CHECK_FALSE(wrong.has_value());
                CHECK(run.failures[liar] == "this member withholds what it has of step 1 of the task");
                continue;
            }
            REQUIRE(wrong.has_value());
            CHECK(wrong->author == liar);
            CHECK(wrong->stated.statement.step == 1);
            CHECK(run.root.has_value());
            // What one rank alone was told may come to nothing.
            CHECK((run.root != segment.after || *kind == Misstatement::kEquivocate));
        }
    }
    CHECK_FALSE(adversary::decode_misstatement("shards").has_value());
}

TEST_CASE("STM-4: a rank that signs a wrong state is found and convicted") {
    const Model model = small_mlp();
    check_liar(model, "dp", 2, {.rank = 0, .step = 0, .kind = Lie::Kind::kState, .skipped = 3});
    check_liar(model, "zero3", 2, {.rank = 1, .step = 1, .kind = Lie::Kind::kState, .skipped = 0});
    check_liar(model, "zero1", 2, {.rank = 1, .step = 1, .kind = Lie::Kind::kTaken, .skipped = 2});
}

TEST_CASE("STM-9: nobody states anything in the place of the order in which it was told it") {
    const std::vector<std::pair<const char*, std::uint32_t>> layouts{
        {"dp", 2},        {"tp", 2},        {"pp", 2},        {"zero1", 2},       {"zero2", 2},
        {"zero3", 2},     {"dp2tp2", 4},    {"dp2pp2", 4},    {"tp2pp2", 4},      {"dp2pp2+1f1b2", 4},
        {"pp4", 4},       {"tp4", 4},       {"dp4", 4},       {"zero1+tp2", 4},   {"zero2+pp2", 4},
        {"zero1+pp2", 4}, {"zero3+tp2", 4}, {"zero3+pp2", 4}, {"zero3+dp2pp2", 4}};
    std::uint32_t played = 0;
    for (const Model& model : models()) {
        for (const auto& named : layouts) {
            const auto layout = plan::decode_layout(named.first, named.second);
            if (!layout || plan::unstatable_node(plan::make_plan(model.program, *layout), model.program.step)) {
                continue;
            }
            CAPTURE(model.name);
            CAPTURE(std::string(named.first));
            ++played;
            CHECK(unanswerable(run_group(model, *layout, kSteps)) == "");
        }
    }
    CHECK(played > 20);
}
