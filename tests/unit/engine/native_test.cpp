// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <set>

#include <doctest/doctest.h>
#include <tests/unit/canonical/samples.hpp>
#include <tests/unit/engine/random_graph.hpp>
#include <tests/unit/engine/small_models.hpp>
#include <verifier/engine/native/lowering.hpp>
#include <verifier/engine/native/native_engine.hpp>

using namespace assay;
using namespace assay::test;
using namespace assay::program;
using canonical::Op;
using canonical::Tensor;
using engine::native::Kind;

namespace {

constexpr std::uint64_t kSteps = 6;
/// Of the distance that training has moved the state.
constexpr double kStateDistance = 1e-3;
constexpr double kLossDistance = 1e-5;

double value_of(const Tensor& tensor, std::size_t i) {
    switch (tensor.dtype) {
        case canonical::DType::kBf16:
            return static_cast<double>(std::bit_cast<float>(canonical::test::get_u16(tensor, i) * 65536U));
        case canonical::DType::kI8:
            return static_cast<double>(canonical::test::get_i8(tensor, i));
        default:
            return static_cast<double>(canonical::test::get_f32(tensor, i));
    }
}

bool has_bytes(const SmallModel& model) {
    return std::any_of(model.program.state.begin(), model.program.state.end(), [](const StateTensor& tensor) {
        return tensor.type.dtype == canonical::DType::kI8;
    });
}

// How far apart two states are, as a share of how far training has moved them together.
double distance(const std::vector<Tensor>& start, const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    double apart = 0.0;
    double moved = 0.0;
    for (std::size_t t = 0; t < start.size(); ++t) {
        // An i8 is nothing without its exponent, and its last place is worth more than all rounding.
        const bool is_byte = start[t].dtype == canonical::DType::kI8;
        for (std::size_t i = 0; !is_byte && i < start[t].shape.element_count(); ++i) {
            const double x = value_of(a[t], i);
            const double y = value_of(b[t], i);
            const double from = value_of(start[t], i);
            apart += (x - y) * (x - y);
            moved += (x - from) * (x - from);
        }
    }
    return std::sqrt(apart / moved);
}

struct Run {
    std::vector<Tensor> state;
    std::vector<float> losses;
};

template <class AnyEngine>
Run train(AnyEngine&& engine, const SmallModel& model, const std::vector<Tensor>& start, std::uint64_t steps) {
    Run out;
    engine.set_state(start);
    engine.keep(model.program.loss_node);
    for (std::uint64_t step = 0; step < steps; ++step) {
        REQUIRE(engine.run_step(model.context(step)).has_value());
        out.losses.push_back(engine.scalar(model.program.loss_node));
    }
    out.state = engine.state();
    return out;
}

std::vector<engine::native::Instruction> lowered(const SmallModel& model) {
    return engine::native::lower(model.program.step, std::array{model.program.loss_node});
}

}  // namespace

TEST_CASE("native training stays near canonical training") {
    for (const SmallModel& model : small_models(kXg21)) {
        const std::vector<Tensor> start = model.initial();
        const Run canonical = train(engine::Engine(model.program.step, model.rows, {}), model, start, kSteps);
        for (const int threads : {1, 2}) {
            CAPTURE(model.name);
            CAPTURE(threads);
            const engine::NativeOptions options{.device = test_device(), .threads = threads};
            const Run native =
                train(engine::NativeEngine(model.program.step, model.rows, options), model, start, kSteps);
            CHECK(distance(start, canonical.state, native.state) < kStateDistance);
            for (std::size_t i = 0; i < kSteps; ++i) {
                CHECK(native.losses[i] == doctest::Approx(canonical.losses[i]).epsilon(kLossDistance));
            }
        }
    }
}

TEST_CASE("native training with products of bfloat16 stays near too") {
    const SmallModel model = small_models(kXg21)[3];
    const std::vector<Tensor> start = model.initial();
    const Run canonical = train(engine::Engine(model.program.step, model.rows, {}), model, start, kSteps);
    const engine::NativeOptions options{.device = test_device(), .threads = 2, .allow_tf32 = true, .allow_bf16 = true};
    engine::NativeEngine engine(model.program.step, model.rows, options);
    const Run native = train(engine, model, start, kSteps);
    const double apart = distance(start, canonical.state, native.state);
    CHECK(apart > kStateDistance);  // the option does something
    CHECK(apart < 0.2);
    CHECK(native.losses.back() == doctest::Approx(canonical.losses.back()).epsilon(0.01));
    CHECK(engine.description().ends_with(", 2 threads, native"));
}

