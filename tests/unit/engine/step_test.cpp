// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <doctest/doctest.h>
#include <tests/unit/engine/whole_outputs.hpp>
#include <tests/unit/engine/small_models.hpp>

using namespace assay;
using namespace assay::test;
using namespace assay::program;
using canonical::Tensor;

namespace {

engine::Engine make_engine(const SmallModel& model, const engine::EngineOptions& options) {
    engine::Engine out(model.program.step, model.rows, options);
    out.set_state(model.initial());
    return out;
}

void check_first_steps(const Profile& profile) {
    for (const SmallModel& model : small_models(profile)) {
        CAPTURE(model.name);
        std::vector<Tensor> state = model.initial();
        for (std::uint64_t step = 0; step < 2; ++step) {
            const Case c = model.step(step, std::move(state));
            const Outcome expected = by_definition(c);
            CHECK(check_everywhere(c, expected));
            REQUIRE(expected.next.has_value());
            state = *expected.next;
        }
    }
}

}  // namespace

// A case for each profile, since they take long and CTest runs cases side by side.
TEST_CASE("NUM-1: the first steps of every model in XG-21 equal the definition on every engine") {
    check_first_steps(kXg21);
}
TEST_CASE("NUM-1: the first steps of every model in XG-24 equal the definition on every engine") {
    check_first_steps(kXg24);
}
TEST_CASE("NUM-1: the first steps of every model in XG-11 equal the definition on every engine") {
    check_first_steps(kXg11);
}
TEST_CASE("NUM-1: the first steps of every model in XG-8 equal the definition on every engine") {
    check_first_steps(kXg8);
}
TEST_CASE("NUM-1: the first steps of every model in XG-7 equal the definition on every engine") {
    check_first_steps(kXg7);
}

TEST_CASE("NUM-1: the initialisation of every model equals the definition on every engine") {
    for (const SmallModel& model : small_models(kXg21)) {
        CAPTURE(model.name);
        const Case c{model.program.init, model.context(0), model.rows, {}};
        const Outcome expected = by_definition(c);
        for (const auto& options : all_engines()) {
            CAPTURE(name_of(options));
            CHECK(difference(c, expected, by_nodes(c, options)) == std::string{});
        }
    }
}

TEST_CASE("an initialisation needs no observer") {
    for (const SmallModel& model : small_models(kXg21)) {
        CAPTURE(model.name);
        const Case c{model.program.init, model.context(0), model.rows, {}};
        const Outcome expected = by_definition(c);
        for (const auto& options : all_engines()) {
            CAPTURE(name_of(options));
            CHECK(difference(c, expected, by_step(c, options)) == std::string{});
        }
    }
}

TEST_CASE("the engine keeps the loss and the loss falls") {
    for (const auto& options : all_engines()) {
        CAPTURE(name_of(options));
        const SmallModel model = small_char_model(OptimizerKind::kAdam);
        auto engine = make_engine(model, options);
        engine.keep(model.program.loss_node);
        REQUIRE(engine.run_step(model.context(0)).has_value());
        const float before = engine.scalar(model.program.loss_node);
        for (std::uint64_t step = 1; step < 60; ++step) {
            REQUIRE(engine.run_step(model.context(step)).has_value());
        }
        CHECK(engine.scalar(model.program.loss_node) < 0.5F * before);
        CHECK(engine.description().starts_with("libtorch "));
        CHECK(engine.description().find(options.device) != std::string::npos);
    }
}

TEST_CASE("the engine keeps what the definition gives, node by node and fused") {
    for (const SmallModel& model : small_models(kXg21)) {
        CAPTURE(model.name);
        const Case c = model.step(0, model.initial());
        Tensor loss;
        const auto find = [&](std::uint32_t node, const Tensor& output) {
            loss = node == model.program.loss_node ? output : loss;
            return true;
        };
        REQUIRE(canonical::execute_graph(c.graph, c.context, *c.rows, c.state, find).has_value());
        float expected = 0.0F;
        std::memcpy(&expected, loss.data.data(), sizeof expected);
        for (const auto& options : all_engines()) {
            CAPTURE(name_of(options));
            for (const bool is_watched : {false, true}) {
                auto engine = make_engine(model, options);
                engine.keep(model.program.loss_node);
                WholeOutputs watch(c.graph, [](std::uint32_t, const Tensor&) { return true; });
                REQUIRE(engine.run_step(c.context, {}, is_watched ? &watch : nullptr).has_value());
                CHECK(engine.scalar(model.program.loss_node) == expected);
            }
        }
    }
}

