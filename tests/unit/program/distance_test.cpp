// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/distance.hpp>

#include <cmath>
#include <limits>

#include <doctest/doctest.h>
#include <tests/unit/canonical/samples.hpp>
#include <tests/unit/program/measured.hpp>
#include <tests/unit/program/scalar_graph.hpp>
#include <tests/unit/program/text_rows.hpp>
#include <verifier/compile/program/models.hpp>

using namespace assay;
using namespace assay::program;
using namespace assay::test;
using canonical::DType;
using canonical::Shape;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargest = static_cast<double>(std::numeric_limits<float>::max());

}  // namespace

TEST_CASE("TOL-2: a measurement is what double precision says within its tolerance") {
    for (const double drift : {1e-7, 1e-4, 1e-2, 1.0, 1e6}) {
        CAPTURE(drift);
        States states;
        add_random(states, "w", {40, 70}, 1e-3, drift, 11);
        add_random(states, "b", {1, 33}, 1e-3, drift, 12);
        add_random(states, "adam.first.w", {40, 70}, 1e-2, drift / 3, 13);
        add_random(states, "norm1.running_var", {1, 5}, 1e-2, drift / 3, 14);
        check_measured(states);
    }
}

TEST_CASE("TOL-2: a state that is the replayed one has no drift at all") {
    States states;
    add_random(states, "w", {33, 5}, 1e-3, 0.0, 3);
    const Measured measured = measure(states);
    for (const MeasuredColumn column : {MeasuredColumn::kDrift2, MeasuredColumn::kDot, MeasuredColumn::kDriftMax}) {
        CHECK(measured.at(0, column) == 0.0);
    }
    for (std::uint32_t k = 0; k < canonical::kSketches; ++k) {
        CHECK(measured.at(0, MeasuredColumn::kSketch, k) == 0.0);
    }
    CHECK(measured.at(0, MeasuredColumn::kUpdate2) == measured.at(0, MeasuredColumn::kClaimed2));
    for (std::uint32_t column = 0; column < canonical::kMeasuredColumns; ++column) {
        CHECK(measured.tile.values[canonical::kMeasuredColumns + column] == 0.0);
    }
}

TEST_CASE("TOL-5: what is not finite never measures as little") {
    for (const double value : {kNan, kInfinity, -kInfinity}) {
        CAPTURE(value);
        States states;
        add_random(states, "w", {3, 40}, 1e-3, 1e-6, 5);
        states.claimed[0].values[77] = value;
        const Measured measured = measure(states);
        CHECK(measured.at(0, MeasuredColumn::kNotFinite) == 1.0);
        CHECK(measured.at(0, MeasuredColumn::kDrift2) == kLargest);
        CHECK(measured.at(0, MeasuredColumn::kDriftMax) == kLargest);
        CHECK(measured.at(0, MeasuredColumn::kUpdate2) < 1.0);
    }
    SUBCASE("a difference too large for a float") {
        States states;
        add_random(states, "w", {3, 40}, 1e-3, 1e-6, 5);
        states.claimed[0].values[4] = 3e38;
        states.replayed[0].values[4] = -3e38;
        const Measured measured = measure(states);
        CHECK(measured.at(0, MeasuredColumn::kNotFinite) == 0.0);
        CHECK(measured.at(0, MeasuredColumn::kDriftMax) == kLargest);
        CHECK(measured.at(0, MeasuredColumn::kDrift2) == kLargest);
    }
    SUBCASE("a start that is not finite does not make the update large") {
        States states;
        add_random(states, "w", {3, 40}, 1e-3, 1e-6, 5);
        const Measured clean = measure(states);
        states.start[0].values[4] = kNan;
        states.start[0].values[5] = -3e38;
        states.replayed[0].values[5] = 3e38;
        states.claimed[0].values[5] = 3e38;
        const Measured measured = measure(states);
        CHECK(measured.at(0, MeasuredColumn::kUpdate2) <= clean.at(0, MeasuredColumn::kUpdate2));
        CHECK(measured.at(0, MeasuredColumn::kUpdateMax) <= clean.at(0, MeasuredColumn::kUpdateMax));
    }
}

