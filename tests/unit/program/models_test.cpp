// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/program/function_rows.hpp>
#include <tests/unit/program/model_trainer.hpp>
#include <tests/unit/program/scalar_graph.hpp>
#include <tests/unit/program/text_rows.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/compile/program/program.hpp>

using namespace assay;
using namespace assay::program;
using namespace assay::test;
using canonical::Op;

namespace {

constexpr std::uint64_t kRows = 40;

CharModelConfig tiny_char_model() {
    return {.vocabulary = 11, .context = 2, .embedding = 32, .hidden = 24, .batch_size = 8, .dataset_rows = kRows};
}
MlpConfig tiny_mlp() {
    return {.features = 6, .hidden = {16, 12}, .classes = 3, .scale = 0.125F, .batch_size = 8, .dataset_rows = kRows};
}
CnnConfig tiny_cnn(bool batch_norm) {
    CnnConfig config{.height = 8, .width = 8, .channels = 1, .filters = {4, 6}, .classes = 3};
    config.batch_norm = batch_norm;
    config.scale = 0.125F;
    config.batch_size = 4;
    config.dataset_rows = kRows;
    return config;
}
GptConfig tiny_gpt() {
    return {
        .vocabulary = 11, .context = 32, .layers = 1, .heads = 1, .width = 32, .batch_size = 2, .dataset_rows = kRows};
}
GptConfig rotary_gpt() {
    GptConfig config = tiny_gpt();
    config.heads = 2;
    config.width = 64;
    config.rotary = true;
    config.tied_head = false;
    config.dropout = 0.1F;
    config.batch_size = 1;
    return config;
}

// Rows whose last value is the class: which part of the others is bright.
test::FunctionRows classes(const canonical::DatasetShape& shape, std::uint32_t count) {
    return test::FunctionRows(shape, [=](std::uint64_t row, std::uint32_t col) {
        const auto label = static_cast<std::int32_t>(row % count);
        const auto noise = static_cast<std::int32_t>((row * 7 + col * 13 + row * col) % 5);
        const auto part = static_cast<std::int32_t>(col * count / (shape.width - 1));
        return col + 1 == shape.width ? label : (part == label ? 8 : 0) + noise;
    });
}

}  // namespace

TEST_CASE("gradients of the character model agree with finite differences") {
    const test::TextRows rows(kRows, 3, 11);
    Trainer trainer(build_char_model(tiny_char_model(), optimizer(OptimizerKind::kSgdMomentum, 0.01F)), rows);
    trainer.train(0);  // biases leave zero
    check_gradients(trainer, kRough);
}

TEST_CASE("gradients of a multilayer perceptron agree with finite differences") {
    const auto rows = classes({kRows, 7}, 3);
    Trainer trainer(build_mlp(tiny_mlp(), optimizer(OptimizerKind::kSgdMomentum, 0.01F)), rows);
    trainer.train(0);
    check_gradients(trainer, kRough);
}

TEST_CASE("gradients of a convolutional network agree with finite differences") {
    const auto rows = classes({kRows, 65}, 3);
    Trainer trainer(build_cnn(tiny_cnn(false), optimizer(OptimizerKind::kSgdMomentum, 0.01F)), rows);
    trainer.train(0);
    check_gradients(trainer, kRough);
    Trainer normalised(build_cnn(tiny_cnn(true), optimizer(OptimizerKind::kSgdMomentum, 0.01F)), rows);
    normalised.train(0);
    check_gradients(normalised, kRough);
}

TEST_CASE("gradients of a transformer agree with finite differences" * doctest::test_suite("unsanitized")) {
    const test::TextRows rows(kRows, 33, 11);
    for (const GptConfig& config : {tiny_gpt(), rotary_gpt()}) {
        Trainer trainer(build_gpt(config, optimizer(OptimizerKind::kSgdMomentum, 0.5F)), rows);
        trainer.train(0);
        check_gradients(trainer, kSmooth);
    }
}

TEST_CASE("every family's loss falls, with every optimizer" * doctest::test_suite("unsanitized")) {
    const test::TextRows text(kRows, 33, 11);
    const test::TextRows pairs(kRows, 3, 11);
    const auto digits = classes({kRows, 65}, 3);
    const auto features = classes({kRows, 7}, 3);
    for (const auto& [each, rate] :
         {std::pair{OptimizerKind::kSgd, 0.2F},
          {OptimizerKind::kSgdMomentum, 0.05F},
          {OptimizerKind::kAdam, 0.01F},
          {OptimizerKind::kAdamW, 0.01F}}) {
        const OptimizerKind kind = each;  // clang 14 captures no structured binding
        CAPTURE(static_cast<int>(kind));
        OptimizerConfig config = optimizer(kind, rate);
        config.weight_decay = 0.01F;
        config.clip_norm = 5.0F;
        config.schedule = {.kind = ScheduleKind::kCosine, .warmup_updates = 3, .total_updates = 40};
        Trainer character(build_char_model(tiny_char_model(), config), pairs);
        CHECK(fall(character, 20) < 0.9);
        Trainer mlp(build_mlp(tiny_mlp(), config), features);
        CHECK(fall(mlp, 20) < 0.8);
        Trainer cnn(build_cnn(tiny_cnn(kind == OptimizerKind::kAdam), config), digits);
        CHECK(fall(cnn, 20) < 0.95);
        Trainer gpt(build_gpt(kind == OptimizerKind::kAdam ? rotary_gpt() : tiny_gpt(), config), text);
        CHECK(fall(gpt, 20) < 0.98);
    }
}

