// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/program/scalar_graph.hpp>
#include <verifier/compile/program/optimizer.hpp>

using namespace assay;
using namespace assay::program;
using canonical::Shape;
using test::Matrix;
using test::random_matrix;

namespace {

using Values = std::vector<Value>;
using Tensors = std::vector<std::vector<double>>;

// A matrix and a bias, by default the one decays and the other does not.
constexpr std::array<Shape, 2> kShapes{Shape{3, 4}, Shape{1, 4}};
constexpr std::size_t kCount = kShapes.size();

std::vector<Matrix> gradients_of(std::uint64_t step) {
    std::vector<Matrix> out;
    for (std::size_t i = 0; i < kCount; ++i) {
        out.push_back(random_matrix(kShapes[i], 100 + step * kCount + i, -2.0, 2.0));
    }
    return out;
}

std::vector<StateTensor> parameter_tensors() {
    std::vector<StateTensor> out;
    for (std::size_t i = 0; i < kCount; ++i) {
        out.push_back({i == 0 ? "weight" : "bias", {canonical::DType::kF32, kShapes[i]}});
    }
    return out;
}

// Parameters, then slots.
std::vector<Matrix> first_state(const OptimizerConfig& config) {
    std::vector<Matrix> state;
    for (std::size_t i = 0; i < kCount; ++i) {
        state.push_back(random_matrix(kShapes[i], 1 + i));
    }
    for (const Slot& slot : optimizer_slots(config, parameter_tensors())) {
        const Shape shape = slot.tensor.type.shape;
        state.push_back({shape, std::vector<double>(shape.element_count(), static_cast<double>(slot.initial))});
    }
    return state;
}

std::vector<Matrix> update(
    const OptimizerConfig& config, const std::vector<Matrix>& state, const std::vector<Matrix>& gradients,
    std::uint64_t step
) {
    std::vector<Matrix> all = state;
    all.insert(all.end(), gradients.begin(), gradients.end());
    return test::evaluate(
        [&](GraphBuilder& graph, const Values& v) {
            OptimizerInputs inputs;
            inputs.parameters.assign(v.begin(), v.begin() + kCount);
            inputs.slots.assign(v.begin() + kCount, v.end() - kCount);
            inputs.gradients.assign(v.end() - kCount, v.end());
            return append_optimizer(graph, config, inputs);
        },
        all, step
    );
}

// torch.optim's definitions, in double.
struct Reference {
    OptimizerConfig config;
    Tensors parameters;
    Tensors first;
    Tensors second;
    int updates = 0;

    explicit Reference(const OptimizerConfig& c) : config(c) {
        for (std::size_t i = 0; i < kCount; ++i) {
            parameters.push_back(random_matrix(kShapes[i], 1 + i).values);
            first.emplace_back(parameters[i].size(), 0.0);
            second.emplace_back(parameters[i].size(), 0.0);
        }
    }