TEST_CASE("TOL-2: denormal and tiny drifts have their largest element, and squares that no float holds are zero") {
    States states;
    add_random(states, "w", {2, 40}, 0.0, 0.0, 5);
    states.start[0].values.assign(80, 0.0);
    states.replayed[0].values.assign(80, 0.0);
    states.claimed[0].values.assign(80, 0.0);
    states.claimed[0].values[3] = 0x1p-149;
    Measured measured = measure(states);
    CHECK(measured.at(0, MeasuredColumn::kDriftMax) == 0x1p-149);
    CHECK(measured.at(0, MeasuredColumn::kDrift2) == 0.0);
    states.claimed[0].values[3] = 0x1p-70;
    measured = measure(states);
    CHECK(measured.at(0, MeasuredColumn::kDrift2) == 0x1p-140);
    for (std::uint32_t k = 0; k < canonical::kSketches; ++k) {
        CHECK(std::abs(measured.at(0, MeasuredColumn::kSketch, k)) == 0x1p-70);
    }
}

TEST_CASE(
    "TOL-2: the sum of squares of a long tensor with outliers keeps its precision over chunks and parts" *
    doctest::test_suite("unsanitized")
) {
    States states;
    // More than one part of 2^20 elements, and of a chunk of 16384.
    const Shape shape{33, 40'000};
    Matrix start{shape, std::vector<double>(shape.element_count(), 0.0)};
    Matrix replayed = start;
    Matrix claimed = start;
    test::Numbers numbers(9);
    for (std::size_t i = 0; i < start.values.size(); ++i) {
        const double large = i % 50'000 == 7 ? 1e4 : 1.0;
        replayed.values[i] = 0.25;
        claimed.values[i] = 0.25 + static_cast<double>(numbers.between(-1000, 1000)) * 0x1p-20 * large;
        claimed.values[i] = static_cast<double>(static_cast<float>(claimed.values[i]));
    }
    states.add("w", start, replayed, claimed);
    check_row(measure(states), 0, reference(states, StateGroup::kParameter));
}

TEST_CASE("TOL-3: integers are compared bit for bit") {
    constexpr double kMin = -2147483648.0;
    constexpr double kMax = 2147483647.0;
    const std::vector<double> hostile{
        0,
        1,
        -1,
        kMin,
        kMin + 1,
        kMax,
        kMax - 1,
        kMax - 2,
        16777216,
        16777217,
        16777218,
        2139095041,
        -8388607,
        -8388608,
        -8388609,
        0x1p25,
        -0x1p25,
        0x1p25 + 1,
        2139095042,
        1065353216,
        1073741824,
        1073741824 + 64,
        1073741824 - 1};
    States states;
    Matrix a{{1, 0}, {}, DType::kI32};
    Matrix b = a;
    double differing = 0;
    for (const double x : hostile) {
        for (const double y : hostile) {
            a.values.push_back(x);
            b.values.push_back(y);
            differing += x != y ? 1U : 0U;
        }
    }
    a.shape.cols = b.shape.cols = static_cast<std::uint32_t>(a.values.size());
    states.add("count", a, b, a);
    states.add("other", a, a, a);
    add_random(states, "w", {2, 3}, 1e-3, 1e-6, 1);
    const Measured measured = measure(states);
    CHECK(measured.at(1, MeasuredColumn::kIntegers) == differing);
    CHECK(measured.at(0, MeasuredColumn::kIntegers) == 0.0);
}

TEST_CASE("TOL-2: sketches of one drift have its length on average, and add up with their signs") {
    States states;
    add_random(states, "w", {16, 64}, 1e-3, 1e-4, 21);
    double sum = 0.0;
    constexpr std::uint64_t kSeeds = 40;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const Measured measured = measure(states, seed);
        for (std::uint32_t k = 0; k < canonical::kSketches; ++k) {
            sum += std::pow(measured.at(0, MeasuredColumn::kSketch, k), 2);
        }
    }
    const double mean = sum / (kSeeds * canonical::kSketches);
    CHECK(mean == doctest::Approx(reference(states, StateGroup::kParameter).drift2).epsilon(0.25));
    // The opposite drift under the same seed has the opposite sketch.
    States other = states;
    for (std::size_t i = 0; i < other.claimed[0].values.size(); ++i) {
        other.claimed[0].values[i] = 2 * other.replayed[0].values[i] - states.claimed[0].values[i];
    }
    const Measured one = measure(states);
    const Measured two = measure(other);
    for (std::uint32_t k = 0; k < canonical::kSketches; ++k) {
        CHECK(
            one.at(0, MeasuredColumn::kSketch, k) ==
            doctest::Approx(-two.at(0, MeasuredColumn::kSketch, k)).epsilon(1e-2)
        );
    }
}

