// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/program/text_rows.hpp>
#include <verifier/canonical/executor.hpp>
#include <verifier/program/models.hpp>
#include <verifier/program/program.hpp>

using namespace assay;
using namespace assay::program;
using canonical::Tensor;

namespace {

constexpr std::uint64_t kRows = 40;
constexpr std::size_t kParameters = 5;

CharModelConfig tiny_model() {
    CharModelConfig config;
    config.vocabulary = 11;
    config.context = 2;
    config.embedding = 32;
    config.hidden = 24;
    config.batch_size = 8;
    config.dataset_rows = kRows;
    return config;
}

struct Trainer {
    explicit Trainer(const OptimizerConfig& optimizer)
        : program(build_char_model(tiny_model(), optimizer)), rows(kRows, 3, tiny_model().vocabulary) {
        state = *canonical::execute_graph(program.init, context(0), rows, {});
    }
    canonical::StepContext context(std::uint64_t step) const { return {.seed = 7, .step = step, .dataset = rows.shape()}; }

    float loss(std::uint64_t step) const {
        float out = 0.0F;
        const auto stop_at_loss = [&](std::uint32_t node, const Tensor& output) {
            if (node == program.loss_node) {
                std::memcpy(&out, output.data.data(), sizeof out);
            }
            return node != program.loss_node;
        };
        CHECK(canonical::execute_graph(program.step, context(step), rows, state, stop_at_loss).has_value());
        return out;
    }
    void train(std::uint64_t step) { state = *canonical::execute_graph(program.step, context(step), rows, state); }

    Program program;
    test::TextRows rows;
    std::vector<Tensor> state;
};

float element(const Tensor& tensor, std::size_t i) {
    float out = 0.0F;
    std::memcpy(&out, tensor.data.data() + i * 4, 4);
    return out;
}
void set_element(Tensor& tensor, std::size_t i, float value) { std::memcpy(tensor.data.data() + i * 4, &value, 4); }

}  // namespace

// Central differences with h = 2^-10: short, for a ReLU that flips within h has no derivative there. The loss is near
// 2.4 with a last bit of 2.4e-7, so rounding alone gives an error of up to 1.2e-4.
TEST_CASE("gradients of the character model agree with finite differences") {
    OptimizerConfig optimizer;
    optimizer.kind = OptimizerKind::kSgdMomentum;
    Trainer trainer(optimizer);
    trainer.train(0);  // biases and momenta leave zero
    for (std::size_t p = 0; p < kParameters; ++p) {
        std::fill(trainer.state[kParameters + p].data.begin(), trainer.state[kParameters + p].data.end(), std::uint8_t{0});
    }
    // From zero momentum, the next momentum is the gradient.
    const auto next = canonical::execute_graph(trainer.program.step, trainer.context(1), trainer.rows, trainer.state);
    REQUIRE(next.has_value());
    constexpr float kStep = 0x1.0p-10F;
    for (std::size_t p = 0; p < kParameters; ++p) {
        CAPTURE(trainer.program.state[p].name);
        Tensor& parameter = trainer.state[p];
        const std::size_t count = parameter.shape.element_count();
        float largest = 0.0F;
        for (std::size_t i = 0; i < count; i += 1 + count / 60) {
            CAPTURE(i);
            const float value = element(parameter, i);
            set_element(parameter, i, value + kStep);
            const float above = trainer.loss(1);
            set_element(parameter, i, value - kStep);
            const float below = trainer.loss(1);
            set_element(parameter, i, value);
            const float difference = (above - below) / (2.0F * kStep);
            const float gradient = element((*next)[kParameters + p], i);
            largest = std::max(largest, std::abs(gradient));
            CHECK(std::abs(gradient - difference) < 2e-4F + 0.01F * std::abs(gradient));
        }
        CHECK(largest > 1e-3F);
    }
}

TEST_CASE("both optimizers bring the loss of a tiny model down") {
    for (const auto kind : {OptimizerKind::kSgdMomentum, OptimizerKind::kAdam}) {
        OptimizerConfig optimizer;
        optimizer.kind = kind;
        optimizer.learning_rate = kind == OptimizerKind::kAdam ? 0.01F : 0.05F;
        Trainer trainer(optimizer);
        const float before = trainer.loss(0);
        for (std::uint64_t step = 0; step < 30; ++step) {
            trainer.train(step);
        }
        const float after = trainer.loss(0);
        MESSAGE("loss " << before << " -> " << after);
        CHECK(before == doctest::Approx(std::log(11.0)).epsilon(0.2));
        CHECK(after < 0.5F * before);
    }
}
