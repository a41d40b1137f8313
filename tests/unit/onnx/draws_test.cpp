// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/onnx/model_builder.hpp>
#include <tests/unit/onnx/run_model.hpp>
#include <core/canonical/executor.hpp>

using namespace assay;
using namespace assay::onnx;
using assay::onnx::test::host_floats;
using assay::onnx::test::host_integers;
using assay::onnx::test::ModelBuilder;
using canonical::Tensor;

/// Operators that draw random numbers, and those that choose by what a step computes.
namespace {

class Zeros : public canonical::RowSource {
  public:
    canonical::DatasetShape shape() const override { return {2, 1}; }
    Bytes row(std::uint64_t) const override { return Bytes(4, 0); }
    Bytes chunk(std::uint64_t) const override { return Bytes(8, 0); }
};

/// A model with a batch `x` of one zero each, a weight `w` of one, and `shaped` of 8,192 elements.
ModelBuilder model_with_weight() {
    ModelBuilder model;
    model.input("x", {2, 1});
    model.output("loss");
    model.initializer("w", {1}, {1.0F});
    model.initializer("shaped", {128, 64}, std::vector<float>(std::size_t{128} * 64, 0.25F));
    return model;
}

/// The loss is the mean of `values` times `w`.
void add_loss(ModelBuilder& model, const std::string& values) {
    model.node("ReduceMean", {values}, {"mean"});
    model.attribute("keepdims", std::int64_t{0});
    model.node("Mul", {"mean", "w"}, {"weighed"});
    model.node("ReduceSum", {"x"}, {"nothing"});
    model.attribute("keepdims", std::int64_t{0});
    model.node("Add", {"weighed", "nothing"}, {"loss"});
}

float loss_at(const ModelBuilder& model, std::uint64_t step) {
    TrainingConfig config;
    config.batch_size = 2;
    config.dataset_rows = 2;
    const auto imported = import_training(model.bytes(), config);
    REQUIRE_MESSAGE(imported.has_value(), imported.error().message);
    REQUIRE(program::check_program(imported->program).has_value());
    const Zeros rows;
    const canonical::StepContext start{.seed = 3, .step = 0, .dataset = rows.shape()};
    const auto state = canonical::execute_graph(imported->program.init, start, rows, imported->initial);
    REQUIRE(state.has_value());
    float loss = 0.0F;
    const auto observe = [&](std::uint32_t node, const Tensor& output) {
        if (node == imported->program.loss_node) {
            std::memcpy(&loss, output.data.data(), sizeof loss);
        }
        return true;
    };
    const canonical::StepContext context{.seed = 3, .step = step, .dataset = rows.shape()};
    REQUIRE(canonical::execute_graph(imported->program.step, context, rows, *state, observe).has_value());
    return loss;
}

/// The mean over 8,192 draws of a power of (what `op` draws - `around`).
double moment(const std::string& op, float around, std::int64_t power, std::uint64_t step = 5) {
    ModelBuilder model = model_with_weight();
    const bool is_like = op.ends_with("Like") || op == "Bernoulli";
    model.node(op, is_like ? std::vector<std::string>{"shaped"} : std::vector<std::string>{}, {"drawn"});
    if (!is_like) {
        model.attribute("shape", std::vector<std::int64_t>{128, 64});
    }
    if (op.starts_with("RandomNormal")) {
        model.attribute("mean", 3.0F);
        model.attribute("scale", 2.0F);
    } else if (op != "Bernoulli") {
        model.attribute("low", -1.0F);
        model.attribute("high", 3.0F);
    }
    model.initializer("around", {1}, {around});
    model.initializer("power", {1}, {static_cast<float>(power)});
    model.node("Sub", {"drawn", "around"}, {"centred"});
    model.node("Pow", {"centred", "power"}, {"values"});
    add_loss(model, "values");
    return static_cast<double>(loss_at(model, step));
}

bool is_near(double found, double expected, double tolerance) { return std::abs(found - expected) < tolerance; }

}  // namespace

// Tolerances are five standard deviations of a mean over 8,192 draws or more.
TEST_CASE("normal draws have the moments of the normal distribution") {
    for (const std::string op : {"RandomNormal", "RandomNormalLike"}) {
        CAPTURE(op);
        CHECK(is_near(moment(op, 3.0F, 1), 0.0, 0.12));
        CHECK(is_near(moment(op, 3.0F, 2), 4.0, 0.32));
        CHECK(is_near(moment(op, 3.0F, 4), 48.0, 9.0));
    }
}

TEST_CASE("uniform draws have the moments of the uniform distribution") {
    for (const std::string op : {"RandomUniform", "RandomUniformLike"}) {
        CAPTURE(op);
        CHECK(is_near(moment(op, 1.0F, 1), 0.0, 0.07));
        CHECK(is_near(moment(op, 1.0F, 2), 4.0 / 3.0, 0.07));
        CHECK(is_near(moment(op, 1.0F, 4), 16.0 / 5.0, 0.25));
    }
}

TEST_CASE("Bernoulli draws ones with the given probabilities") {
    CHECK(is_near(moment("Bernoulli", 0.0F, 1), 0.25, 0.024));
    CHECK(moment("Bernoulli", 0.0F, 1) == moment("Bernoulli", 0.0F, 2));
}

