// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/engine/equality.hpp>
#include <tests/unit/program/text_rows.hpp>
#include <verifier/program/program.hpp>

using namespace assay;
using namespace assay::test;
using namespace assay::program;
using canonical::StepContext;
using canonical::Tensor;

namespace {

CharModelConfig small_model() {
    CharModelConfig config;
    config.vocabulary = 37;
    config.context = 5;
    config.hidden = 45;
    config.batch_size = 33;
    config.dataset_rows = 500;
    return config;
}

OptimizerConfig optimizer(OptimizerKind kind) {
    OptimizerConfig config;
    config.kind = kind;
    return config;
}

struct Setup {
    Setup(const CharModelConfig& model, const OptimizerConfig& config)
        : program(build_char_model(model, config)),
          rows(std::make_shared<TextRows>(model.dataset_rows, model.context + 1, model.vocabulary)) {}

    StepContext context(std::uint64_t step) const { return {.seed = 11, .step = step, .dataset = rows->shape()}; }
    std::vector<Tensor> initial() const { return *canonical::execute_graph(program.init, context(0), *rows, {}); }
    engine::Engine make_engine(const engine::EngineOptions& options) const {
        engine::Engine out(program.step, rows, options);
        out.set_state(initial());
        return out;
    }

    Program program;
    std::shared_ptr<TextRows> rows;
};

}  // namespace

TEST_CASE("NUM-1: whole steps of the character model equal the definition on every engine") {
    for (const auto kind : {OptimizerKind::kSgdMomentum, OptimizerKind::kAdam}) {
        const Setup setup(small_model(), optimizer(kind));
        check_all_engines(setup.program.init, setup.context(0), setup.rows, {});
        std::vector<Tensor> state = setup.initial();
        for (std::uint64_t step = 0; step < 3; ++step) {
            check_all_engines(setup.program.step, setup.context(step), setup.rows, state);
            state = *canonical::execute_graph(setup.program.step, setup.context(step), *setup.rows, state);
        }
    }
}

TEST_CASE("the engine keeps the loss and the loss falls") {
    const Setup setup(small_model(), optimizer(OptimizerKind::kAdam));
    auto engine = setup.make_engine({});
    engine.keep(setup.program.loss_node);
    REQUIRE(engine.run_step(setup.context(0)).has_value());
    const float before = engine.scalar(setup.program.loss_node);
    for (std::uint64_t step = 1; step < 60; ++step) {
        REQUIRE(engine.run_step(setup.context(step)).has_value());
    }
    CHECK(engine.scalar(setup.program.loss_node) < 0.5F * before);
    CHECK(engine.description().starts_with("libtorch "));
    CHECK(engine.description().ends_with(" cpu, 1 thread"));
}

TEST_CASE("what a tamper changes reaches the rest of the step as if computed") {
    const Setup setup(small_model(), optimizer(OptimizerKind::kSgdMomentum));
    std::uint32_t quantised = 0;
    while (setup.program.step[quantised].op != canonical::Op::kQuantise) {
        ++quantised;
    }
    // Beyond +-2^p: the contraction after it must still be the definition's.
    const auto spoil = [&](std::uint64_t step, std::uint32_t node, Tensor& output) {
        if (step == 0 && node == quantised) {
            std::fill(output.data.begin(), output.data.begin() + 400, std::uint8_t{0x7f});
        }
    };
    for (const auto& options : all_engines()) {
        CAPTURE(options.portable);
        std::vector<Tensor> outputs;
        auto engine = setup.make_engine(options);
        const std::vector<Tensor> state = engine.state();
        const auto keep = [&](std::uint32_t, const Tensor& output) {
            outputs.push_back(output);
            return true;
        };
        CHECK(engine.run_step(setup.context(0), spoil, keep).has_value());
        REQUIRE(outputs.size() + 1 == setup.program.step.size());
        for (std::uint32_t i = 0; i < outputs.size(); ++i) {
            std::vector<const Tensor*> inputs;
            for (const auto& input : setup.program.step[i].inputs) {
                inputs.push_back(input.source == canonical::Source::kState ? &state[input.index] : &outputs[input.index]);
            }
            const Tensor honest = canonical::execute_node(setup.program.step[i], setup.context(0), *setup.rows, inputs);
            CAPTURE(i);
            CHECK((outputs[i] == honest) == (i != quantised));
        }
    }
}

TEST_CASE("an observer that says stop leaves the state as it was") {
    const Setup setup(small_model(), optimizer(OptimizerKind::kAdam));
    for (const auto& options : all_engines()) {
        auto engine = setup.make_engine(options);
        std::uint32_t seen = 0;
        const auto stop = [&](std::uint32_t node, const Tensor&) {
            seen = node;
            return node < 20;
        };
        CHECK(engine.run_step(setup.context(0), {}, stop).has_value());
        CHECK(seen == 20);
        CHECK(engine.state() == setup.initial());
    }
}

TEST_CASE("NUM-6: a step to a state that is not finite has diverged and leaves the state as it was") {
    const Setup setup(small_model(), optimizer(OptimizerKind::kAdam));
    for (const auto& options : all_engines()) {
        auto engine = setup.make_engine(options);
        std::vector<Tensor> state = setup.initial();
        const std::uint32_t infinity = 0x7f800000;
        std::memcpy(state.back().data.data(), &infinity, 4);
        engine.set_state(state);
        const auto result = engine.run_step(setup.context(0));
        REQUIRE_FALSE(result.has_value());
        CHECK(result.error() == canonical::StepError::kDiverged);
        CHECK(engine.state() == state);
    }
}

TEST_CASE("NUM-5: a device that does not exist is a failure and no verdict") {
    const Setup setup(small_model(), optimizer(OptimizerKind::kAdam));
    CHECK_THROWS(engine::Engine(setup.program.step, setup.rows, {.device = "cuda:99"}));
}