TEST_CASE("TOL-4: a state without a distance program is refused with its reason") {
    const auto refusal = [](std::vector<StateTensor> state) { return build_distance_program(state).error(); };
    CHECK(refusal({}) == DistanceError::kTensors);
    CHECK(refusal({{"n", {DType::kI64, {1, 1}}}}) == DistanceError::kWideInteger);
    CHECK(refusal({{"n", {DType::kI8, {1, 1}}}}) == DistanceError::kWideInteger);
    CHECK(refusal({{"n", {DType::kI32, {2, canonical::kMaxDimension}}}}) == DistanceError::kTooLarge);
    CHECK(
        refusal({{"w", {DType::kF32, {canonical::kMaxDimension, canonical::kMaxDimension}}}}) ==
        DistanceError::kTooLarge
    );
    const std::vector<StateTensor> many(canonical::kMaxStateTensors + 1, {"w", {DType::kF32, {1, 1}}});
    CHECK(refusal(many) == DistanceError::kTensors);
}

TEST_CASE("TOL-3: a bf16 tensor is measured as the f32 one of the same numbers") {
    const Shape shape{33, 70};
    const test::TextRows rows(20, 6, 37);
    std::vector<canonical::Tensor> measurements;
    for (const DType dtype : {DType::kF32, DType::kBf16}) {
        const std::vector<StateTensor> state{{"w", {DType::kF32, shape}}, {"adam.first.w", {dtype, shape}}};
        std::vector<std::vector<canonical::Tensor>> states;
        for (std::uint32_t which = 0; which < 3; ++which) {
            canonical::Tensor wide = canonical::make_tensor(DType::kF32, shape);
            canonical::Tensor moment = canonical::make_tensor(dtype, shape);
            for (std::uint32_t i = 0; i < shape.element_count(); ++i) {
                // The upper half of an f32 between 1 and 2, and in a place an infinity of the claim's.
                const std::uint32_t half = which == 2 && i == 7 ? 0x7f80U : 0x3f80U + (i * 37 + which * 11) % 128;
                canonical::test::set_u32(wide, i, 0x3f800000U + i * 4099 + which * 7);
                if (dtype == DType::kF32) {
                    canonical::test::set_u32(moment, i, half << 16U);
                } else {
                    canonical::test::set_u16(moment, i, static_cast<std::uint16_t>(half));
                }
            }
            states.push_back({std::move(wide), std::move(moment)});
        }
        const Program program = build_distance_program(state).value();
        auto measured = canonical::execute_graph(
            program.init, {.seed = 5, .step = 0, .dataset = rows.shape()}, rows,
            measured_state(states[0], states[1], states[2])
        );
        REQUIRE(measured.has_value());
        measurements.push_back(measured->front());
    }
    CHECK(measurements[0] == measurements[1]);
    const auto other = static_cast<std::size_t>(canonical::kMeasuredColumns);
    CHECK(
        canonical::test::get_f32(measurements[1], other + static_cast<std::size_t>(MeasuredColumn::kNotFinite)) == 1.0F
    );
    CHECK(canonical::test::get_f32(measurements[1], other + static_cast<std::size_t>(MeasuredColumn::kUpdate2)) > 0.0F);
}

TEST_CASE("TOL-3: optimizer slots and running values are not parameters") {
    OptimizerConfig adam;
    adam.kind = OptimizerKind::kAdamW;
    adam.accumulation = 2;
    const Program program = build_cnn({.batch_norm = true, .dataset_rows = 9}, adam);
    std::size_t parameters = 0;
    for (const StateTensor& tensor : program.state) {
        const bool is_slot = tensor.name.find("adam.") == 0 || tensor.name.find("accumulated.") == 0;
        const bool is_running = tensor.name.find("running") != std::string::npos;
        CHECK((group_of(tensor) == StateGroup::kOther) == (is_slot || is_running));
        parameters += group_of(tensor) == StateGroup::kParameter ? 1U : 0U;
    }
    CHECK(parameters == 8);
    CHECK(build_distance_program(program.state).has_value());
}

TEST_CASE("TOL-3: no optimizer has a slot that is taken for a parameter") {
    using enum OptimizerKind;
    const StateTensor parameter{"weight", {canonical::DType::kF32, {3, 4}}};
    for (const OptimizerKind kind : {kSgd, kSgdMomentum, kNesterov, kRmsprop, kAdam, kAdamW}) {
        OptimizerConfig config;
        config.kind = kind;
        config.accumulation = 2;
        for (const Slot& slot : optimizer_slots(config, {parameter})) {
            CAPTURE(slot.tensor.name);
            CHECK(group_of(slot.tensor) == StateGroup::kOther);
        }
    }
}
