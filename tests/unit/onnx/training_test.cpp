// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include <doctest/doctest.h>
#include <tests/unit/onnx/model_builder.hpp>
#include <tests/unit/onnx/models.hpp>
#include <tests/unit/onnx/run_model.hpp>
#include <core/canonical/executor.hpp>

using namespace assay;
using namespace assay::onnx;
using assay::onnx::test::cnn;
using assay::onnx::test::mlp;
using assay::onnx::test::ModelBuilder;
using assay::onnx::test::Numbers;
using assay::onnx::test::transformer;
using canonical::Tensor;

namespace {

constexpr std::uint64_t kRows = 24;
constexpr std::uint32_t kBatch = 8;

// Rows of `floats` numbers and then `integers` numbers below `classes`.
class Rows : public canonical::RowSource {
  public:
    Rows(std::uint32_t floats, std::uint32_t integers, std::uint32_t classes) : width_(floats + integers) {
        Numbers numbers(5);
        for (std::uint64_t i = 0; i < kRows; ++i) {
            Bytes& row = rows_.emplace_back(Bytes(std::size_t{width_} * 4));
            for (std::uint32_t j = 0; j < width_; ++j) {
                const float real = numbers.next();
                const std::uint32_t whole = numbers.below(classes);
                std::memcpy(row.data() + j * 4, j < floats ? static_cast<const void*>(&real) : &whole, 4);
            }
        }
    }
    canonical::DatasetShape shape() const override { return {kRows, width_}; }
    Bytes row(std::uint64_t index) const override { return rows_.at(index); }

  private:
    std::uint32_t width_;
    std::vector<Bytes> rows_;
};

TrainingConfig momentum_config() {
    TrainingConfig config;
    config.batch_size = kBatch;
    config.dataset_rows = kRows;
    config.profile = program::kXg24;
    config.optimizer.kind = program::OptimizerKind::kSgdMomentum;
    return config;
}

TrainingImport import_model(const ModelBuilder& model, const TrainingConfig& config) {
    auto imported = import_training(model.bytes(), config);
    REQUIRE_MESSAGE(imported.has_value(), imported.error().message);
    REQUIRE(program::check_program(imported->program).has_value());
    return *std::move(imported);
}

struct Trainer {
    Trainer(const TrainingImport& imported, const Rows& data) : program(imported.program), rows(data) {
        auto made = canonical::execute_graph(program.init, context(0), rows, imported.initial);
        REQUIRE(made.has_value());
        state = *std::move(made);
    }
    canonical::StepContext context(std::uint64_t step) const {
        return {.seed = 7, .step = step, .dataset = rows.shape()};
    }
    float loss(const std::vector<Tensor>& at) const {
        float out = 0.0F;
        const auto stop = [&](std::uint32_t node, const Tensor& output) {
            if (node == program.loss_node) {
                std::memcpy(&out, output.data.data(), sizeof out);
            }
            return node != program.loss_node;
        };
        CHECK(canonical::execute_graph(program.step, context(1), rows, at, stop).has_value());
        return out;
    }
    std::vector<Tensor> next(std::uint64_t step) const {
        auto out = canonical::execute_graph(program.step, context(step), rows, state);
        REQUIRE(out.has_value());
        return *std::move(out);
    }
    std::size_t find(const std::string& name) const {
        for (std::size_t i = 0; i < program.state.size(); ++i) {
            if (program.state[i].name == name) {
                return i;
            }
        }
        FAIL("no tensor " << name);
        return 0;
    }

