// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

#include <doctest/doctest.h>
#include <tests/unit/engine/cell_runs.hpp>
#include <verifier/engine/cell/recomputing.hpp>

using namespace assay;
using namespace assay::test;
using namespace assay::program;
using canonical::Tensor;

namespace {

// Shares of so many parts, or, as often, none.
std::vector<std::uint32_t> drawn_shares(std::mt19937& random, std::uint32_t parts) {
    std::vector<std::uint32_t> out;
    if (parts > 1 && random() % 2 == 0) {
        for (std::uint32_t i = 0; i < parts; ++i) {
            out.push_back(1 + static_cast<std::uint32_t>(random()) % 5);
        }
    }
    return out;
}

// A layout of at most eight ranks.
plan::Layout drawn(std::mt19937& random) {
    plan::Layout out;
    out.data = 1 + static_cast<std::uint32_t>(random()) % 4;
    out.tensor = 1 + static_cast<std::uint32_t>(random()) % 2;
    out.stages = out.data * out.tensor <= 4 ? 1 + static_cast<std::uint32_t>(random()) % 2 : 1;
    out.zero = static_cast<plan::Zero>(random() % 4);
    out.shares = drawn_shares(random, out.data);
    out.tensor_shares = drawn_shares(random, out.tensor);
    out.stage_shares = drawn_shares(random, out.stages);
    if (out.stages > 1 && out.tensor == 1 && random() % 2 == 0) {
        out.zero = std::min(out.zero, plan::Zero::kOptimizer);
        out.micro_batches = 2 + static_cast<std::uint32_t>(random()) % 4;
        out.pipeline = random() % 2 == 0 ? plan::Pipeline::kGPipe : plan::Pipeline::kOneForwardOneBackward;
    }
    return out;
}

}  // namespace

TEST_CASE("NUM-1: a cell has one machine's state: every model by parts of its batch") {
    for (const SmallModel& model : small_models(kXg21)) {
        check_layouts(model, {{"dp", 1}, {"dp", 2}, {"dp:1,3", 2}});
    }
}

TEST_CASE("NUM-1: a cell has one machine's state: every model with its state divided") {
    for (const SmallModel& model : small_models(kXg21)) {
        check_layouts(model, {{"zero1", 2}, {"zero2", 3}, {"zero3", 2}, {"zero3:1,2,1", 3}});
    }
}

TEST_CASE("NUM-1: a cell has one machine's state: every model with its layers divided") {
    for (const SmallModel& model : small_models(kXg21)) {
        check_layouts(model, {{"tp", 2}, {"pp", 2}, {"dp2tp2", 4}, {"zero1+tp2", 4}, {"dp2pp2", 4}});
    }
}

TEST_CASE("NUM-1: a cell has one machine's state: every model by stages that take micro-batches") {
    for (const SmallModel& model : small_models(kXg21)) {
        check_layouts(
            model,
            {{"pp+1f1b2", 2}, {"pp+gpipe3", 2}, {"pp+1f1b4", 3}, {"dp2pp2+1f1b2", 4}, {"zero1+dp2pp2+gpipe4:5,3", 4}}
        );
    }
}

TEST_CASE("NUM-1: a cell has one machine's state: other profiles") {
    for (const Profile& profile : {kXg24, kXg11, kXg8, kXg7}) {
        for (const SmallModel& model : small_models(profile)) {
            check_layouts(model, {{"zero2", 2}, {"tp", 2}});
        }
    }
}

TEST_CASE("NUM-1: the layout may change after each step") {
    const SmallModel model = small_models(kXg21).back();
    std::vector<Tensor> state = model.initial();
    const std::vector<Tensor> expected = run_alone(model, state, 4);
    std::uint64_t step = 0;
    for (const auto& [name, ranks] : {std::pair{"dp:1,2", 2U}, {"zero3", 4U}, {"tp", 2U}, {"dp", 1U}}) {
        const CellRun run = run_cell(model, *plan::decode_layout(name, ranks), state, step, 1);
        REQUIRE(run.fault == std::string{});
        state = run.state;
        ++step;
    }
    CHECK(state == expected);
}

TEST_CASE("NUM-1: random layouts of every model have one machine's state") {
    const char* const text = std::getenv("ASSAY_RANDOM_PLANS");  // the long tier's number
    const int count = text == nullptr ? 6 : std::stoi(text);
    std::mt19937 random(20);
    const std::vector<SmallModel> models = small_models(kXg21);
    for (int i = 0; i < count; ++i) {
        const SmallModel& model = models[static_cast<std::size_t>(i) % models.size()];
        check_layouts(model, std::vector{drawn(random)});
    }
}

