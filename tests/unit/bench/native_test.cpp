// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>
#include <tools/bench/canonical_models.hpp>
#include <tools/bench/native_models.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/compile/program/program.hpp>

// The model families, differentiated on the graph and trained canonically, against the same models in libtorch's layers
// with its autograd: the same start and the same batches give the same losses.

namespace assay::bench {
namespace {

using canonical::Tensor;
using program::Program;

constexpr std::uint64_t kSeed = 11;
constexpr std::uint64_t kSteps = 12;
/// Rounding differs in every operation and AdamW amplifies what differs in small gradients; a wrong gradient changes
/// the loss by a hundred times more within two steps.
constexpr double kTolerance = 5e-4;

class Numbers final : public canonical::RowSource {
  public:
    Numbers(std::uint32_t width, std::uint32_t limit) : width_(width), values_(kRows * width) {
        for (std::size_t i = 0; i < values_.size(); ++i) {
            const auto words = canonical::philox4x32({static_cast<std::uint32_t>(i), 0, 0, 0}, {5, 0});
            values_[i] = static_cast<std::int32_t>(words[0] % limit);
        }
    }
    canonical::DatasetShape shape() const override { return {kRows, width_}; }
    Bytes row(std::uint64_t index) const override {
        const auto* first = reinterpret_cast<const std::uint8_t*>(values_.data() + index * width_);
        return {first, first + std::size_t{width_} * 4};
    }

  private:
    static constexpr std::uint64_t kRows = 200;
    std::uint32_t width_;
    std::vector<std::int32_t> values_;
};

using MakeNative = std::function<std::unique_ptr<NativeModel>(const NativeOptions&)>;

void check_losses(const Program& program, std::uint32_t limit, const MakeNative& make_native) {
    const auto rows = std::make_shared<Numbers>(program.dataset.width, limit);
    const auto context = [&](std::uint64_t step) {
        return canonical::StepContext{.seed = kSeed, .step = step, .dataset = rows->shape()};
    };
    const std::vector<Tensor> state = *canonical::execute_graph(program.init, context(0), *rows, {});
    const auto native = make_native({.initial = [&](const std::string& name) -> const float* {
        for (std::size_t i = 0; i < state.size(); ++i) {
            if (program.state[i].name == name) {
                return reinterpret_cast<const float*>(state[i].data.data());
            }
        }
        throw std::runtime_error("no parameter is called " + name);
    }});
    engine::Engine engine(program.step, rows, {});
    engine.keep(program.loss_node);
    engine.set_state(state);
    double first = 0.0;
    double last = 0.0;
    for (std::uint64_t step = 0; step < kSteps; ++step) {
        CAPTURE(step);
        std::vector<std::int32_t> batch;
        for (std::uint32_t r = 0; r < program.batch_size; ++r) {
            const std::uint64_t index = canonical::batch_row(kSeed, step * program.batch_size + r, rows->shape().rows);
            const Bytes row = rows->row(index);
            const auto* values = reinterpret_cast<const std::int32_t*>(row.data());
            batch.insert(batch.end(), values, values + program.dataset.width);
        }
        native->step(batch);
        REQUIRE(engine.run_step(context(step)).has_value());
        last = static_cast<double>(engine.scalar(program.loss_node));
        CHECK(std::abs(static_cast<double>(native->loss()) - last) <= kTolerance);
        first = step == 0 ? last : first;
    }
    CHECK(last != first);  // something was learnt or unlearnt: a model that does not move would agree with anything
}

}  // namespace

TEST_CASE("a GPT trained canonically follows libtorch's autograd") {
    const NativeGptConfig native{.layers = 2, .heads = 2, .width = 64, .context = 32, .vocabulary = 40, .batch = 4};
    program::GptConfig config;
    config.vocabulary = 40;
    config.context = 32;
    config.layers = 2;
    config.heads = 2;
    config.width = 64;
    config.tied_head = false;
    config.batch_size = 4;
    config.dataset_rows = 200;
    check_losses(build_gpt(config, adamw()), 40, [&](const NativeOptions& o) { return make_native_gpt(native, o); });
}

TEST_CASE("a CNN trained canonically follows libtorch's autograd") {
    const NativeCnnConfig native{.side = 8, .channels = {8, 16}, .classes = 10, .batch = 16};
    program::CnnConfig config;
    config.filters = {8, 16};
    config.scale = 1.0F / 16.0F;
    config.batch_size = 16;
    config.dataset_rows = 200;
    check_losses(build_cnn(config, adamw()), 10, [&](const NativeOptions& o) { return make_native_cnn(native, o); });
}

TEST_CASE("a residual network trained canonically follows libtorch's autograd") {
    NativeResnetConfig native{.side = 64, .channels = 3, .widths = {8, 16, 16, 32}, .classes = 10, .batch = 4};
    native.strips = 4;
    const Program program = program_of(native, 200, program::kXg21);
    CHECK(program.batch_size == 16);
    CHECK(program.dataset == canonical::DatasetShape{200, 3073});
    check_losses(program, 10, [&](const NativeOptions& o) { return make_native_resnet(native, o); });
}

TEST_CASE("the residual network that is measured has ResNet-18's parameters") {
    const Program program = program_of(NativeResnetConfig{}, 1024, program::kXg21);
    CHECK(parameters_of(program) == 11'689'512);  // torchvision's
    CHECK(check_program(program).has_value());
}

TEST_CASE("an MLP trained canonically follows libtorch's autograd") {
    const NativeMlpConfig native{.inputs = 64, .hidden = {48, 32}, .classes = 10, .batch = 16};
    program::MlpConfig config;
    config.features = 64;
    config.hidden = {48, 32};
    config.classes = 10;
    config.scale = 1.0F / 16.0F;
    config.batch_size = 16;
    config.dataset_rows = 200;
    check_losses(build_mlp(config, adamw()), 10, [&](const NativeOptions& o) { return make_native_mlp(native, o); });
}

}  // namespace assay::bench
