// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/distance.hpp>

#include <bit>
#include <limits>

#include <core/base/bytes.hpp>
#include <doctest/doctest.h>
#include <tests/unit/engine/equality.hpp>
#include <tests/unit/program/scalar_graph.hpp>
#include <verifier/compile/program/models.hpp>

using namespace assay;
using namespace assay::test;
using canonical::Tensor;

namespace {

void put_f32(Tensor& tensor, std::size_t element, float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (std::size_t i = 0; i < 4; ++i) {
        tensor.data[element * 4 + i] = static_cast<std::uint8_t>(bits >> (8 * i));
    }
}

std::vector<Tensor> numbers_like(const std::vector<program::StateTensor>& types, std::uint64_t seed, double size) {
    Numbers numbers(seed);
    std::vector<Tensor> out;
    for (const program::StateTensor& type : types) {
        out.push_back(canonical::make_tensor(type.type.dtype, type.type.shape));
        for (std::size_t i = 0; i < type.type.shape.element_count(); ++i) {
            put_f32(out.back(), i, static_cast<float>(numbers.real(-size, size)));
        }
    }
    return out;
}

}  // namespace

namespace {

/// Whether every engine measures what the definition does.
void check_engines(const program::Program& program, const std::vector<Tensor>& given) {
    const auto rows = std::make_shared<NoRows>();
    const canonical::StepContext context{.seed = 99, .step = 0, .dataset = rows->shape()};
    const std::vector<Tensor> expected = *canonical::execute_graph(program.init, context, *rows, given);
    for (const auto& options : all_engines()) {
        CAPTURE(name_of(options));
        engine::Engine engine(program.init, rows, options);
        engine.set_state(given);
        REQUIRE(engine.run_step(context).has_value());
        CHECK(engine.state() == expected);
    }
}

}  // namespace

TEST_CASE("NUM-1: a measurement is the same by the definition and on every engine, hostile values included") {
    program::CharModelConfig model;
    model.vocabulary = 40;
    model.hidden = 70;
    model.dataset_rows = 10;
    std::vector<program::StateTensor> types = program::build_char_model(model, {}).state;
    types.push_back({"count", {canonical::DType::kI32, {3, 50}}});
    const program::Program program = program::build_distance_program(types).value();
    const auto start = numbers_like(types, 1, 1.0);
    const auto replayed = numbers_like(types, 2, 1.0);
    auto claimed = numbers_like(types, 3, 1e-3);
    std::size_t element = 0;
    for (const float hostile :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min(), -0.0F}) {
        put_f32(claimed[0], element, hostile);
        element += 37;
    }
    check_engines(program, program::measured_state(start, replayed, claimed));
}

TEST_CASE("NUM-1: a measurement of joined tensors is the same by the definition and on every engine") {
    std::vector<program::StateTensor> types;
    for (std::uint32_t i = 0; i < 1'400; ++i) {
        const auto type = i % 10 == 9 ? canonical::DType::kI32 : canonical::DType::kF32;
        const std::string name = (i % 3 == 2 ? "adam.first." : "") + std::to_string(i);
        types.push_back({name, {type, {1 + i % 2, 5}}});
    }
    const program::Program program = program::build_distance_program(types).value();
    check_engines(
        program,
        program::measured_state(numbers_like(types, 1, 1.0), numbers_like(types, 2, 1.0), numbers_like(types, 3, 1e-3))
    );
}
