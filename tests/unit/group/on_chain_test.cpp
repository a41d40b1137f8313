// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <map>

#include <contracts/arbitration/arbitration.hpp>
#include <tests/unit/group/on_chain.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::group::testing;
using dispute::testing::ScalarReplay;

namespace {

constexpr std::uint32_t kSteps = 2;

// The lie about the last values that the rank hands to others in the last step; nullopt if it hands over none.
std::optional<Lie> last_lie(const Members& at, std::uint32_t rank) {
    constexpr std::uint32_t kMost = 256;  // messages of a step
    std::optional<Lie> out;
    for (std::uint32_t first = 0, end = kMost; first < end;) {
        const std::uint32_t middle = (first + end) / 2;
        Doubles doubles;
        doubles.lie = {.rank = rank, .step = kSteps - 1, .kind = Lie::Kind::kValues, .skipped = middle, .byte = 2};
        const bool has_lied = at.train(doubles).lies != 0;
        out = has_lied ? doubles.lie : out;
        (has_lied ? first : end) = has_lied ? middle + 1 : middle;
    }
    return out;
}

}  // namespace

TEST_CASE("STM-9, STM-10: whoever signed the first wrong value pays for a disputed state, and nobody else") {
    const Model model = small_mlp();
    ScalarReplay truth(model.world, false, kSeed);
    std::map<std::uint32_t, std::uint32_t> chains;  // how many have answered: how often
    for (const Lie::Kind kind : {Lie::Kind::kValues, Lie::Kind::kPart}) {
        for (const std::uint32_t liar : {1U, 2U, 3U}) {
            for (std::uint32_t skipped = 0; skipped < 24; skipped += 3) {
                CAPTURE(static_cast<int>(kind));
                CAPTURE(liar);
                CAPTURE(skipped);
                Members at(model, *plan::decode_layout("dp2tp2", 4), kSteps);
                Doubles doubles;
                doubles.lie = {.rank = liar, .step = 0, .kind = kind, .skipped = skipped, .byte = 2};
                const GroupRun run = at.train(doubles);
                REQUIRE(run.root.has_value());
                if (run.lies == 0 || *run.root == truth.state_root_after(kSteps - 1)) {
                    continue;  // what was rounded away, or ended in no parameter
                }
                at.post_start();
                at.post(*run.root);
                const DisputeId disputed = at.dispute();
                ++chains[answer(at, run, {.dispute = disputed}, truth)];
                CHECK(find_dispute(at.chain.view, disputed)->state() == DisputeState::kRefuted);
                const Task task = at.chain.task(at.id);
                CHECK(task.state == TaskState::kConvicted);
                CHECK(task.group->culprits == std::vector{static_cast<std::uint8_t>(liar)});
                for (std::uint32_t rank = 0; rank < at.ranks(); ++rank) {
                    CHECK(at.chain.stake(Role::kSolver, at.accounts[rank]).locked.grains == 0);
                    CHECK(at.has(rank) == (rank == liar ? at.had(rank) - at.bond : at.had(rank)));
                }
                CHECK(at.chain.slashed(at.id, Reason::kWrongVerdict).empty());
                break;
            }
        }
    }
    CHECK(chains[1] > 0);
    CHECK(chains[2] > 0);  // somebody was misled, and has shown by whom
    for (const auto& [answers, times] : chains) {
        MESSAGE(times << " disputes with " << answers << " answers");
        CHECK(answers >= 1);
    }
}

TEST_CASE("STM-9: whoever hands on to the lead what it was told at the end of a step can show who told it") {
    const Model model = small_mlp();
    ScalarReplay truth(model.world, false, kSeed);
    std::uint32_t convicted = 0;
    for (const char* const name : {"zero1+tp2", "zero1+pp2", "zero2+pp2"}) {
        for (const std::uint32_t liar : {1U, 2U, 3U}) {
            CAPTURE(std::string(name));
            CAPTURE(liar);
            Members at(model, *plan::decode_layout(name, 4), kSteps);
            Doubles doubles;
            doubles.lie = last_lie(at, liar);
            const GroupRun run = at.train(doubles);
            REQUIRE(run.root.has_value());
            if (run.lies == 0 || *run.root == truth.state_root_after(kSteps - 1)) {
                continue;
            }
            at.post_start();
            at.post(*run.root);
            answer(at, run, {.dispute = at.dispute()}, truth);
            CHECK(at.chain.task(at.id).group->culprits == std::vector{static_cast<std::uint8_t>(liar)});
            ++convicted;
        }
    }
    CHECK(convicted > 3);
}
