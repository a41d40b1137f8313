// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/narrow_moments.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/canonical/samples.hpp>
#include <tests/unit/program/model_trainer.hpp>
#include <tests/unit/program/text_rows.hpp>
#include <verifier/compile/program/models.hpp>

using namespace assay;
using namespace assay::program;
using namespace assay::test;
using canonical::DType;
using canonical::Shape;
using canonical::Tensor;

namespace {

constexpr std::uint64_t kRows = 200;

/// A model with moments of 4,096 elements and more, of no whole number of blocks, and small ones.
Program char_model(const OptimizerConfig& config) {
    CharModelConfig model;
    model.vocabulary = 37;
    model.context = 5;
    model.hidden = 45;
    model.batch_size = 16;
    model.dataset_rows = kRows;
    const Program program = build_char_model(model, config);
    return config.moments == Moments::kF32 ? program : with_narrow_moments(program, config).value();
}

OptimizerConfig with(Moments moments, OptimizerKind kind = OptimizerKind::kAdamW) {
    OptimizerConfig config = optimizer(
        kind, kind == OptimizerKind::kSgdMomentum ? 0.3F
              : kind == OptimizerKind::kRmsprop   ? 0.001F
                                                  : 0.01F
    );
    config.moments = moments;
    return config;
}

/// One parameter [1,cols] with a gradient that is the same in each step, and Adam's moments of it.
Program constant_gradient(const OptimizerConfig& config, std::uint32_t cols, float gradient) {
    const StateTensor parameter{"w", {DType::kF32, Shape{1, cols}}};
    const std::vector<Slot> slots = optimizer_slots(config, {parameter});
    Program program;
    program.state = {parameter};
    GraphBuilder init;
    std::vector<Value> first{init.fill(parameter.type.shape, 1.0F)};
    GraphBuilder step;
    OptimizerInputs inputs{{GraphBuilder::state(0, parameter.type)}, {step.fill(parameter.type.shape, gradient)}, {}};
    for (const Slot& slot : slots) {
        const auto index = static_cast<std::uint32_t>(program.state.size());
        inputs.slots.push_back(GraphBuilder::state(index, slot.tensor.type));
        first.push_back(init.fill(slot.tensor.type.shape, slot.initial));
        program.state.push_back(slot.tensor);
    }
    program.init = std::move(init).commit(first);
    const std::vector<Value> next = append_optimizer(step, config, inputs);
    Value loss = step.fill(Shape{1, 1}, 0.0F);
    program.step = std::move(step).commit(next, loss);
    program.loss_node = loss.index;
    program.batch_size = 1;
    program.dataset = {kRows, 6};
    return program;
}

/// What the state's tensor of this name stands for.
std::vector<double> widened(const Trainer& trainer, const std::string& name) {
    const std::size_t place = trainer.index_of(name);
    const Tensor& tensor = trainer.state[place];
    std::vector<double> out(tensor.shape.element_count());
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (tensor.dtype == DType::kBf16) {
            out[i] = static_cast<double>(std::bit_cast<float>(canonical::test::get_u16(tensor, i) * 65536U));
        } else if (tensor.dtype == DType::kF32) {
            out[i] = static_cast<double>(canonical::test::get_f32(tensor, i));
        } else {
            const std::size_t dot = name.find('.', name.starts_with("adam.") ? 5 : 0);
            const std::string of = name.substr(0, dot) + ".exponent" + name.substr(dot);
            const Tensor& exponents = trainer.state[trainer.index_of(of)];
            const auto exponent = static_cast<double>(canonical::test::get_i8(exponents, i / kMomentBlock));
            out[i] = static_cast<double>(canonical::test::get_i8(tensor, i)) * std::exp2(exponent - 7.0);
            out[i] *= name.starts_with("adam.second.") ? out[i] : 1.0;
        }
    }
    return out;
}

/// The average of squares after so many steps, from `from` on, in parts of the square it goes to.
double average_after(Moments moments, std::uint64_t steps, float from) {
    constexpr std::uint32_t kCols = 4096;
    constexpr float kGradient = 0.3F;
    OptimizerConfig config = with(moments);
    config.learning_rate = 0.0F;
    const Program wide = constant_gradient(config, kCols, kGradient);
    const TextRows rows(kRows, 6, 37);
    Trainer trainer(moments == Moments::kF32 ? wide : with_narrow_moments(wide, config).value(), rows);
    // The moment that the state holds is set through the program's own initialisation, which narrows it.
    Program start = wide;
    start.init[start.init.back().inputs[2].index].attributes[0] = std::bit_cast<std::uint32_t>(from);
    const Program narrow = moments == Moments::kF32 ? start : with_narrow_moments(start, config).value();
    trainer.state = canonical::execute_graph(narrow.init, trainer.context(0), rows, {}).value();
    for (std::uint64_t step = 0; step < steps; ++step) {
        trainer.train(step);
    }
    const std::vector<double> found = widened(trainer, "adam.second.w");
    const double sum = std::accumulate(found.begin(), found.end(), 0.0);
    return sum / kCols / (static_cast<double>(kGradient) * static_cast<double>(kGradient));
}

}  // namespace