    void update(Tensors gradients, double rate) {
        ++updates;
        clip(gradients);
        for (std::size_t i = 0; i < kCount; ++i) {
            for (std::size_t e = 0; e < gradients[i].size(); ++e) {
                update_one(i, e, gradients[i][e], rate);
            }
        }
    }
    void clip(Tensors& gradients) const {
        const double largest = static_cast<double>(config.clip_norm);
        double square = 0;
        for (const auto& tensor : gradients) {
            for (const double g : tensor) {
                square += g * g;
            }
        }
        const double factor = largest > 0 ? std::min(1.0, largest / (std::sqrt(square) + 1e-6)) : 1.0;
        for (auto& tensor : gradients) {
            for (double& g : tensor) {
                g *= factor;
            }
        }
    }
    void update_one(std::size_t i, std::size_t e, double g, double rate) {
        double& p = parameters[i][e];
        double& m = first[i][e];
        double& v = second[i][e];
        const double decay = kShapes[i].rows > 1 ? static_cast<double>(config.weight_decay) : 0.0;
        const bool is_adam = config.kind == OptimizerKind::kAdam || config.kind == OptimizerKind::kAdamW;
        if (config.kind == OptimizerKind::kAdamW) {
            p *= 1.0 - rate * decay;
        } else {
            g += decay * p;
        }
        const auto momentum = static_cast<double>(config.momentum);
        if (config.kind == OptimizerKind::kRmsprop) {
            v = static_cast<double>(config.alpha) * v + (1.0 - static_cast<double>(config.alpha)) * g * g;
            m = momentum * m + g / (std::sqrt(v) + static_cast<double>(config.epsilon));
            p -= rate * m;
            return;
        }
        if (!is_adam) {
            m = (config.kind == OptimizerKind::kSgd ? 0.0 : momentum * m) + g;
            p -= rate * (config.kind == OptimizerKind::kNesterov ? g + momentum * m : m);
            return;
        }
        const double beta1 = static_cast<double>(config.beta1);
        const double beta2 = static_cast<double>(config.beta2);
        m = beta1 * m + (1.0 - beta1) * g;
        v = beta2 * v + (1.0 - beta2) * g * g;
        const double correction1 = 1.0 - std::pow(beta1, updates);
        const double correction2 = 1.0 - std::pow(beta2, updates);
        const double deviation = std::sqrt(v) / std::sqrt(correction2) + static_cast<double>(config.epsilon);
        p -= rate / correction1 * m / deviation;
    }
};

Tensors values_of(const std::vector<Matrix>& matrices) {
    Tensors out;
    for (const Matrix& matrix : matrices) {
        out.push_back(matrix.values);
    }
    return out;
}

void check_close(const std::vector<Matrix>& state, const Tensors& parameters, double tolerance) {
    for (std::size_t i = 0; i < kCount; ++i) {
        for (std::size_t e = 0; e < parameters[i].size(); ++e) {
            CAPTURE(e);
            CHECK(std::abs(state[i].values[e] - parameters[i][e]) < tolerance);
        }
    }
}

OptimizerConfig make(OptimizerKind kind, float weight_decay = 0.0F, float clip_norm = 0.0F) {
    OptimizerConfig config;
    config.kind = kind;
    config.learning_rate = 0.05F;
    config.beta2 = 0.95F;
    config.epsilon = 1e-3F;  // large enough to show where it is added
    config.weight_decay = weight_decay;
    config.clip_norm = clip_norm;
    return config;
}

constexpr std::array kKinds{OptimizerKind::kSgd,   OptimizerKind::kSgdMomentum, OptimizerKind::kAdam,
                            OptimizerKind::kAdamW, OptimizerKind::kNesterov,    OptimizerKind::kRmsprop};

// The schedules' closed formulas.
double rate_at(const OptimizerConfig& config, double t) {
    const Schedule& s = config.schedule;
    const double warmup = s.warmup_updates;
    const double warm = warmup > 0 ? std::min(1.0, (t + (s.warms_from_zero ? 0.0 : 1.0)) / warmup) : 1.0;
    const double last = static_cast<double>(s.final_fraction);
    const double progress = std::clamp((t - warmup) / (s.total_updates - warmup), 0.0, 1.0);
    double factor = 1.0;
    if (s.kind == ScheduleKind::kCosine) {
        factor = last + (1.0 - last) * 0.5 * (1.0 + std::cos(std::acos(-1.0) * progress));
    } else if (s.kind == ScheduleKind::kLinear) {
        factor = last + (1.0 - last) * (1.0 - progress);
    } else if (s.kind == ScheduleKind::kStep) {
        factor = std::pow(static_cast<double>(s.gamma), std::floor(std::max(0.0, t - warmup) / s.period));
    }
    return static_cast<double>(config.learning_rate) * warm * factor;
}

}  // namespace

TEST_CASE("each optimizer follows its definition in double over several updates") {
    for (const OptimizerKind kind : kKinds) {
        for (const float decay : {0.0F, 0.1F}) {
            CAPTURE(static_cast<int>(kind));
            CAPTURE(decay);
            const OptimizerConfig config = make(kind, decay);
            Reference reference(config);
            std::vector<Matrix> state = first_state(config);
            for (std::uint64_t step = 0; step < 8; ++step) {
                state = update(config, state, gradients_of(step), step);
                reference.update(values_of(gradients_of(step)), static_cast<double>(config.learning_rate));
                check_close(state, reference.parameters, 2e-6);
            }
        }
    }
}

