// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/benchmark.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <vector>

#include <verifier/compile/program/models.hpp>

namespace assay::worker {
namespace {

constexpr double kUnit = 1e6;
constexpr std::uint64_t kBenchmarkRows = 2'048;
constexpr std::uint64_t kBenchmarkSeed = 1;
constexpr int kWarmUpSteps = 2;
constexpr std::uint32_t kClasses = 32;

/// Rows of numbers below kClasses: what they say does not matter to the time.
class Numbers final : public canonical::RowSource {
  public:
    explicit Numbers(std::uint32_t width) : width_(width), values_(kBenchmarkRows * width) {
        for (std::size_t i = 0; i < values_.size(); ++i) {
            values_[i] = static_cast<std::int32_t>(i * 2'654'435'761U / 128U % kClasses);
        }
    }
    canonical::DatasetShape shape() const override { return {kBenchmarkRows, width_}; }
    Bytes row(std::uint64_t index) const override {
        const auto* first = reinterpret_cast<const std::uint8_t*>(values_.data() + index * width_);
        return {first, first + std::size_t{width_} * 4};
    }

  private:
    std::uint32_t width_;
    std::vector<std::int32_t> values_;
};

double units_of(const canonical::Graph& graph) {
    std::uint64_t multiply_adds = 0;
    for (const canonical::Node& node : graph) {
        if (node.op == canonical::Op::kContract) {
            multiply_adds += node.shape.element_count() * node.inputs[0].shape.cols;
        }
    }
    return static_cast<double>(multiply_adds) / kUnit;
}

/// Work units per second over steps of a perceptron of this size.
double measure(
    const program::MlpConfig& config, const engine::EngineOptions& options, double seconds, std::string& engine
) {
    using Clock = std::chrono::steady_clock;
    const program::Program model = program::build_mlp(config, {});
    const auto rows = std::make_shared<Numbers>(model.dataset.width);
    std::vector<canonical::Tensor> state;
    {
        engine::Engine init(model.init, rows, options);
        if (!init.run_step({.seed = kBenchmarkSeed, .step = 0, .dataset = model.dataset})) {
            throw std::runtime_error("the benchmark's initialisation diverged");
        }
        state = init.state();
    }
    engine::Engine step(model.step, rows, options);
    step.keep(model.loss_node);
    step.set_state(state);
    engine = step.description();
    std::uint64_t done = 0;
    Clock::time_point started;
    std::chrono::duration<double> spent{0};
    for (std::uint64_t i = 0; done == 0 || spent.count() < seconds; ++i) {
        if (i == kWarmUpSteps) {
            started = Clock::now();
        }
        if (!step.run_step({.seed = kBenchmarkSeed, .step = i, .dataset = model.dataset})) {
            throw std::runtime_error("the benchmark diverged");
        }
        // Reading the loss waits for the device.
        static_cast<void>(step.scalar(model.loss_node));
        if (i >= kWarmUpSteps) {
            ++done;
            spent = Clock::now() - started;
        }
    }
    return units_of(model.step) * static_cast<double>(done) / spent.count();
}

program::MlpConfig perceptron(std::uint32_t width, std::uint32_t batch_size) {
    program::MlpConfig config;
    config.features = width;
    config.hidden = {width};
    config.classes = kClasses;
    config.scale = 1.0F / 32.0F;
    config.batch_size = batch_size;
    config.dataset_rows = kBenchmarkRows;
    return config;
}

std::string name_of(const contracts::Params& params, std::uint32_t number) {
    return number == 0 ? "any" : params.hardware_classes[number - 1].name;
}

}  // namespace

Benchmark run_benchmark(const engine::EngineOptions& options, double seconds) {
    Benchmark benchmark;
    benchmark.small_step = measure(perceptron(256, 128), options, seconds, benchmark.engine);
    benchmark.products = measure(perceptron(1'024, 1'024), options, seconds, benchmark.engine);
    benchmark.score = static_cast<std::uint64_t>(benchmark.products);
    return benchmark;
}

std::uint32_t class_reached(const contracts::Params& params, std::uint64_t score) noexcept {
    std::uint32_t best = 0;
    std::uint64_t best_score = 0;
    for (std::uint32_t i = 0; i < params.hardware_classes.size(); ++i) {
        const std::uint64_t needed = params.hardware_classes[i].least_score;
        if (score >= needed && needed > best_score) {
            best = i + 1;
            best_score = needed;
        }
    }
    return best;
}

nlohmann::ordered_json to_json(const Benchmark& benchmark, const contracts::Params& params) {
    const std::uint32_t number = class_reached(params, benchmark.score);
    return {
        {"score", benchmark.score},
        {"class", number},
        {"class_name", name_of(params, number)},
        {"small_step", benchmark.small_step},
        {"products", benchmark.products},
        {"engine", benchmark.engine}};
}

std::string to_text(const Benchmark& benchmark, const contracts::Params& params) {
    const std::uint32_t number = class_reached(params, benchmark.score);
    return "small step   " + std::to_string(static_cast<std::uint64_t>(benchmark.small_step)) +
           " units/s\nproducts     " + std::to_string(benchmark.score) + " units/s\nscore        " +
           std::to_string(benchmark.score) + "\nclass        " + std::to_string(number) + " (" +
           name_of(params, number) + ")\nengine       " + benchmark.engine;
}

}  // namespace assay::worker
