// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/program/model_trainer.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include <doctest/doctest.h>
#include <tests/unit/program/scalar_graph.hpp>

namespace assay::test {

using canonical::Tensor;
using program::OptimizerConfig;
using program::OptimizerKind;
using program::Program;
using program::StateTensor;

Trainer::Trainer(Program p, const canonical::RowSource& r) : program(std::move(p)), rows(r) {
    CHECK(check_program(program).has_value());
    state = *canonical::execute_graph(program.init, context(0), rows, {});
}

std::vector<Tensor> Trainer::next(std::uint64_t step) const {
    return *canonical::execute_graph(program.step, context(step), rows, state);
}

float Trainer::loss(std::uint64_t step) const {
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

std::size_t Trainer::index_of(const std::string& name) const {
    const auto found = std::find_if(program.state.begin(), program.state.end(), [&](const StateTensor& tensor) {
        return tensor.name == name;
    });
    REQUIRE(found != program.state.end());
    return static_cast<std::size_t>(found - program.state.begin());
}

std::vector<double> Trainer::values(const std::string& name) const { return to_matrix(state[index_of(name)]).values; }

void set_element(Tensor& tensor, std::size_t i, double value) {
    const auto rounded = static_cast<float>(value);
    std::memcpy(tensor.data.data() + i * 4, &rounded, 4);
}

OptimizerConfig optimizer(OptimizerKind kind, float rate) {
    OptimizerConfig config;
    config.kind = kind;
    config.learning_rate = rate;
    return config;
}

// From zero momentum, the next momentum is the gradient. The largest and a few other elements of each parameter are
// held between the differences of the loss to the right and to the left, which are far apart only where a ReLU or a
// maximum changes within the step.
void check_gradients(Trainer& trainer, const Tolerance& tolerance) {
    for (std::size_t i = 0; i < trainer.state.size(); ++i) {
        if (trainer.program.state[i].name.rfind("momentum.", 0) == 0) {
            std::fill(trainer.state[i].data.begin(), trainer.state[i].data.end(), std::uint8_t{0});
        }
    }
    const std::vector<Tensor> next = trainer.next(1);
    for (std::size_t p = 0; p < trainer.state.size(); ++p) {
        const std::string& name = trainer.program.state[p].name;
        if (name.rfind("momentum.", 0) == 0 || name.find(".running_") != std::string::npos) {
            continue;
        }
        CAPTURE(name);
        const std::vector<double> gradient = to_matrix(next[trainer.index_of("momentum." + name)]).values;
        std::vector<std::size_t> order(gradient.size());
        std::iota(order.begin(), order.end(), 0);
        const auto is_larger = [&](std::size_t a, std::size_t b) {
            return std::abs(gradient[a]) > std::abs(gradient[b]);
        };
        std::sort(order.begin(), order.end(), is_larger);
        CHECK(std::abs(gradient[order[0]]) > 10 * tolerance.absolute);
        for (const std::size_t place : {std::size_t{0}, std::size_t{1}, order.size() / 2, order.size() - 1}) {
            const std::size_t i = order[std::min(place, order.size() - 1)];
            CAPTURE(i);
            const double value = to_matrix(trainer.state[p]).values[i];
            const auto loss_at = [&](double x) {
                set_element(trainer.state[p], i, x);
                return static_cast<double>(trainer.loss(1));
            };
            const double right = (loss_at(value + tolerance.step) - loss_at(value)) / tolerance.step;
            const double left = (loss_at(value) - loss_at(value - tolerance.step)) / tolerance.step;
            set_element(trainer.state[p], i, value);
            const double slack = tolerance.absolute + tolerance.relative * std::abs(gradient[i]);
            CHECK(gradient[i] > std::min(left, right) - slack);
            CHECK(gradient[i] < std::max(left, right) + slack);
        }
    }
}

double fall(Trainer& trainer, std::uint64_t steps) {
    const double before = static_cast<double>(trainer.loss(0));
    for (std::uint64_t step = 0; step < steps; ++step) {
        trainer.train(step);
    }
    const double after = static_cast<double>(trainer.loss(0));
    MESSAGE("loss " << before << " -> " << after);
    return after / before;
}

}  // namespace assay::test