TEST_CASE("moments of type bf16 and int8 have the parameters' names and fewer bytes") {
    const Program wide = char_model(with(Moments::kF32));
    const Program half = char_model(with(Moments::kBf16));
    const Program byte = char_model(with(Moments::kInt8));
    REQUIRE(check_program(half).has_value());
    REQUIRE(check_program(byte).has_value());
    std::uint64_t moments = 0;
    std::uint64_t large = 0;
    std::uint64_t blocks = 0;
    for (std::size_t i = 0; i < wide.state.size(); ++i) {
        const StateTensor& tensor = wide.state[i];
        CAPTURE(tensor.name);
        const bool is_slot = tensor.name.starts_with("adam.first.") || tensor.name.starts_with("adam.second.");
        CHECK(is_moment(tensor, wide.state) == is_slot);
        const std::uint64_t elements = tensor.type.shape.element_count();
        CHECK(half.state[i].name == tensor.name);
        CHECK(half.state[i].type == canonical::TensorType{is_slot ? DType::kBf16 : DType::kF32, tensor.type.shape});
        CHECK(byte.state[i].name == tensor.name);
        const bool is_byte = is_slot && elements >= kMinInt8Elements;
        CHECK((byte.state[i].type.dtype == DType::kI8) == is_byte);
        moments += is_slot ? elements : 0;
        large += is_byte ? elements : 0;
        blocks += is_byte ? (elements + 255) / 256 : 0;
    }
    CHECK(large > 0);
    CHECK(large < moments);
    CHECK(size_bytes(half.state) == size_bytes(wide.state) - 2 * moments);
    CHECK(size_bytes(byte.state) == size_bytes(wide.state) - 4 * large + 256 * blocks + blocks);
    CHECK(byte.state.back().name.starts_with("adam.second.exponent."));
}

TEST_CASE("a program without moments, and one that has such a name already, are refused") {
    const OptimizerConfig none = with(Moments::kBf16, OptimizerKind::kSgd);
    CHECK(
        with_narrow_moments(char_model(with(Moments::kF32, OptimizerKind::kSgd)), none).error() == MomentsError::kNone
    );
    Program named = char_model(with(Moments::kF32));
    for (StateTensor& tensor : named.state) {
        tensor.name = tensor.name == "adam.first_weight" ? "adam.first.exponent.hidden.weight" : tensor.name;
    }
    CHECK(with_narrow_moments(named, with(Moments::kInt8)).error() == MomentsError::kNames);
    CHECK(with_narrow_moments(named, with(Moments::kBf16)).has_value());
}

TEST_CASE("a moment that a step passes on stays as it is, and no node is written for it") {
    for (const Moments moments : {Moments::kBf16, Moments::kInt8}) {
        OptimizerConfig config = with(moments);
        Program wide = constant_gradient(config, 4096, 0.3F);
        wide.step.back().inputs[2] = GraphBuilder::state(2, wide.state[2].type);
        const Program narrow = with_narrow_moments(wide, config).value();
        const canonical::Input& passed = narrow.step.back().inputs[2];
        CHECK(passed.source == canonical::Source::kState);
        CHECK(passed.index == 2);
        CHECK(passed.dtype == narrow.state[2].type.dtype);
    }
}

TEST_CASE("a model learns with narrow moments as it does with f32" * doctest::test_suite("unsanitized")) {
    const TextRows rows(kRows, 6, 37);
    for (const OptimizerKind kind : {OptimizerKind::kAdamW, OptimizerKind::kSgdMomentum, OptimizerKind::kRmsprop}) {
        Trainer wide(char_model(with(Moments::kF32, kind)), rows);
        const double expected = fall(wide, 60);
        for (const Moments moments : {Moments::kBf16, Moments::kInt8}) {
            Trainer narrow(char_model(with(moments, kind)), rows);
            const double found = fall(narrow, 60);
            CAPTURE(found);
            CHECK(expected < 0.9);
            CHECK(found < expected + 0.05);
        }
    }
}

TEST_CASE("steps that only accumulate leave what narrow moments stand for as it is") {
    const TextRows rows(kRows, 6, 37);
    for (const Moments moments : {Moments::kBf16, Moments::kInt8}) {
        OptimizerConfig config = with(moments);
        config.accumulation = 3;
        Trainer trainer(char_model(config), rows);
        const std::vector<std::string> names{"adam.first.hidden.weight", "adam.second.hidden.weight"};
        for (std::uint64_t step = 0; step < 9; ++step) {
            std::vector<std::vector<double>> before;
            for (const std::string& name : names) {
                before.push_back(widened(trainer, name));
            }
            trainer.train(step);
            for (std::size_t i = 0; i < names.size(); ++i) {
                CAPTURE(names[i]);
                CHECK((before[i] == widened(trainer, names[i])) == (step % 3 != 2));
            }
        }
    }
}

TEST_CASE(
    "averages that change by less than half a step of their type go where f32 ones go" *
    doctest::test_suite("unsanitized")
) {
    // Every step changes the average by a thousandth of what is missing, a bf16 is 1/128 to 1/256 from the next one.
    for (const float from : {0.0F, 0.045F, 0.18F}) {
        const double expected = average_after(Moments::kF32, 1500, from);
        CAPTURE(expected);
        CHECK(average_after(Moments::kBf16, 1500, from) == doctest::Approx(expected).epsilon(0.01));
        // The root is what is rounded without a bias, so its square is a little too large.
        CHECK(average_after(Moments::kInt8, 1500, from) == doctest::Approx(expected).epsilon(0.03));
    }
}
