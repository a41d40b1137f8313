// SPDX-License-Identifier: Apache-2.0
#include <verifier/group/first_wrong.hpp>

#include <cstdint>
#include <set>

#include <doctest/doctest.h>
#include <tests/unit/group/group_runs.hpp>

using namespace assay;
using namespace assay::group::testing;
using dispute::testing::ScalarReplay;

namespace {

constexpr std::uint32_t kSteps = 2;

// Counts outputs that are asked for and were not collected before.
class Watched final : public dispute::Replay {
  public:
    explicit Watched(ScalarReplay& truth) : truth_(truth) {}
    Hash256 state_root_after(std::uint64_t step) override { return truth_.state_root_after(step); }
    std::size_t state_size(std::uint64_t step) override { return truth_.state_size(step); }
    const canonical::Tensor& state_tensor(std::uint64_t step, std::uint32_t index) override {
        return truth_.state_tensor(step, index);
    }
    const canonical::Tensor& node_output(std::uint64_t step, std::uint32_t node) override {
        missed += step != step_ || !nodes_.contains(node) ? 1U : 0U;
        return truth_.node_output(step, node);
    }
    std::optional<std::uint64_t> diverged_at() override { return truth_.diverged_at(); }
    const canonical::Graph& graph() override { return truth_.graph(); }
    const canonical::RowSource& rows() override { return truth_.rows(); }
    const merkle::Tree& dataset_tree() override { return truth_.dataset_tree(); }

    group::Collecting collecting(std::uint64_t bytes_max) {
        return {
            .collect =
                [this](std::uint64_t step, const std::set<std::uint32_t>& nodes) {
                    step_ = step;
                    nodes_ = nodes;
                    ++collections;
                },
            .bytes_max = bytes_max};
    }

    std::uint32_t missed = 0;
    std::uint32_t collections = 0;

  private:
    ScalarReplay& truth_;
    std::uint64_t step_ = 0;
    std::set<std::uint32_t> nodes_;
};

}  // namespace

TEST_CASE("STM-9: a search of what was told collects the outputs of a step at once, as far as they fit") {
    const Model model = small_mlp();
    ScalarReplay truth(model.world, false, kSeed);
    const dispute::Claim segment = dispute::testing::make_claim(model.world, truth, false, 0, kSteps, kSeed);
    for (const char* layout : {"dp", "zero3", "pp"}) {
        CAPTURE(layout);
        const GroupRun run = run_group(model, *plan::decode_layout(layout, 2), kSteps);
        REQUIRE(run.root.has_value());
        for (const auto& ledger : run.ledgers) {
            Watched at_once(truth);
            CHECK_FALSE(group::find_first_wrong(*ledger, segment, at_once, at_once.collecting(std::uint64_t{1} << 30U))
            );
            CHECK(at_once.missed == 0);
            CHECK(at_once.collections <= kSteps);
            Watched in_turns(truth);
            CHECK_FALSE(group::find_first_wrong(*ledger, segment, in_turns, in_turns.collecting(1)));
            CHECK(in_turns.missed == 0);
            CHECK(in_turns.collections > at_once.collections);
        }
    }
}

TEST_CASE("STM-9: the first wrong piece is the same one, whatever is collected at once") {
    const Model model = small_mlp();
    ScalarReplay truth(model.world, false, kSeed);
    const dispute::Claim segment = dispute::testing::make_claim(model.world, truth, false, 0, kSteps, kSeed);
    Doubles doubles;
    doubles.lie = Lie{.rank = 1, .step = 1, .kind = Lie::Kind::kPart};
    const GroupRun run = run_group(model, *plan::decode_layout("dp", 2), kSteps, doubles);
    const auto found = group::find_first_wrong(*run.ledgers[0], segment, truth);
    REQUIRE(found);
    CHECK(found->author == 1);
    for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{1} << 12U, std::uint64_t{1} << 30U}) {
        CAPTURE(bytes);
        Watched watched(truth);
        const auto again = group::find_first_wrong(*run.ledgers[0], segment, watched, watched.collecting(bytes));
        REQUIRE(again);
        CHECK(again->stated.piece == found->stated.piece);
        CHECK(again->stated.statement.step == 1);
    }
}