TEST_CASE("weight decay spares biases unless it is told otherwise") {
    const OptimizerConfig config = make(OptimizerKind::kAdamW, 0.5F);
    const std::vector<Matrix> before = first_state(config);
    std::vector<Matrix> none;
    for (const Shape shape : kShapes) {
        none.push_back({shape, std::vector<double>(shape.element_count(), 0.0)});
    }
    const std::vector<Matrix> after = update(config, before, none, 0);
    for (std::size_t e = 0; e < 12; ++e) {
        CHECK(after[0].values[e] == doctest::Approx(before[0].values[e] * (1.0 - 0.05 * 0.5)));
    }
    CHECK(after[1].values == before[1].values);
    const auto other = test::evaluate(
        [&](GraphBuilder& graph, const Values& v) {
            const Values slots(v.begin() + kCount, v.end());
            return append_optimizer(
                graph, config,
                {{v[0], v[1]}, {graph.fill(kShapes[0], 0.0F), graph.fill(kShapes[1], 0.0F)}, slots, {false, true}}
            );
        },
        before
    );
    CHECK(other[0].values == before[0].values);
    CHECK(other[1].values[0] == doctest::Approx(before[1].values[0] * (1.0 - 0.05 * 0.5)));
}

TEST_CASE("clipping shortens gradients that are longer than the norm and touches no others") {
    for (const OptimizerKind kind : kKinds) {
        const OptimizerConfig config = make(kind, 0.1F, 0.75F);
        Reference reference(config);
        std::vector<Matrix> state = first_state(config);
        for (std::uint64_t step = 0; step < 4; ++step) {
            state = update(config, state, gradients_of(step), step);
            reference.update(values_of(gradients_of(step)), static_cast<double>(config.learning_rate));
            check_close(state, reference.parameters, 2e-6);
        }
    }
    const OptimizerConfig loose = make(OptimizerKind::kSgd, 0.0F, 100.0F);
    const OptimizerConfig unclipped = make(OptimizerKind::kSgd);
    const std::vector<Matrix> state = first_state(loose);
    CHECK(
        values_of(update(loose, state, gradients_of(0), 0)) == values_of(update(unclipped, state, gradients_of(0), 0))
    );
}

TEST_CASE("schedules follow their closed formulas, before, during and after") {
    using enum ScheduleKind;
    for (const auto& [kind, warms_from_zero] :
         {std::pair(kConstant, false), std::pair(kConstant, true), std::pair(kCosine, false), std::pair(kCosine, true),
          std::pair(kLinear, false), std::pair(kStep, false), std::pair(kStep, true)}) {
        for (const std::uint32_t warmup : {0U, 10U}) {
            for (const std::uint32_t accumulation : {1U, 3U}) {
                OptimizerConfig config;
                config.learning_rate = 0.25F;
                config.accumulation = accumulation;
                config.schedule = {
                    .kind = kind,
                    .warmup_updates = warmup,
                    .total_updates = 40,
                    .final_fraction = 0.125F,
                    .warms_from_zero = warms_from_zero,
                    .period = 7,
                    .gamma = 0.3F};
                for (const std::uint64_t step : {0U, 1U, 2U, 3U, 9U, 10U, 25U, 39U, 40U, 41U, 119U, 500U}) {
                    CAPTURE(step);
                    CAPTURE(warmup);
                    const auto rate = test::evaluate(
                        [&](GraphBuilder& graph, const Values&) { return Values{append_learning_rate(graph, config)}; },
                        {}, step
                    );
                    const std::uint64_t update = step / accumulation;
                    const double expected = rate_at(config, static_cast<double>(update));
                    CHECK(std::abs(rate[0].values[0] - expected) < 1e-7);
                }
            }
        }
    }
}