    const program::Program& program;
    const Rows& rows;
    std::vector<Tensor> state;
};

float value(const Tensor& tensor, std::size_t i) { return static_cast<float>(assay::onnx::test::element(tensor, i)); }
void set_value(Tensor& tensor, std::size_t i, float to) { std::memcpy(tensor.data.data() + i * 4, &to, 4); }

// From zero momentum the next momentum is the gradient. Central differences of an fp32 loss with h = 2^-8.
void check_gradients(const TrainingImport& imported, const Rows& data) {
    Trainer trainer(imported, data);
    const std::vector<Tensor> next = trainer.next(1);
    constexpr float kStep = 0x1.0p-8F;
    std::size_t checked = 0;
    for (const program::StateTensor& tensor : trainer.program.state) {
        const auto slot =
            std::find_if(trainer.program.state.begin(), trainer.program.state.end(), [&](const auto& other) {
                return other.name == "momentum." + tensor.name;
            });
        if (slot == trainer.program.state.end()) {
            continue;
        }
        CAPTURE(tensor.name);
        const std::size_t p = trainer.find(tensor.name);
        const Tensor& gradient = next[trainer.find(slot->name)];
        const std::size_t count = tensor.type.shape.element_count();
        double largest = 0.0;
        for (std::size_t i = 0; i < count; ++i) {
            largest = std::max(largest, std::abs(static_cast<double>(value(gradient, i))));
        }
        CHECK(largest > 1e-4);
        for (std::size_t i = 0; i < count; i += 1 + count / 7) {
            CAPTURE(i);
            std::vector<Tensor> moved = trainer.state;
            const float x = value(moved[p], i);
            set_value(moved[p], i, x + kStep);
            const double above = static_cast<double>(trainer.loss(moved));
            set_value(moved[p], i, x - kStep);
            const double below = static_cast<double>(trainer.loss(moved));
            const double difference = (above - below) / (2.0 * static_cast<double>(kStep));
            CHECK(std::abs(difference - static_cast<double>(value(gradient, i))) < 1e-3 + 0.02 * std::abs(difference));
            ++checked;
        }
    }
    CHECK(checked > 0);
}

}  // namespace

TEST_CASE("gradients of an imported perceptron agree with finite differences") {
    check_gradients(import_model(mlp(), momentum_config()), Rows(6, 1, 4));
}

TEST_CASE("gradients of an imported convolutional network agree with finite differences") {
    check_gradients(import_model(cnn(), momentum_config()), Rows(128, 1, 3));
}

TEST_CASE("gradients of an imported transformer agree with finite differences") {
    check_gradients(import_model(transformer(), momentum_config()), Rows(0, 8, 11));
}

// A gate's two largest scores of four, scattered back and weighing what the other weight computes.
TEST_CASE("gradients through TopK and a computed scatter agree with finite differences") {
    Numbers numbers(4);
    ModelBuilder model;
    model.input("x", {-1, 6});
    model.output("loss");
    model.initializer("gate", {6, 4}, numbers.many(24));
    model.initializer("expert", {6, 4}, numbers.many(24));
    model.initializer("zeros", {kBatch, 4}, std::vector<float>(std::size_t{kBatch} * 4, 0.0F));
    model.integers("k", {2});
    model.node("MatMul", {"x", "gate"}, {"scores"});
    model.node("TopK", {"scores", "k"}, {"top", "chosen"});
    model.node("Softmax", {"top"}, {"shares"});
    model.node("ScatterElements", {"zeros", "chosen", "shares"}, {"weights"});
    model.attribute("axis", std::int64_t{1});
    model.node("MatMul", {"x", "expert"}, {"outputs"});
    model.node("Mul", {"outputs", "weights"}, {"mixed"});
    model.node("Mul", {"mixed", "mixed"}, {"squares"});
    model.node("ReduceMean", {"squares"}, {"loss"});
    model.attribute("keepdims", std::int64_t{0});
    TrainingConfig config = momentum_config();
    config.frozen = {"zeros"};
    check_gradients(import_model(model, config), Rows(6, 0, 1));
}

TEST_CASE("an imported perceptron learns with every optimizer") {
    using program::OptimizerKind;
    for (const OptimizerKind kind :
         {OptimizerKind::kSgd, OptimizerKind::kSgdMomentum, OptimizerKind::kAdam, OptimizerKind::kAdamW}) {
        CAPTURE(static_cast<int>(kind));
        TrainingConfig config = momentum_config();
        config.optimizer.kind = kind;
        config.optimizer.learning_rate = 0.05F;
        const TrainingImport imported = import_model(mlp(), config);
        const Rows rows(6, 1, 4);
        Trainer trainer(imported, rows);
        const float before = trainer.loss(trainer.state);
        for (std::uint64_t step = 0; step < 60; ++step) {
            trainer.state = trainer.next(step);
        }
        CHECK(trainer.loss(trainer.state) < before - 0.05F);
    }
}