TEST_CASE("the coarse profiles train as well") {
    const test::TextRows rows(kRows, 33, 11);
    for (const Profile& profile : {kXg24, kXg11, kXg8, kXg7}) {
        GptConfig config = tiny_gpt();
        config.profile = profile;
        const Program program = build_gpt(config, optimizer(OptimizerKind::kAdamW, 0.01F));
        for (const canonical::Node& node : program.step) {
            if (node.op == Op::kContract) {
                CHECK((node.attributes == std::array{profile.precision, profile.chunk}));
            }
        }
        Trainer trainer(program, rows);
        CHECK(fall(trainer, 10) < 0.95);
    }
}

TEST_CASE("accumulated steps make the update of one large batch") {
    const auto rows = classes({kRows, 7}, 3);
    constexpr std::uint32_t kSteps = 4;
    for (const auto kind : {OptimizerKind::kSgdMomentum, OptimizerKind::kAdamW}) {
        OptimizerConfig config = optimizer(kind, 0.02F);
        config.weight_decay = 0.1F;
        config.clip_norm = 1.0F;
        MlpConfig large = tiny_mlp();
        large.batch_size *= kSteps;
        Trainer whole(build_mlp(large, config), rows);
        config.accumulation = kSteps;
        Trainer parts(build_mlp(tiny_mlp(), config), rows);
        for (std::uint64_t update = 0; update < 3; ++update) {
            whole.train(update);
            for (std::uint64_t i = 0; i < kSteps; ++i) {
                parts.train(update * kSteps + i);
            }
            for (std::size_t t = 0; t < whole.state.size(); ++t) {
                CAPTURE(whole.program.state[t].name);
                REQUIRE(parts.program.state[t].name == whole.program.state[t].name);
                const auto a = test::to_matrix(whole.state[t]).values;
                const auto b = test::to_matrix(parts.state[t]).values;
                for (std::size_t i = 0; i < a.size(); ++i) {
                    CHECK(std::abs(a[i] - b[i]) < 1e-5);
                }
            }
        }
    }
}

TEST_CASE("batch normalisation's running values follow the batches'") {
    // A kernel of one place: each filter's output is w x, so are its mean and deviation.
    CnnConfig config = tiny_cnn(true);
    config.filters = {2};
    config.kernel = 1;
    const auto rows = classes({kRows, 65}, 3);
    Trainer trainer(build_cnn(config, optimizer(OptimizerKind::kSgd, 0.05F)), rows);
    CHECK(trainer.values("norm1.running_mean") == std::vector<double>{0.0, 0.0});
    CHECK(trainer.values("norm1.running_var") == std::vector<double>{1.0, 1.0});
    for (std::uint64_t step = 0; step < 3; ++step) {
        double sum = 0;
        double square = 0;
        const double count = config.batch_size * 64;
        for (std::uint64_t r = 0; r < config.batch_size; ++r) {
            const Bytes row = rows.row(canonical::batch_row(7, step * config.batch_size + r, kRows));
            for (std::size_t i = 0; i < 64; ++i) {
                std::int32_t pixel = 0;
                std::memcpy(&pixel, row.data() + i * 4, 4);
                sum += pixel * static_cast<double>(config.scale);
                square += std::pow(pixel * static_cast<double>(config.scale), 2);
            }
        }
        const double mean = sum / count;
        const double variance = (square / count - mean * mean) * count / (count - 1);
        const auto weight = trainer.values("conv1.weight");
        const auto mean_before = trainer.values("norm1.running_mean");
        const auto variance_before = trainer.values("norm1.running_var");
        trainer.train(step);
        for (std::size_t f = 0; f < 2; ++f) {
            const double batch_mean = weight[f] * mean;
            CHECK(trainer.values("norm1.running_mean")[f] == doctest::Approx(0.9 * mean_before[f] + 0.1 * batch_mean));
            CHECK(
                trainer.values("norm1.running_var")[f] ==
                doctest::Approx(0.9 * variance_before[f] + 0.1 * weight[f] * weight[f] * variance)
            );
        }
    }
}

TEST_CASE("no two random tensors of a program share an id") {
    GptConfig config = rotary_gpt();
    config.layers = 3;
    const Program program = build_gpt(config, {});
    std::set<std::uint32_t> ids;
    std::size_t count = 0;
    for (const canonical::Graph* graph : {&program.init, &program.step}) {
        for (const canonical::Node& node : *graph) {
            if (node.op == Op::kUniform || node.op == Op::kBernoulli) {
                ids.insert(node.attributes[1]);
                ++count;
            }
        }
    }
    CHECK(ids.size() == count);
    CHECK(count > 7);
}