TEST_CASE("a schedule of points goes through them, straight or along half a cosine") {
    OptimizerConfig config;
    config.learning_rate = 0.5F;
    config.schedule = {
        .kind = ScheduleKind::kPoints, .points = {{1.0F, 0.25F}, {3.5F, 20.0F}, {4.5F, 4.0F}, {9.0F, 0.0F}}};
    for (const bool is_curved : {false, true}) {
        config.schedule.is_curved = is_curved;
        for (const std::uint64_t step : {0U, 1U, 2U, 3U, 4U, 5U, 8U, 9U, 10U, 1000U}) {
            CAPTURE(step);
            const auto rate = test::evaluate(
                [&](GraphBuilder& graph, const Values&) { return Values{append_learning_rate(graph, config)}; }, {},
                step
            );
            const auto& points = config.schedule.points;
            const double t = std::clamp(static_cast<double>(step), 1.0, 9.0);
            std::size_t i = 0;
            while (i + 2 < points.size() && static_cast<double>(points[i + 1].update) <= t) {
                ++i;
            }
            const double length = static_cast<double>(points[i + 1].update) - static_cast<double>(points[i].update);
            double share = (t - static_cast<double>(points[i].update)) / length;
            share = is_curved ? (1.0 - std::cos(std::acos(-1.0) * share)) / 2.0 : share;
            const double from = static_cast<double>(points[i].factor);
            const double factor = from + (static_cast<double>(points[i + 1].factor) - from) * share;
            CHECK(std::abs(rate[0].values[0] - 0.5 * factor) < 2e-6);
            CHECK(rate[0].values[0] >= 0.0);
        }
    }
    const auto error_of = [](std::vector<SchedulePoint> points) {
        OptimizerConfig wrong;
        wrong.schedule = {.kind = ScheduleKind::kPoints, .points = std::move(points)};
        const auto checked = check_optimizer(wrong);
        return !checked.has_value() && checked.error() == OptimizerError::kSchedule;
    };
    CHECK(error_of({}));
    CHECK(error_of({{1.0F, 1.0F}, {1.0F, 2.0F}}));
    CHECK(error_of({{-1.0F, 1.0F}}));
    CHECK(error_of({{0.0F, -1.0F}}));
    CHECK(error_of(std::vector<SchedulePoint>(kMaxSchedulePoints + 1)));
    CHECK_FALSE(error_of({{0.0F, 1.0F}}));
}

TEST_CASE("a parameter's rate may be a multiple of the others'") {
    for (const OptimizerKind kind : kKinds) {
        CAPTURE(static_cast<int>(kind));
        const OptimizerConfig config = make(kind, 0.1F);
        OptimizerConfig tripled = config;
        tripled.learning_rate *= 3.0F;
        const auto updated = [&](const OptimizerConfig& by, std::vector<float> rates) {
            return test::evaluate(
                [&](GraphBuilder& graph, const Values& v) {
                    const Values gradients{graph.fill(kShapes[0], 0.5F), graph.fill(kShapes[1], 0.25F)};
                    const Values slots(v.begin() + kCount, v.end());
                    return append_optimizer(graph, by, {{v[0], v[1]}, gradients, slots, {true, true}, rates});
                },
                first_state(by)
            );
        };
        const auto found = updated(config, {1.0F, 3.0F});
        const auto once = updated(config, {});
        const auto thrice = updated(tripled, {});
        CHECK(found[0].values == once[0].values);
        REQUIRE(found[1].values.size() == thrice[1].values.size());
        for (std::size_t i = 0; i < found[1].values.size(); ++i) {
            CHECK(found[1].values[i] == doctest::Approx(thrice[1].values[i]).epsilon(1e-6));
            CHECK(found[1].values[i] != once[1].values[i]);
        }
    }
}