TEST_CASE("a program starts from the model's own weights") {
    const TrainingImport imported = import_model(mlp(), momentum_config());
    REQUIRE(imported.program.initial.size() == 4);
    REQUIRE(imported.initial.size() == 4);
    CHECK(imported.program.initial[0].name == "fc1.weight");
    const Rows rows(6, 1, 4);
    const Trainer trainer(imported, rows);
    CHECK(imported.program.batch_size == kBatch);
    CHECK(imported.program.dataset == canonical::DatasetShape{kRows, 7});
    Numbers numbers(1);
    const std::vector<float> first = numbers.many(60, 0.5F);
    for (std::size_t i = 0; i < first.size(); ++i) {
        CHECK(value(trainer.state[0], i) == first[i]);
    }
}

TEST_CASE("batch normalization in training mode updates its statistics and leaves them untrained") {
    const TrainingImport imported = import_model(cnn(), momentum_config());
    const Rows rows(128, 1, 3);
    const Trainer trainer(imported, rows);
    const std::size_t mean = trainer.find("bn.mean");
    const std::size_t variance = trainer.find("bn.variance");
    const std::vector<Tensor> next = trainer.next(0);
    for (std::size_t c = 0; c < 4; ++c) {
        CHECK(value(next[mean], c) != 0.0F);
        CHECK(value(next[variance], c) != 1.0F);
        CHECK(value(next[variance], c) > 0.75F);  // 0.75 of what it was
    }
    for (const program::StateTensor& tensor : imported.program.state) {
        CHECK(tensor.name != "momentum.bn.mean");
        CHECK(tensor.name != "momentum.bn.variance");
    }
}

TEST_CASE("frozen initializers pass through every step") {
    TrainingConfig config = momentum_config();
    config.frozen = {"fc1.weight"};
    const TrainingImport imported = import_model(mlp(), config);
    const Rows rows(6, 1, 4);
    const Trainer trainer(imported, rows);
    const std::vector<Tensor> next = trainer.next(0);
    const std::size_t frozen = trainer.find("fc1.weight");
    const std::size_t trained = trainer.find("fc1.bias");
    CHECK(next[frozen] == trainer.state[frozen]);
    CHECK_FALSE(next[trained] == trainer.state[trained]);
    CHECK(
        std::find(imported.notes.begin(), imported.notes.end(), "initializer 'fc1.weight' is not trained") !=
        imported.notes.end()
    );
}

TEST_CASE("a mask of infinite numbers does what one of finite numbers does") {
    const auto masked = [](float hidden) {
        Numbers numbers(4);
        ModelBuilder model;
        model.input("x", {-1, 6});
        model.input("label", {-1}, ElementType::kInt64);
        model.output("loss");
        model.initializer("weight", {6, 4}, numbers.many(24, 0.5F));
        model.initializer("mask", {1, 4}, {0.0F, 0.0F, 0.0F, hidden});
        model.node("MatMul", {"x", "weight"}, {"scores"});
        model.node("Add", {"scores", "mask"}, {"masked"});
        model.node("SoftmaxCrossEntropyLoss", {"masked", "label"}, {"loss"});
        return model;
    };
    TrainingConfig config = momentum_config();
    config.frozen = {"mask"};
    const TrainingImport infinite = import_model(masked(-std::numeric_limits<float>::infinity()), config);
    const TrainingImport finite = import_model(masked(-1e30F), config);
    const Rows rows(6, 1, 3);
    const Trainer one(infinite, rows);
    const Trainer other(finite, rows);
    const std::size_t weight = one.find("weight");
    CHECK(one.next(0)[weight] == other.next(0)[weight]);
    CHECK(one.next(0)[weight] != one.state[weight]);
    const auto told = [](const TrainingImport& imported) {
        return std::count_if(imported.notes.begin(), imported.notes.end(), [](const std::string& note) {
            return note.find("infinite") != std::string::npos;
        });
    };
    CHECK(told(infinite) == 1);
    CHECK(told(finite) == 0);
}

