// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/evaluation.hpp>

#include <algorithm>

#include <doctest/doctest.h>
#include <tests/unit/engine/equality.hpp>
#include <tests/unit/engine/small_models.hpp>

using namespace assay;
using namespace assay::test;
using canonical::Op;
using canonical::Tensor;

namespace {

struct Batch {
    Tensor rows;
    Tensor loss;
};

/// What a step reads, and its loss, by the definition.
Batch batch_of(const SmallModel& model, std::uint64_t step, const std::vector<Tensor>& state) {
    Batch out;
    const auto keep = [&](std::uint32_t node, const Tensor& output) {
        if (model.program.step[node].op == Op::kBatchRows) {
            out.rows = output;
        }
        if (node == model.program.loss_node) {
            out.loss = output;
        }
        return true;
    };
    REQUIRE(canonical::execute_graph(model.program.step, model.context(step), *model.rows, state, keep).has_value());
    return out;
}

bool has_dropout(const SmallModel& model) {
    return std::any_of(model.program.step.begin(), model.program.step.end(), [](const canonical::Node& node) {
        return node.op == Op::kBernoulli;
    });
}

}  // namespace

TEST_CASE("EVL-7: on the rows of a batch the score is the step's loss to the bit, on every engine") {
    for (const SmallModel& model : small_models(program::kXg21)) {
        CAPTURE(model.name);
        const auto state = model.initial();
        const Batch batch = batch_of(model, 3, state);
        const auto evaluation = program::make_evaluation(model.program, batch.rows.shape.rows).value();
        const auto given = program::evaluated_state(state, batch.rows);
        const auto score = *canonical::execute_graph(evaluation.init, model.context(0), *model.rows, given);
        CHECK((score.front() == batch.loss) == !has_dropout(model));
        for (const auto& options : all_engines()) {
            CAPTURE(name_of(options));
            engine::Engine engine(evaluation.init, model.rows, options);
            engine.set_state(given);
            REQUIRE(engine.run_step(model.context(0)).has_value());
            CHECK(engine.state() == score);
        }
    }
}
