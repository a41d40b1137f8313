// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/engine/cell_runs.hpp>

using namespace assay;
using namespace assay::test;

// Unequal stages and unequal parts of layers.

TEST_CASE("NUM-1: a cell has one machine's state: every model by unequal stages") {
    for (const SmallModel& model : small_models(program::kXg21)) {
        check_layouts(
            model,
            std::vector<std::pair<const char*, std::uint32_t>>{
                {"pp:5,3", 2}, {"pp:1,4+1f1b3", 2}, {"pp:1,3,2+gpipe2", 3}, {"pp:5,3+dp2+1f1b2:1,2", 4}}
        );
    }
}

TEST_CASE("NUM-1: a cell has one machine's state: every model by unequal parts of layers") {
    for (const SmallModel& model : small_models(program::kXg21)) {
        check_layouts(
            model,
            std::vector<std::pair<const char*, std::uint32_t>>{
                {"tp:5,3", 2}, {"tp:1,2,1", 3}, {"tp:3,1+zero1", 4}, {"tp:3,1+pp:1,2", 4}}
        );
    }
}

TEST_CASE("a step with unequal parts sends what its plan says") {
    const SmallModel model = small_char_model(program::OptimizerKind::kAdamW);
    for (const auto& [name, ranks] :
         {std::pair{"pp:5,3", 2U}, {"tp:5,3", 2U}, {"pp:2,1+1f1b3", 2U}, {"pp:2,1+dp2", 4U}}) {
        const std::string text = name;
        CAPTURE(text);
        const plan::Layout layout = *plan::decode_layout(name, ranks);
        const plan::Plan plan = plan::make_plan(model.program, layout);
        const CellRun run = run_cell(model, layout, model.initial(), 0, 2);
        CHECK(run.fault == std::string{});
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            const std::uint64_t said = plan::traffic_of(plan, model.program.step, rank).bytes();
            const std::uint64_t votes = ranks - 1 + sizeof(float);  // whether all is finite, and the loss
            CHECK(run.sent_bytes[rank] >= 2 * said);
            CHECK(run.sent_bytes[rank] <= 2 * (said + votes));
        }
    }
}

TEST_CASE("what a rank has at once in a step with unequal parts is what its plan says") {
    for (const SmallModel& model : small_models(program::kXg21)) {
        for (const auto& [name, ranks] : {std::pair{"pp:3,1", 2U}, {"tp:3,1", 2U}}) {
            CAPTURE(model.name);
            const std::string text = name;
            CAPTURE(text);
            const plan::Layout layout = *plan::decode_layout(name, ranks);
            const plan::Plan plan = plan::make_plan(model.program, layout);
            const CellRun run = run_cell(model, layout, model.initial(), 0, 1);
            for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                const std::uint64_t said = plan::step_bytes(plan, model.program, rank);
                CHECK(said >= run.peak_bytes[rank]);
                CHECK(said <= run.peak_bytes[rank] * 11 / 10);
            }
        }
    }
}