TEST_CASE("a picture in patches is trained without a gradient of the picture") {
    constexpr std::int64_t kChannels = 256;
    constexpr std::int64_t kSide = 16;
    Numbers numbers(8);
    ModelBuilder model;
    model.input("image", {-1, 3, 2 * kSide, 2 * kSide});
    model.input("label", {-1}, ElementType::kInt64);
    model.output("loss");
    model.initializer("patch.weight", {kChannels, 3, kSide, kSide}, numbers.many(kChannels * 3 * kSide * kSide, 0.05F));
    model.initializer("fc.weight", {4 * kChannels, 3}, numbers.many(12 * kChannels, 0.1F));
    model.integers("shape", {-1, 4 * kChannels});
    model.node("Conv", {"image", "patch.weight"}, {"patches"});
    model.attribute("strides", std::vector<std::int64_t>{kSide, kSide});
    model.node("Reshape", {"patches", "shape"}, {"flat"});
    model.node("MatMul", {"flat", "fc.weight"}, {"scores"});
    model.node("SoftmaxCrossEntropyLoss", {"scores", "label"}, {"loss"});
    TrainingConfig config = momentum_config();
    config.batch_size = 64;
    config.dataset_rows = 64;
    // As a correlation the picture's gradient would read 65,536 places of 65,536 values.
    const TrainingImport imported = import_model(model, config);
    constexpr std::uint64_t kValues = std::uint64_t{64} * (3 * 32 * 32 + 1);  // of the pictures and their labels
    for (const canonical::Node& node : imported.program.step) {
        CHECK(node.shape.element_count() <= kValues);
    }
}

TEST_CASE("values computed twice get the gradient of both uses once") {
    Numbers numbers(4);
    ModelBuilder model;
    model.input("x", {-1, 5});
    model.output("loss");
    model.initializer("w", {5}, numbers.many(5));
    model.node("Mul", {"x", "w"}, {"y"});
    model.node("Tanh", {"y"}, {"a"});
    model.node("Tanh", {"y"}, {"b"});
    model.node("Mul", {"a", "b"}, {"c"});
    model.node("Add", {"c", "a"}, {"d"});
    model.node("ReduceMean", {"d"}, {"loss"});
    model.attribute("keepdims", std::int64_t{0});
    check_gradients(import_model(model, momentum_config()), Rows(5, 0, 1));
}

TEST_CASE("dropout draws another mask for each node and each step") {
    Numbers numbers(6);
    ModelBuilder model;
    model.input("x", {-1, 40});
    model.output("loss");
    model.initializer("w", {40}, std::vector<float>(40, 1.0F));
    model.node("Constant", {}, {"ratio"});
    model.attribute("value_float", 0.5F);
    auto& trains = *model.proto().mutable_graph()->add_initializer();
    trains.set_name("trains");
    trains.set_data_type(::onnx::TensorProto::BOOL);
    trains.add_int32_data(1);
    model.node("Mul", {"x", "w"}, {"y"});
    model.node("Dropout", {"y", "ratio", "trains"}, {"a", "a_mask_that_nothing_reads"});
    model.node("Dropout", {"y", "ratio", "trains"}, {"b"});
    model.node("Sub", {"a", "b"}, {"difference"});
    model.node("ReduceSumSquare", {"difference"}, {"loss"});
    const TrainingImport imported = import_model(model, momentum_config());
    CHECK(imported.notes.size() == 2);
    const Rows rows(40, 0, 1);
    const Trainer trainer(imported, rows);
    // With one mask for both the loss would be zero, and its gradient too.
    CHECK(trainer.loss(trainer.state) > 0.0F);
    const std::size_t w = trainer.find("w");
    CHECK_FALSE(trainer.next(0)[w] == trainer.next(3)[w]);
}

TEST_CASE("StopGradient passes its input on and no gradient back") {
    const auto gradient = [](const char* domain) {
        ModelBuilder model;
        model.input("x", {-1, 5});
        model.output("loss");
        model.initializer("w", {5}, Numbers(7).many(5));
        model.node(domain == nullptr ? "Identity" : "StopGradient", {"w"}, {"same"});
        if (domain != nullptr) {
            model.proto().mutable_graph()->mutable_node(0)->set_domain(domain);
        }
        model.node("Mul", {"x", "same"}, {"y"});
        model.node("Mul", {"y", "w"}, {"z"});
        model.node("ReduceSum", {"z"}, {"loss"});
        const TrainingImport imported = import_model(model, momentum_config());
        const Rows rows(5, 0, 1);
        const Trainer trainer(imported, rows);
        return std::pair(trainer.loss(trainer.state), trainer.next(1)[trainer.find("momentum.w")]);
    };
    // The derivative of x w w, and of x w with the other w held: the half of it, to the bit.
    const auto [whole_loss, whole] = gradient(nullptr);
    const auto [loss, half] = gradient("assay");
    CHECK(loss == whole_loss);
    for (std::size_t i = 0; i < 5; ++i) {
        CHECK(value(whole, i) == 2.0F * value(half, i));
        CHECK(value(half, i) != 0.0F);
    }
}