TEST_CASE("a native step that diverges leaves the state as it was") {
    const SmallModel model = small_char_model(OptimizerKind::kAdam);
    std::vector<Tensor> state = model.initial();
    canonical::test::set_u32(state.back(), 0, 0x7f800000);
    engine::NativeEngine engine(model.program.step, model.rows, {.device = test_device()});
    engine.set_state(state);
    const auto result = engine.run_step(model.context(0));
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error() == canonical::StepError::kDiverged);
    CHECK(engine.state() == state);
}

TEST_CASE("a native engine initialises every model as the definition does, to a rounding") {
    for (const SmallModel& model : small_models(kXg21)) {
        CAPTURE(model.name);
        const std::vector<Tensor> expected = model.initial();
        engine::NativeEngine engine(model.program.init, model.rows, {.device = test_device()});
        REQUIRE(engine.run_step(model.context(0)).has_value());
        const std::vector<Tensor> found = engine.state();
        REQUIRE(found.size() == expected.size());
        for (std::size_t t = 0; t < found.size(); ++t) {
            REQUIRE(found[t].shape == expected[t].shape);
            for (std::size_t i = 0; i < found[t].shape.element_count(); ++i) {
                const double x = value_of(expected[t], i);
                REQUIRE(std::abs(value_of(found[t], i) - x) <= 1e-6 * std::abs(x));
            }
        }
    }
}

TEST_CASE("a native engine executes steps made at random") {
    // What a discontinuity or a product beyond its bounds makes of a rounding is anybody's guess; types and finiteness
    // of what is finite are not.
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        const Case c = random_graph(seed);
        engine::NativeEngine engine(c.graph, c.rows, {.device = test_device()});
        engine.set_state(c.state);
        if (engine.run_step(c.context)) {
            const std::vector<Tensor> next = engine.state();
            REQUIRE(next.size() == c.state.size());
            for (std::size_t i = 0; i < next.size(); ++i) {
                CHECK(next[i].dtype == c.state[i].dtype);
                CHECK(next[i].shape == c.state[i].shape);
            }
        } else {
            CHECK(engine.state() == c.state);
        }
    }
}

TEST_CASE("a native engine recognises what a graph spells out") {
    const std::vector<SmallModel> models = small_models(kXg21);
    const auto expect = [&](std::size_t model, std::initializer_list<Kind> kinds) {
        std::set<Kind> found;
        for (const auto& instruction : lowered(models[model])) {
            found.insert(instruction.kind);
        }
        for (const Kind kind : kinds) {
            CAPTURE(models[model].name);
            CAPTURE(static_cast<int>(kind));
            CHECK(found.contains(kind));
        }
    };
    expect(0, {Kind::kProduct, Kind::kProductAdd, Kind::kSum, Kind::kScatterSum, Kind::kSoftmax, Kind::kCrossEntropy});
    expect(1, {Kind::kProduct, Kind::kProductAdd, Kind::kSum, Kind::kSoftmax, Kind::kCrossEntropy, Kind::kMultiplyAdd});
    expect(2, {Kind::kProduct, Kind::kProductAdd, Kind::kNormalise, Kind::kNormaliseBack, Kind::kCrossEntropy});
    for (const std::size_t gpt : {3U, 4U}) {
        expect(
            gpt, {Kind::kProduct, Kind::kProductAdd, Kind::kSum, Kind::kScatterSum, Kind::kSoftmax, Kind::kSoftmaxBack,
                  Kind::kCrossEntropy, Kind::kNormalise, Kind::kNormaliseBack, Kind::kGelu, Kind::kGeluBack,
                  Kind::kMultiplyAdd, Kind::kAddScaled}
        );
    }
    for (const SmallModel& model : models) {
        CAPTURE(model.name);
        for (const auto& instruction : lowered(model)) {
            const Op op = model.program.step[instruction.node].op;
            // Blocks of i8 are quantised, natively too.
            const bool is_block = has_bytes(model) && op != Op::kRowSum;
            const bool is_exact = op == Op::kRowExponent || op == Op::kQuantise || op == Op::kRowSum;
            CHECK_FALSE((is_exact && !is_block));
        }
    }
}
