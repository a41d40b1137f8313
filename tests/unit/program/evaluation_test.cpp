// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/evaluation.hpp>

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <doctest/doctest.h>
#include <tests/unit/program/scalar_graph.hpp>
#include <tests/unit/program/text_rows.hpp>
#include <verifier/compile/program/models.hpp>

using namespace assay;
using namespace assay::program;
using canonical::DType;
using canonical::Node;
using canonical::Op;
using canonical::Tensor;

namespace {

constexpr std::uint64_t kRows = 60;

Program char_model() {
    return build_char_model(
        {.vocabulary = 20, .context = 3, .embedding = 32, .hidden = 33, .batch_size = 8, .dataset_rows = kRows}, {}
    );
}

Program gpt_model(float dropout) {
    GptConfig model;
    model.vocabulary = 20;
    model.context = 32;
    model.layers = 1;
    model.heads = 1;
    model.width = 32;
    model.dropout = dropout;
    model.batch_size = 2;
    model.dataset_rows = kRows;
    return build_gpt(model, {});
}

test::TextRows rows_of(const Program& program) { return {program.dataset.rows, program.dataset.width, 20}; }

Tensor first_rows(const Program& program, std::uint32_t first, std::uint32_t count) {
    const test::TextRows rows = rows_of(program);
    Tensor out = canonical::make_tensor(DType::kI32, {count, program.dataset.width});
    for (std::uint32_t i = 0; i < count; ++i) {
        const Bytes row = rows.row(first + i);
        std::memcpy(out.data.data() + i * row.size(), row.data(), row.size());
    }
    return out;
}

std::vector<Tensor> initial_state(const Program& program) {
    const test::TextRows rows = rows_of(program);
    return *canonical::execute_graph(program.init, {.seed = 3, .step = 0, .dataset = rows.shape()}, rows, {});
}

float first_f32(const Tensor& tensor) {
    float value = 0;
    std::memcpy(&value, tensor.data.data(), sizeof(value));
    return value;
}

float score_of(const Program& evaluation, const std::vector<Tensor>& state, const Tensor& holdout) {
    const test::NoRows rows;
    const auto out = canonical::execute_graph(
        evaluation.init, {.seed = 3, .step = 0, .dataset = rows.shape()}, rows, evaluated_state(state, holdout)
    );
    REQUIRE(out.has_value());
    return first_f32(out->front());
}

float score_of(const Program& program, const Tensor& holdout) {
    return score_of(make_evaluation(program, holdout.shape.rows).value(), initial_state(program), holdout);
}

/// A loss that is no more than the mean of the state's only tensor.
Program state_model(float value) {
    GraphBuilder step;
    const Value given = GraphBuilder::state(0, {DType::kF32, {1, 1}});
    const Value row = step.to_float(step.batch_rows({1, 1}));
    Value loss = step.add(given, step.scale(row, 0.0F));
    const std::array next{step.add_const(given, 1.0F)};
    GraphBuilder init;
    const std::array start{init.fill({1, 1}, value)};
    Program program;
    program.state = {{"x", {DType::kF32, {1, 1}}}};
    program.init = std::move(init).commit(start);
    program.step = std::move(step).commit(next, loss);
    program.loss_node = loss.index;
    program.batch_size = 1;
    program.dataset = {.rows = kRows, .width = 1};
    REQUIRE(check_program(program).has_value());
    return program;
}

}  // namespace

TEST_CASE("EVL-2: the hold-out set stands behind the state, at the next power of two") {
    const Program program = char_model();
    const Program evaluation = make_evaluation(program, 16).value();
    const std::size_t place = evaluation.initial.size() - 1;
    CHECK(std::has_single_bit(place));
    CHECK(place >= program.state.size());
    CHECK(place < 2 * program.state.size());
    CHECK(evaluation.initial[place].type == canonical::TensorType{DType::kI32, {16, program.dataset.width}});
    for (std::size_t i = 0; i < program.state.size(); ++i) {
        CHECK(evaluation.initial[i].type == program.state[i].type);
    }
    CHECK(check_program(evaluation).has_value());
}

