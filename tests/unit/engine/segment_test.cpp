// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>

#include <doctest/doctest.h>
#include <tests/unit/engine/equality.hpp>
#include <tests/unit/program/text_rows.hpp>
#include <verifier/compile/program/program.hpp>

using namespace assay;
using namespace assay::test;
using namespace assay::program;
using canonical::StepContext;
using canonical::Tensor;

TEST_CASE("NUM-1: a segment of a demo-sized model leaves the same state by the definition and on every engine") {
    CharModelConfig model;
    model.vocabulary = 65;
    model.hidden = 256;
    model.dataset_rows = 20'000;
    constexpr std::uint64_t kSteps = 25;
    const Program program = build_char_model(model, {});
    const auto rows = std::make_shared<TextRows>(model.dataset_rows, model.context + 1, model.vocabulary);
    const auto context = [&](std::uint64_t step) {
        return StepContext{.seed = 5, .step = step, .dataset = rows->shape()};
    };
    const std::vector<Tensor> initial = *canonical::execute_graph(program.init, context(0), *rows, {});

    std::vector<Tensor> expected = initial;
    for (std::uint64_t step = 0; step < kSteps; ++step) {
        expected = *canonical::execute_graph(program.step, context(step), *rows, expected);
    }
    for (const auto& options : all_engines()) {
        engine::Engine engine(program.step, rows, options);
        engine.set_state(initial);
        const auto start = std::chrono::steady_clock::now();
        for (std::uint64_t step = 0; step < kSteps; ++step) {
            REQUIRE(engine.run_step(context(step)).has_value());
        }
        const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
        MESSAGE(name_of(options) << ": " << spent.count() / kSteps << " ms/step");
        CHECK(engine.state() == expected);
    }
}
