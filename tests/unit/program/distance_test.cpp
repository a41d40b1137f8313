// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/distance.hpp>

#include <cmath>
#include <limits>

#include <doctest/doctest.h>
#include <tests/unit/program/scalar_graph.hpp>
#include <verifier/compile/program/models.hpp>

using namespace assay;
using namespace assay::program;
using assay::test::Matrix;
using canonical::DType;
using canonical::MeasuredColumn;
using canonical::Shape;
using canonical::Tensor;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargest = static_cast<double>(std::numeric_limits<float>::max());

struct States {
    std::vector<StateTensor> types;
    std::vector<Matrix> start, replayed, claimed;

    void add(const std::string& name, const Matrix& s, const Matrix& r, const Matrix& c) {
        types.push_back({name, {s.dtype, s.shape}});
        start.push_back(s);
        replayed.push_back(r);
        claimed.push_back(c);
    }
};

std::vector<Tensor> tensors_of(const std::vector<Matrix>& state) {
    std::vector<Tensor> out;
    for (const Matrix& matrix : state) {
        out.push_back(test::to_tensor(matrix));
    }
    return out;
}

struct Measured {
    Matrix tile;
    double at(std::uint32_t row, MeasuredColumn column, std::uint32_t more = 0) const {
        return tile.values[row * canonical::kMeasuredColumns + static_cast<std::uint32_t>(column) + more];
    }
};

Measured measure(const States& states, std::uint64_t seed = 5) {
    const Program program = build_distance_program(states.types).value();
    const auto given =
        measured_state(tensors_of(states.start), tensors_of(states.replayed), tensors_of(states.claimed));
    const test::NoRows rows;
    const auto out =
        canonical::execute_graph(program.init, {.seed = seed, .step = 0, .dataset = rows.shape()}, rows, given);
    REQUIRE(out.has_value());
    REQUIRE(out->size() == 1);
    return {test::to_matrix(out->front())};
}

Matrix near(const Matrix& x, double amount, std::uint64_t seed) {
    Matrix out = x;
    test::Numbers numbers(seed);
    for (double& value : out.values) {
        value = static_cast<double>(static_cast<float>(value + amount * numbers.real(-1.0, 1.0)));
    }
    return out;
}

void add_random(States& states, const std::string& name, Shape shape, double update, double drift, std::uint64_t seed) {
    const Matrix start = test::random_matrix(shape, seed);
    const Matrix replayed = near(start, update, seed + 1);
    states.add(name, start, replayed, near(replayed, drift, seed + 2));
}

struct Reference {
    double drift2 = 0, update2 = 0, claimed2 = 0, dot = 0, drift_max = 0, update_max = 0;
};
Reference reference(const States& states, StateGroup group) {
    Reference out;
    for (std::size_t t = 0; t < states.types.size(); ++t) {
        if (group_of(states.types[t]) != group) {
            continue;
        }
        for (std::size_t i = 0; i < states.start[t].values.size(); ++i) {
            const double s = states.start[t].values[i];
            const double r = states.replayed[t].values[i];
            const double c = states.claimed[t].values[i];
            out.drift2 += (c - r) * (c - r);
            out.update2 += (r - s) * (r - s);
            out.claimed2 += (c - s) * (c - s);
            out.dot += (c - r) * (r - s);
            out.drift_max = std::max(out.drift_max, std::abs(c - r));
            out.update_max = std::max(out.update_max, std::abs(r - s));
        }
    }
    return out;
}

void check_row(const Measured& measured, std::uint32_t row, const Reference& expected) {
    constexpr double kTolerance = 0x1p-14;  // TOL-2
    CAPTURE(row);
    const auto check = [&](MeasuredColumn column, double value, double scale) {
        CAPTURE(static_cast<int>(column));
        CHECK(std::abs(measured.at(row, column) - value) <= kTolerance * scale);
    };
    check(MeasuredColumn::kDrift2, expected.drift2, expected.drift2);
    check(MeasuredColumn::kUpdate2, expected.update2, expected.update2);
    check(MeasuredColumn::kClaimed2, expected.claimed2, expected.claimed2);
    check(MeasuredColumn::kDot, expected.dot, std::sqrt(expected.drift2 * expected.update2));
    check(MeasuredColumn::kDriftMax, expected.drift_max, expected.drift_max);
    check(MeasuredColumn::kUpdateMax, expected.update_max, expected.update_max);
}

}  // namespace

TEST_CASE("TOL-2: a measurement is what double precision says within its tolerance") {
    for (const double drift : {1e-7, 1e-4, 1e-2, 1.0, 1e6}) {
        CAPTURE(drift);
        States states;
        add_random(states, "w", {40, 70}, 1e-3, drift, 11);
        add_random(states, "b", {1, 33}, 1e-3, drift, 12);
        add_random(states, "adam.first.w", {40, 70}, 1e-2, drift / 3, 13);
        add_random(states, "norm1.running_var", {1, 5}, 1e-2, drift / 3, 14);
        const Measured measured = measure(states);
        check_row(measured, 0, reference(states, StateGroup::kParameter));
        check_row(measured, 1, reference(states, StateGroup::kOther));
        for (const std::uint32_t row : {0U, 1U}) {
            CHECK(measured.at(row, MeasuredColumn::kNotFinite) == 0.0);
            CHECK(measured.at(row, MeasuredColumn::kIntegers) == 0.0);
        }
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
    doctest::test_suite("full")
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
    CHECK(refusal({{"n", {DType::kI32, {2, canonical::kMaxDimension}}}}) == DistanceError::kTooLarge);
    std::vector<StateTensor> many;
    for (int i = 0; i < 1'362; ++i) {
        many.push_back({std::to_string(i), {DType::kF32, {1, 1}}});
    }
    CHECK(refusal(many) == DistanceError::kTooLarge);  // of so many tensors the graph has more nodes than a graph may
    many.resize(1'361);
    CHECK(build_distance_program(many).has_value());
    many.resize(canonical::kMaxStateTensors + 1, many.front());
    CHECK(refusal(many) == DistanceError::kTensors);
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