TEST_CASE("EVL-3: a score is finite, whatever the state") {
    constexpr float kLargest = std::numeric_limits<float>::max();
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const Program evaluation = make_evaluation(state_model(0.0F), 3).value();
    const Tensor holdout = canonical::make_tensor(DType::kI32, {3, 1});
    const auto score = [&](float value) {
        Tensor x = canonical::make_tensor(DType::kF32, {1, 1});
        std::memcpy(x.data.data(), &value, sizeof(value));
        return score_of(evaluation, {x}, holdout);
    };
    CHECK(score(1.5F) == 1.5F);
    CHECK(score(std::numeric_limits<float>::quiet_NaN()) == kLargest);
    CHECK(score(kInfinity) == kLargest);
    CHECK(score(-kInfinity) == -kLargest);
    CHECK(score(kLargest) == kLargest);  // the sum of the batches is not finite
}

TEST_CASE("EVL-7: the score is the mean over the batches of the loss, of the state before a step") {
    const Program program = char_model();
    const Tensor both = first_rows(program, 5, 16);
    const float first = score_of(program, first_rows(program, 5, 8));
    const float second = score_of(program, first_rows(program, 13, 8));
    CHECK(first != second);
    CHECK(score_of(program, both) == (first + second) * 0.5F);
}

TEST_CASE("EVL-7: masks are replaced by their mean, so dropout is off") {
    const Program with = gpt_model(0.25F);
    const Program without = gpt_model(0.0F);
    const Tensor holdout = first_rows(with, 0, 4);
    const auto state = initial_state(without);
    const float expected = score_of(make_evaluation(without, 4).value(), state, holdout);
    const Program evaluation = make_evaluation(with, 4).value();
    const float score = score_of(evaluation, state, holdout);
    CHECK(score == doctest::Approx(expected).epsilon(1e-6));
    for (const Node& node : evaluation.init) {
        CHECK(node.op != Op::kBernoulli);
        CHECK(node.op != Op::kBatchRows);
    }
}

TEST_CASE("EVL-7: a loss that depends on the step, or on random numbers that are no mask, has no evaluation") {
    for (const Op op : {Op::kStepCount, Op::kUniform}) {
        Program program = state_model(0.0F);
        Node& source = program.step[program.loss_node];
        Node replaced{op, DType::kF32, {1, 1}, {1, 0}, {}, {}};
        if (op == Op::kUniform) {
            replaced.attributes = {std::bit_cast<std::uint32_t>(1.0F), 1};
        }
        source = replaced;
        REQUIRE(check_program(program).has_value());
        CHECK(make_evaluation(program, 1).error().error == EvaluationError::kLoss);
    }
}

TEST_CASE("EVL-7: nothing that makes the next state alone is evaluated") {
    const Program program = char_model();
    const Program evaluation = make_evaluation(program, program.batch_size).value();
    CHECK(evaluation.init.size() < program.step.size());
}

TEST_CASE("EVL-8: a hold-out set is a whole number of batches, at least one") {
    const Program program = char_model();
    for (const std::uint64_t rows : {0U, 7U, 9U}) {
        CHECK(make_evaluation(program, rows).error().error == EvaluationError::kRows);
    }
    CHECK(make_evaluation(program, 8).has_value());
}

TEST_CASE("EVL-8: a graph of too many nodes is refused with the number of rows that fit") {
    const Program program = char_model();
    const auto refused = make_evaluation(program, 8 * 10'000);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().error == EvaluationError::kTooLarge);
    const std::uint64_t fit = refused.error().rows_fit;
    REQUIRE(fit >= 8);
    const auto largest = make_evaluation(program, fit);
    REQUIRE(largest.has_value());
    CHECK(largest->init.size() <= canonical::kMaxNodes);
    CHECK(make_evaluation(program, fit + 8).error().rows_fit == fit);
    CHECK(make_evaluation(program, std::uint64_t{1} << 40U).error().rows_fit == fit);
}
