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