TEST_CASE("features may be the bits of floats") {
    MlpConfig config = tiny_mlp();
    config.encoding = Encoding::kFloatBits;
    config.scale = 1.0F;
    const auto whole = classes({kRows, 7}, 3);
    const test::FunctionRows bits({kRows, 7}, [&](std::uint64_t row, std::uint32_t col) {
        std::int32_t value = 0;
        std::memcpy(&value, whole.row(row).data() + col * 4, 4);
        return col == 6 ? value : std::bit_cast<std::int32_t>(static_cast<float>(value) * 0.125F);
    });
    Trainer a(build_mlp(config, optimizer(OptimizerKind::kAdam, 0.01F)), bits);
    Trainer b(build_mlp(tiny_mlp(), optimizer(OptimizerKind::kAdam, 0.01F)), whole);
    a.train(0);
    b.train(0);
    CHECK(a.state == b.state);
}

TEST_CASE("a transformer as large as GPT-2 is a program with nodes to spare") {
    GptConfig config{.vocabulary = 50'257, .context = 1'024, .layers = 12, .heads = 12, .width = 768};
    config.dropout = 0.1F;
    config.dataset_rows = 1'000'000;
    OptimizerConfig adam = optimizer(OptimizerKind::kAdamW, 6e-4F);
    adam.weight_decay = 0.1F;
    adam.clip_norm = 1.0F;
    adam.accumulation = 8;
    adam.schedule = {.kind = ScheduleKind::kCosine, .warmup_updates = 100, .total_updates = 10'000};
    REQUIRE(check_model(config, adam).has_value());
    const Program program = build_gpt(config, adam);
    MESSAGE("step nodes: " << program.step.size());
    CHECK(program.step.size() < 8'000);
    CHECK(program.state.size() == 148 * 4 + 2);
}

TEST_CASE("configurations that have no program are refused") {
    const auto gpt_error = [](const std::function<void(GptConfig&)>& change) {
        GptConfig config = tiny_gpt();
        change(config);
        const auto checked = check_model(config, {});
        REQUIRE_FALSE(checked.has_value());
        return checked.error();
    };
    CHECK(check_model(tiny_gpt(), {}).has_value());
    CHECK(gpt_error([](auto& c) { c.vocabulary = 0; }) == ModelError::kZero);
    CHECK(gpt_error([](auto& c) { c.context = 33; }) == ModelError::kAlignment);
    CHECK(gpt_error([](auto& c) { c.width = 48; }) == ModelError::kAlignment);
    CHECK(gpt_error([](auto& c) { c.heads = 3; }) == ModelError::kAlignment);
    CHECK(gpt_error([](auto& c) { c.context = 1U << 24U; }) == ModelError::kRowWidth);
    CHECK(gpt_error([](auto& c) { c.batch_size = 1U << 24U; }) == ModelError::kTooLarge);
    CHECK(gpt_error([](auto& c) { c.layers = 1'000; }) == ModelError::kTooLarge);
    CHECK(gpt_error([](auto& c) { c.dropout = 1.0F; }) == ModelError::kProbability);
    CHECK(gpt_error([](auto& c) { c.profile = {24, 1U << 16U}; }) == ModelError::kProfile);
    // Without slots the state would have room for it, but the graph has not.
    GptConfig deep = tiny_gpt();
    deep.layers = 330;
    deep.dropout = 0.1F;
    CHECK(check_model(deep, optimizer(OptimizerKind::kSgd, 0.1F)).error() == ModelError::kTooLarge);
    CHECK(check_model(tiny_gpt(), optimizer(OptimizerKind::kSgd, -0.1F)).error() == ModelError::kOptimizer);

    MlpConfig mlp = tiny_mlp();
    mlp.features = canonical::kMaxDimension;
    CHECK(check_model(mlp, {}).error() == ModelError::kRowWidth);
    mlp = tiny_mlp();
    mlp.scale = std::numeric_limits<float>::infinity();
    CHECK(check_model(mlp, {}).error() == ModelError::kZero);
    mlp = tiny_mlp();
    mlp.hidden = {0};
    CHECK(check_model(mlp, {}).error() == ModelError::kZero);
    mlp.hidden = std::vector<std::uint32_t>(2'000, 8);
    CHECK(check_model(mlp, {}).error() == ModelError::kTooLarge);

    CnnConfig cnn = tiny_cnn(true);
    CHECK(check_model(cnn, {}).has_value());
    cnn.filters = {1, 1, 1, 1};
    CHECK(check_model(cnn, {}).error() == ModelError::kTooSmall);
    cnn = tiny_cnn(true);
    cnn.kernel = 2;
    CHECK(check_model(cnn, {}).error() == ModelError::kZero);
    cnn = tiny_cnn(true);
    cnn.height = 1U << 31U;
    CHECK(check_model(cnn, {}).error() == ModelError::kTooLarge);
    CharModelConfig character = tiny_char_model();
    character.embedding = 33;
    CHECK(check_model(character, {}).error() == ModelError::kAlignment);
}