TEST_CASE("a schedule's rate is the optimizer's") {
    for (const OptimizerKind kind : kKinds) {
        OptimizerConfig config = make(kind, 0.1F);
        config.schedule = {.kind = ScheduleKind::kCosine, .warmup_updates = 2, .total_updates = 7};
        Reference reference(config);
        std::vector<Matrix> state = first_state(config);
        for (std::uint64_t step = 0; step < 8; ++step) {
            state = update(config, state, gradients_of(step), step);
            reference.update(values_of(gradients_of(step)), rate_at(config, static_cast<double>(step)));
            check_close(state, reference.parameters, 2e-6);
        }
    }
}

TEST_CASE("accumulation makes one update of the mean gradient of several steps") {
    constexpr std::uint64_t kSteps = 3;
    for (const OptimizerKind kind : kKinds) {
        OptimizerConfig config = make(kind, 0.1F, 1.0F);
        config.accumulation = kSteps;
        config.schedule = {.kind = ScheduleKind::kCosine, .warmup_updates = 1, .total_updates = 4};
        Reference reference(config);
        std::vector<Matrix> state = first_state(config);
        for (std::uint64_t updates = 0; updates < 3; ++updates) {
            Tensors mean = values_of(gradients_of(updates * kSteps));
            for (auto& tensor : mean) {
                std::fill(tensor.begin(), tensor.end(), 0.0);
            }
            for (std::uint64_t i = 0; i < kSteps; ++i) {
                const std::uint64_t step = updates * kSteps + i;
                const Tensors gradients = values_of(gradients_of(step));
                for (std::size_t p = 0; p < kCount; ++p) {
                    for (std::size_t e = 0; e < mean[p].size(); ++e) {
                        mean[p][e] += gradients[p][e] / static_cast<double>(kSteps);
                    }
                }
                const std::vector<Matrix> before = state;
                state = update(config, state, gradients_of(step), step);
                if (i + 1 < kSteps) {  // nothing but the sums changes
                    for (std::size_t t = 0; t + kCount < state.size(); ++t) {
                        CHECK(state[t].values == before[t].values);
                    }
                }
            }
            for (std::size_t t = state.size() - kCount; t < state.size(); ++t) {
                CHECK(state[t].values == std::vector<double>(state[t].values.size(), 0.0));
            }
            reference.update(mean, rate_at(config, static_cast<double>(updates)));
            check_close(state, reference.parameters, 3e-6);
        }
    }
}

TEST_CASE("optimizers with numbers that make no sense are refused") {
    const auto error_of = [](const auto& change) {
        OptimizerConfig config;
        change(config);
        const auto checked = check_optimizer(config);
        REQUIRE_FALSE(checked.has_value());
        return checked.error();
    };
    CHECK(check_optimizer({}).has_value());
    CHECK(error_of([](auto& c) { c.learning_rate = -0.1F; }) == OptimizerError::kRate);
    CHECK(error_of([](auto& c) { c.weight_decay = std::nanf(""); }) == OptimizerError::kRate);
    CHECK(error_of([](auto& c) { c.clip_norm = -1.0F; }) == OptimizerError::kRate);
    CHECK(error_of([](auto& c) { c.epsilon = std::numeric_limits<float>::infinity(); }) == OptimizerError::kRate);
    CHECK(error_of([](auto& c) { c.beta2 = 1.0F; }) == OptimizerError::kDecayRate);
    CHECK(error_of([](auto& c) { c.momentum = -0.5F; }) == OptimizerError::kDecayRate);
    CHECK(error_of([](auto& c) { c.schedule.kind = ScheduleKind::kCosine; }) == OptimizerError::kSchedule);
    CHECK(error_of([](auto& c) { c.schedule.final_fraction = 2.0F; }) == OptimizerError::kSchedule);
    CHECK(error_of([](auto& c) { c.schedule = {.kind = ScheduleKind::kStep}; }) == OptimizerError::kSchedule);
    CHECK(error_of([](auto& c) {
              c.schedule = {.kind = ScheduleKind::kStep, .period = 1, .gamma = 1.5F};
          }) == OptimizerError::kSchedule);
    CHECK(error_of([](auto& c) { c.alpha = 1.0F; }) == OptimizerError::kDecayRate);
    CHECK(error_of([](auto& c) { c.accumulation = 0; }) == OptimizerError::kAccumulation);
}