TEST_CASE("NUM-6: a step that diverges on one rank has no next state on any") {
    const SmallModel model = small_char_model(OptimizerKind::kSgd);
    std::vector<Tensor> state = model.initial();
    const std::vector<std::uint8_t> infinity{0, 0, 0x80, 0x7f};  // in the first row, which one rank has
    std::copy(infinity.begin(), infinity.end(), state[0].data.begin());
    const CellRun run = run_cell(model, *plan::decode_layout("zero3", 2), state, 0, 1);
    CHECK(run.fault == std::string{});
    CHECK(run.has_diverged);
    CHECK(run.state == state);
}

TEST_CASE("a step sends what its plan says") {
    const SmallModel model = small_char_model(OptimizerKind::kAdamW);
    for (const auto& [name, ranks] :
         {std::pair{"dp", 3U},
          {"zero3", 2U},
          {"tp", 2U},
          {"pp", 2U},
          {"pp+1f1b3", 2U},
          {"pp:5,3", 2U},
          {"tp:5,3", 2U},
          {"pp:2,1+1f1b3", 2U},
          {"pp:2,1+dp2", 4U}}) {
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

TEST_CASE("what a rank has at once in a step is what its plan says") {
    for (const SmallModel& model : small_models(kXg21)) {
        for (const auto& entry :
             {std::pair{"dp", 2U}, {"zero3", 2U}, {"tp", 2U}, {"pp", 2U}, {"pp:3,1", 2U}, {"tp:3,1", 2U}}) {
            CAPTURE(model.name);
            const std::string name = entry.first;
            const std::uint32_t ranks = entry.second;
            CAPTURE(name);
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

TEST_CASE("NUM-1: a cell that computes outputs a second time has one machine's state, and needs less memory") {
    std::uint32_t smaller = 0;
    for (const SmallModel& model : small_models(kXg21)) {
        const std::vector<Tensor> expected = run_alone(model, model.initial(), 2);
        for (const auto& entry : {std::pair{"dp", 2U}, {"zero3", 2U}, {"tp", 2U}, {"pp", 2U}}) {
            CAPTURE(model.name);
            const std::string name = entry.first;
            const std::uint32_t ranks = entry.second;
            CAPTURE(name);
            const plan::Layout layout = *plan::decode_layout(name, ranks);
            SmallModel again = model;
            again.program = engine::recomputing(model.program, layout, 1);
            const CellRun run = run_cell(again, layout, model.initial(), 0, 2);
            CHECK(run.fault == std::string{});
            CHECK(run.state == expected);
            const plan::Plan plan = plan::make_plan(model.program, layout);
            const std::uint64_t before = plan::step_bytes(plan, model.program, 0);
            smaller += again.program.step.size() > model.program.step.size() ? 1U : 0U;
            CHECK(*std::max_element(run.peak_bytes.begin(), run.peak_bytes.end()) <= before * 11 / 10);
            // What fits stays as it is.
            CHECK(engine::recomputing(model.program, layout, before * 2).step.size() == model.program.step.size());
        }
    }
    CHECK(smaller > 4);  // what ranks put off may be more than all values of so small a model: stages put nothing off
}

TEST_CASE("a cell with large batches needs far less memory if it computes outputs a second time") {
    GptConfig config;
    config.vocabulary = 64;
    config.context = 64;
    config.layers = 6;
    config.heads = 2;
    config.width = 64;
    config.batch_size = 32;
    config.dataset_rows = 64;
    OptimizerConfig optimizer;
    optimizer.kind = OptimizerKind::kSgd;
    const Program program = build_gpt(config, optimizer);
    for (const char* name : {"dp", "zero3", "tp"}) {
        CAPTURE(std::string(name));
        const plan::Layout layout = *plan::decode_layout(name, 2);
        const Program again = engine::recomputing(program, layout, 1);
        const auto bytes = [&](const Program& of) { return plan::step_bytes(plan::make_plan(of, layout), of, 0); };
        MESSAGE(name << ": " << bytes(program) << " bytes, with copies " << bytes(again));
        CHECK(3 * bytes(again) < 2 * bytes(program));
    }
}