TEST_CASE("what a tamper changes reaches the rest of the step as if computed") {
    const SmallModel model = small_char_model(OptimizerKind::kSgdMomentum);
    std::uint32_t quantised = 0;
    while (model.program.step[quantised].op != canonical::Op::kQuantise) {
        ++quantised;
    }
    // Beyond +-2^p: the contraction after it must still be the definition's.
    const auto spoil = [&](std::uint64_t step, std::uint32_t node, Tensor& output) {
        if (step == 0 && node == quantised) {
            std::fill(output.data.begin(), output.data.begin() + 400, std::uint8_t{0x7f});
        }
    };
    for (const auto& options : all_engines()) {
        CAPTURE(name_of(options));
        std::vector<Tensor> outputs;
        auto engine = make_engine(model, options);
        const std::vector<Tensor> state = engine.state();
        WholeOutputs keep(model.program.step, [&](std::uint32_t, const Tensor& output) {
            outputs.push_back(output);
            return true;
        });
        CHECK(engine.run_step(model.context(0), spoil, &keep).has_value());
        REQUIRE(outputs.size() + 1 == model.program.step.size());
        for (std::uint32_t i = 0; i < outputs.size(); ++i) {
            std::vector<const Tensor*> inputs;
            for (const auto& input : model.program.step[i].inputs) {
                inputs.push_back(
                    input.source == canonical::Source::kState ? &state[input.index] : &outputs[input.index]
                );
            }
            const Tensor honest = canonical::execute_node(model.program.step[i], model.context(0), *model.rows, inputs);
            CAPTURE(i);
            CHECK((outputs[i] == honest) == (i != quantised));
        }
    }
}

TEST_CASE("NUM-14: a tampered int8 operand of 128 is contracted as the definition does") {
    SmallModel model = small_models(kXg7)[0];
    std::uint32_t quantised = 0;
    while (model.program.step[quantised].op != canonical::Op::kQuantise ||
           model.program.step[quantised].attributes[0] != 7) {
        ++quantised;
    }
    const auto spoil = [&](std::uint64_t, std::uint32_t node, Tensor& output) {
        const std::int32_t beyond = 128;
        for (std::size_t at = 0; node == quantised && at < output.data.size(); at += sizeof beyond) {
            std::memcpy(output.data.data() + at, &beyond, sizeof beyond);
        }
    };
    std::vector<std::vector<Tensor>> states;
    for (const auto& options : all_engines()) {
        auto engine = make_engine(model, options);
        const std::vector<Tensor> state = engine.state();
        std::vector<Tensor> outputs;
        WholeOutputs keep(model.program.step, [&](std::uint32_t, const Tensor& output) {
            outputs.push_back(output);
            return true;
        });
        CHECK(engine.run_step(model.context(0), spoil, &keep).has_value());
        for (std::uint32_t i = 0; i < outputs.size(); ++i) {
            if (model.program.step[i].op != canonical::Op::kContract) {
                continue;
            }
            std::vector<const Tensor*> inputs;
            for (const auto& input : model.program.step[i].inputs) {
                inputs.push_back(
                    input.source == canonical::Source::kState ? &state[input.index] : &outputs[input.index]
                );
            }
            CAPTURE(name_of(options));
            CHECK(outputs[i] == canonical::execute_node(model.program.step[i], model.context(0), *model.rows, inputs));
        }
    }
}

TEST_CASE("an observer that says stop leaves the state as it was") {
    const SmallModel model = small_char_model(OptimizerKind::kAdam);
    for (const auto& options : all_engines()) {
        auto engine = make_engine(model, options);
        std::uint32_t seen = 0;
        WholeOutputs stop(model.program.step, [&](std::uint32_t, const Tensor&) { return ++seen < 20; });
        CHECK(engine.run_step(model.context(0), {}, &stop).has_value());
        CHECK(seen == 20);
        CHECK(engine.state() == model.initial());
        WholeOutputs last(model.program.step, [&](std::uint32_t, const Tensor&) {
            return ++seen < 20 + model.program.step.size() - 1;
        });
        CHECK(engine.run_step(model.context(0), {}, &last).has_value());
        CHECK(engine.state() == model.initial());
    }
}

TEST_CASE("NUM-6: a step to a state that is not finite has diverged and leaves the state as it was") {
    const SmallModel model = small_char_model(OptimizerKind::kAdam);
    for (const auto& options : all_engines()) {
        auto engine = make_engine(model, options);
        std::vector<Tensor> state = model.initial();
        const std::uint32_t infinity = 0x7f800000;
        std::memcpy(state.back().data.data(), &infinity, 4);
        engine.set_state(state);
        const auto result = engine.run_step(model.context(0));
        REQUIRE_FALSE(result.has_value());
        CHECK(result.error() == canonical::StepError::kDiverged);
        CHECK(engine.state() == state);
    }
}

TEST_CASE("NUM-5: a device that does not exist is a failure and no verdict") {
    const SmallModel model = small_char_model(OptimizerKind::kAdam);
    CHECK_THROWS(engine::Engine(model.program.step, model.rows, {.device = "cuda:99"}));
}