TEST_CASE("draws differ from step to step and from node to node") {
    CHECK(moment("RandomNormalLike", 3.0F, 1, 5) == moment("RandomNormalLike", 3.0F, 1, 5));
    CHECK(moment("RandomNormalLike", 3.0F, 1, 5) != moment("RandomNormalLike", 3.0F, 1, 6));
    ModelBuilder model = model_with_weight();
    model.node("RandomNormalLike", {"shaped"}, {"one"});
    model.node("RandomNormalLike", {"shaped"}, {"other"});
    model.node("Mul", {"one", "other"}, {"product"});
    add_loss(model, "product");
    CHECK(is_near(static_cast<double>(loss_at(model, 5)), 0.0, 0.06));  // one and the same would give 1
}

TEST_CASE("inference refuses to draw") {
    ModelBuilder model;
    model.input("x", {2, 3});
    model.output("y");
    model.node("RandomNormalLike", {"x"}, {"y"});
    const auto imported = import_forward(model.bytes());
    REQUIRE_FALSE(imported.has_value());
    CHECK(imported.error().kind == ImportErrorKind::kUnsupported);
    CHECK(imported.error().message.find("RandomNormalLike") != std::string::npos);
}

namespace {

/// TopK of [2,4]: values as the first output, or indices.
void check_top(bool is_indices, const std::vector<float>& x, const HostTensor& expected) {
    ModelBuilder model;
    model.input("x", {2, 4});
    model.output(is_indices ? "indices" : "values");
    model.integers("k", {2});
    model.node("TopK", {"x", "k"}, {"values", "indices"});
    const auto imported = import_forward(model.bytes());
    REQUIRE_MESSAGE(imported.has_value(), imported.error().message);
    const auto outputs = assay::onnx::test::run_forward(*imported, {{"x", host_floats({2, 4}, x)}});
    CHECK(assay::onnx::test::difference(imported->outputs.at(0), outputs, expected) == "");
}

}  // namespace

TEST_CASE("of equal elements TopK finds the first, and never one twice") {
    const std::vector<float> ties{1.0F, 2.0F, 2.0F, 0.0F, -3.0F, -3.0F, -3.0F, -3.0F};
    check_top(true, ties, host_integers({2, 2}, {1, 2, 0, 1}));
    check_top(false, ties, host_floats({2, 2}, {2.0F, 2.0F, -3.0F, -3.0F}));
    const float none = -INFINITY;
    const std::vector<float> masked{none, 5.0F, none, none, none, none, none, none};
    check_top(true, masked, host_integers({2, 2}, {1, 0, 0, 1}));
    check_top(false, masked, host_floats({2, 2}, {5.0F, none, none, none}));
}

TEST_CASE("sums of integers along an axis are exact") {
    ModelBuilder model;
    model.input("x", {2, 4}, ElementType::kInt32);
    model.output("y");
    model.integers("axis", {1});
    model.node("CumSum", {"x", "axis"}, {"y"});
    const auto imported = import_forward(model.bytes());
    REQUIRE_MESSAGE(imported.has_value(), imported.error().message);
    HostTensor x = host_integers({2, 4}, {});
    x.type = ElementType::kInt32;
    HostTensor expected = x;
    const std::vector<std::int32_t> numbers{1, 0, 1, 1, 4'000'001, -1, 1, 1};
    const std::vector<std::int32_t> sums{1, 1, 2, 3, 4'000'001, 4'000'000, 4'000'001, 4'000'002};
    for (auto [tensor, values] : {std::pair(&x, &numbers), std::pair(&expected, &sums)}) {
        tensor->data.resize(values->size() * sizeof(std::int32_t));
        std::memcpy(tensor->data.data(), values->data(), tensor->data.size());
    }
    const auto outputs = assay::onnx::test::run_forward(*imported, {{"x", x}});
    CHECK(assay::onnx::test::difference(imported->outputs.at(0), outputs, expected) == "");
}

TEST_CASE("indices that a step computes scatter along their axis") {
    for (const bool adds : {false, true}) {
        CAPTURE(adds);
        ModelBuilder model;
        model.input("at", {2, 2}, ElementType::kInt64);
        model.input("updates", {2, 2});
        model.output("y");
        model.initializer("data", {2, 3}, {10, 20, 30, 40, 50, 60});
        model.node("ScatterElements", {"data", "at", "updates"}, {"y"});
        model.attribute("axis", std::int64_t{1});
        if (adds) {
            model.attribute("reduction", std::string("add"));
        }
        const auto imported = import_forward(model.bytes());
        REQUIRE_MESSAGE(imported.has_value(), imported.error().message);
        const auto outputs = assay::onnx::test::run_forward(
            *imported,
            {{"at", host_integers({2, 2}, {2, 0, -2, 1})}, {"updates", host_floats({2, 2}, {1.0F, 2.0F, 3.0F, 4.0F})}}
        );
        const std::vector<float> expected =
            adds ? std::vector<float>{12, 20, 31, 40, 57, 60} : std::vector<float>{2, 20, 1, 40, 4, 60};
        CHECK(assay::onnx::test::difference(imported->outputs.at(0), outputs, host_floats({2, 3}, expected)) == "");
    }
}
