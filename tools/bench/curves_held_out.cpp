// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/curves_held_out.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>

#include <verifier/compile/program/graph_builder.hpp>
#include <verifier/compile/program/specialise.hpp>

namespace assay::bench {
namespace {

using canonical::Tensor;

program::OptimizerConfig without_slots() {
    program::OptimizerConfig out;
    out.kind = program::OptimizerKind::kSgd;
    return out;
}

/// The step without its update: the loss, and the state as it was.
program::Specialised loss_alone(const program::Program& program) {
    canonical::Graph graph = program.step;
    for (std::uint32_t i = 0; i < program.state.size(); ++i) {
        graph.back().inputs[i] = program::GraphBuilder::state(i, program.state[i].type);
    }
    const program::StepKinds kinds(graph);
    const std::vector<std::uint32_t> kept{program.loss_node};
    return kinds.graph_of(graph, kinds.kind_of(0), kept);
}

std::vector<float> floats_of(const Tensor& tensor) {
    std::vector<float> out(tensor.shape.element_count());
    std::memcpy(out.data(), tensor.data.data(), tensor.data.size());
    return out;
}

/// Rows of an MLP's layer: weights [outputs, inputs], biases [1, outputs].
std::vector<double> linear(const std::vector<double>& x, const Tensor& weight, const Tensor& bias) {
    const std::vector<float> weights = floats_of(weight);
    const std::vector<float> biases = floats_of(bias);
    std::vector<double> out(biases.begin(), biases.end());
    for (std::size_t o = 0; o < out.size(); ++o) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            out[o] += x[i] * static_cast<double>(weights[o * x.size() + i]);
        }
    }
    return out;
}

/// The class that an MLP gives to each held-out row, in plain double precision, beside the row's own.
double accuracy_of(const CurveTask& task, const Parameters& parameters) {
    std::vector<std::pair<Tensor, Tensor>> layers;
    for (std::uint32_t i = 1; i <= task.hidden_layers; ++i) {
        const std::string name = "hidden" + std::to_string(i);
        layers.emplace_back(parameters(name + ".weight"), parameters(name + ".bias"));
    }
    layers.emplace_back(parameters("output.weight"), parameters("output.bias"));
    const canonical::DatasetShape shape = task.held_out->shape();
    std::uint64_t right = 0;
    for (std::uint64_t row = 0; row < shape.rows; ++row) {
        const Bytes bytes = task.held_out->row(row);
        std::vector<std::int32_t> values(shape.width);
        std::memcpy(values.data(), bytes.data(), bytes.size());
        std::vector<double> x(values.begin(), values.end() - 1);
        std::transform(x.begin(), x.end(), x.begin(), [&](double value) { return value * task.scale; });
        for (std::size_t i = 0; i < layers.size(); ++i) {
            x = linear(x, layers[i].first, layers[i].second);
            if (i + 1 < layers.size()) {
                std::transform(x.begin(), x.end(), x.begin(), [](double value) { return std::max(value, 0.0); });
            }
        }
        right += std::max_element(x.begin(), x.end()) - x.begin() == values.back() ? 1U : 0U;
    }
    return static_cast<double>(right) / static_cast<double>(shape.rows);
}

}  // namespace

HeldOut::HeldOut(const CurveTask& task, const CurveOptions& options)
    : task_(task), program_(task.with_optimizer(without_slots(), task.held_out_batch)) {
    program::Specialised alone = loss_alone(program_);
    loss_node_ = alone.kept.front();
    engine_ = std::make_unique<engine::Engine>(
        std::move(alone.graph), task.held_out,
        engine::EngineOptions{.device = options.device, .threads = options.threads}
    );
    engine_->keep(loss_node_);
}

nlohmann::json HeldOut::judge(const Parameters& parameters) {
    engine_->set_state(program_.state.size(), [&](std::size_t i) { return parameters(program_.state[i].name); });
    const canonical::DatasetShape shape = task_.held_out->shape();
    // An epoch has each row once, in whatever order.
    const std::uint64_t batches = shape.rows / task_.held_out_batch;
    double sum = 0.0;
    for (std::uint64_t step = 0; step < batches; ++step) {
        if (!engine_->run_step({.seed = 0, .step = step, .dataset = shape})) {
            throw std::runtime_error("the loss of held-out rows is not finite");
        }
        sum += static_cast<double>(engine_->scalar(loss_node_));
    }
    const auto rounded = [](double x) { return std::round(x * 1e6) / 1e6; };
    nlohmann::json out{{"loss", rounded(sum / static_cast<double>(batches))}};
    if (task_.hidden_layers > 0) {
        out["accuracy"] = rounded(accuracy_of(task_, parameters));
    }
    return out;
}

}  // namespace assay::bench
