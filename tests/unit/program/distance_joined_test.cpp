// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <doctest/doctest.h>
#include <tests/unit/program/measured.hpp>
#include <verifier/compile/program/distance.hpp>

using namespace assay;
using namespace assay::program;
using namespace assay::test;
using canonical::DType;
using canonical::Op;
using canonical::Shape;

namespace {

// More tensors than a graph has room for with a part for each.
constexpr std::uint32_t kMany = 1'500;

std::vector<StateTensor> state_of(std::uint32_t tensors, const std::function<StateTensor(std::uint32_t)>& tensor) {
    std::vector<StateTensor> state;
    for (std::uint32_t i = 0; i < tensors; ++i) {
        state.push_back(tensor(i));
    }
    return state;
}

std::string slot_or_parameter(std::uint32_t i) { return (i % 3 == 0 ? "" : "adam.first.") + std::to_string(i); }

// A deep transformer with AdamW, 2,207 tensors.
std::vector<StateTensor> deep_transformer() {
    constexpr std::uint32_t kWidth = 512;
    std::vector<StateTensor> state;
    for (const std::string before : {"", "adam.first.", "adam.second."}) {
        const auto add = [&](const std::string& name, Shape shape) {
            state.push_back({before + name, {DType::kF32, shape}});
        };
        add("embedding.weight", {50'000, kWidth});
        for (std::uint32_t i = 0; i < 61; ++i) {
            const std::string block = "block" + std::to_string(i) + ".";
            for (const char* norm : {"norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"}) {
                add(block + norm, {1, kWidth});
            }
            add(block + "attention.in.weight", {3 * kWidth, kWidth});
            add(block + "attention.in.bias", {1, 3 * kWidth});
            add(block + "attention.out.weight", {kWidth, kWidth});
            add(block + "attention.out.bias", {1, kWidth});
            add(block + "mlp.in.weight", {4 * kWidth, kWidth});
            add(block + "mlp.in.bias", {1, 4 * kWidth});
            add(block + "mlp.out.weight", {kWidth, 4 * kWidth});
            add(block + "mlp.out.bias", {1, kWidth});
        }
        add("norm.weight", {1, kWidth});
        add("norm.bias", {1, kWidth});
    }
    state.push_back({"adam.first_weight", {DType::kF32, {1, 1}}});
    state.push_back({"adam.second_weight", {DType::kF32, {1, 1}}});
    return state;
}

std::size_t parts_of(const Program& program) {
    return static_cast<std::size_t>(std::count_if(program.init.begin(), program.init.end(), [](const auto& node) {
        return node.op == Op::kBernoulli;
    }));
}

// kMany small tensors: parameters, slots, a large parameter and integers, mixed, with zeros of either sign.
States mixed(double drift) {
    States states;
    for (std::uint32_t i = 0; i < kMany; ++i) {
        const Shape shape{1 + i % 3, 1 + i % 7};
        if (i % 10 == 9) {
            const Matrix whole{shape, std::vector<double>(shape.element_count(), i), DType::kI32};
            states.add(std::to_string(i), whole, whole, whole);
            continue;
        }
        add_random(states, slot_or_parameter(i), shape, 1e-3, drift, 3 * i + 1);
        states.claimed.back().values[0] = 0.0;
        states.replayed.back().values[0] = -0.0;
    }
    return states;
}

}  // namespace

TEST_CASE("TOL-4: a state of as many tensors as there may be has a distance program, small as they are") {
    constexpr std::uint32_t kMost = canonical::kMaxStateTensors;
    const auto size_of = [](const std::vector<StateTensor>& state) {
        const auto program = build_distance_program(state);
        REQUIRE(program.has_value());
        return program->init.size();
    };
    for (const std::uint32_t tensors : {1'361U, kMost}) {
        CAPTURE(tensors);
        for (const Shape shape : {Shape{2, 3}, Shape{1'024, 2'048}}) {
            CAPTURE(shape.rows);
            CHECK(size_of(state_of(tensors, [&](std::uint32_t i) {
                      return StateTensor{slot_or_parameter(i), {DType::kF32, shape}};
                  })) <= canonical::kMaxNodes);
        }
    }
    CHECK(size_of(state_of(kMost, [](std::uint32_t i) {
              return StateTensor{std::to_string(i), {DType::kI32, {2, i + 1}}};
          })) <= canonical::kMaxNodes);
    CHECK(size_of(state_of(kMost, [](std::uint32_t i) {
              return StateTensor{slot_or_parameter(i), {i % 2 == 0 ? DType::kF32 : DType::kI32, {2, i + 1}}};
          })) <= canonical::kMaxNodes);
}

TEST_CASE("TOL-4: tensors are joined only where parts of one tensor are too many") {
    const auto parts = [](std::uint32_t tensors, Shape shape) {
        const auto state = state_of(tensors, [&](std::uint32_t i) {
            return StateTensor{std::to_string(i), {DType::kF32, shape}};
        });
        return parts_of(build_distance_program(state).value());
    };
    CHECK(parts(1'361, {1, 3}) == 1'361);
    CHECK(parts(1'362, {1, 3}) == 171);  // by eights
    CHECK(parts(1'337, {2, 3}) == 1'337);
    CHECK(parts(1'338, {2, 3}) == 168);          // the graph with parts of one tensor has 49 nodes for each
    CHECK(parts(1'362, {1, 300'000}) == 454);    // three fit 2^20 elements
    CHECK(parts(1'400, {1'025, 1'024}) == 467);  // three fit 2^22
    const Program deep = build_distance_program(deep_transformer()).value();
    CHECK(deep_transformer().size() == 2'207);
    CHECK(parts_of(deep) == 992);
}

TEST_CASE("TOL-2: a measurement of joined tensors is what double precision says within its tolerance") {
    for (const double drift : {1e-7, 1.0}) {
        CAPTURE(drift);
        check_measured(mixed(drift));
    }
}

TEST_CASE("TOL-5: what is not finite and what differs is found in whichever joined tensor it is") {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kLargest = static_cast<double>(std::numeric_limits<float>::max());
    States states = mixed(0.0);
    for (std::size_t i = 0; i < states.types.size(); ++i) {
        states.claimed[i] = states.replayed[i];
    }
    const auto last = [&](std::size_t i) -> double& { return states.claimed[i].values.back(); };
    last(kMany - 3) = std::numeric_limits<double>::quiet_NaN();  // a parameter
    last(4) = kInfinity;                                         // two slots
    last(5) = -kInfinity;
    states.start[7].values[0] = kInfinity;  // of the update it is nothing
    last(9) += 1;
    last(kMany - 1) -= 1;
    const Measured measured = measure(states);
    CHECK(measured.at(0, MeasuredColumn::kNotFinite) == 1.0);
    CHECK(measured.at(1, MeasuredColumn::kNotFinite) == 2.0);
    CHECK(measured.at(1, MeasuredColumn::kIntegers) == 2.0);
    CHECK(measured.at(0, MeasuredColumn::kIntegers) == 0.0);
    for (const std::uint32_t row : {0U, 1U}) {
        CHECK(measured.at(row, MeasuredColumn::kDriftMax) == kLargest);
        CHECK(measured.at(row, MeasuredColumn::kDrift2) == kLargest);
        CHECK(measured.at(row, MeasuredColumn::kUpdateMax) < 1.0);
    }
}

TEST_CASE("TOL-2: every element of joined tensors counts once, and has a sign in each sketch") {
    States states = mixed(0.0);
    double expected = 0.0;
    for (std::size_t i = 0; i < states.types.size(); ++i) {
        states.replayed[i].values.assign(states.replayed[i].values.size(), 0.0);
        states.claimed[i] = states.replayed[i];
        if (states.types[i].type.dtype == DType::kF32 && group_of(states.types[i]) == StateGroup::kOther) {
            states.claimed[i].values.assign(states.claimed[i].values.size(), 0x1p-70);
            expected += static_cast<double>(states.claimed[i].values.size());
        }
    }
    const Measured measured = measure(states);
    CHECK(measured.at(1, MeasuredColumn::kDrift2) == expected * 0x1p-140);
    CHECK(measured.at(1, MeasuredColumn::kDriftMax) == 0x1p-70);
    CHECK(measured.at(0, MeasuredColumn::kDrift2) == 0.0);
    for (std::uint32_t k = 0; k < canonical::kSketches; ++k) {
        const double sketch = std::abs(measured.at(1, MeasuredColumn::kSketch, k)) * 0x1p70;
        CHECK(sketch == std::floor(sketch));
        CHECK(sketch < 6 * std::sqrt(expected));
    }
}
