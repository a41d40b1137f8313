// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <core/canonical/executor.hpp>
#include <verifier/compile/program/optimizer.hpp>
#include <verifier/compile/program/program.hpp>

/// Trains programs by the reference executor.
namespace assay::test {

struct Trainer {
    Trainer(program::Program p, const canonical::RowSource& r);
    canonical::StepContext context(std::uint64_t step) const {
        return {.seed = 7, .step = step, .dataset = rows.shape()};
    }
    std::vector<canonical::Tensor> next(std::uint64_t step) const;
    void train(std::uint64_t step) { state = next(step); }
    float loss(std::uint64_t step) const;
    std::size_t index_of(const std::string& name) const;
    std::vector<double> values(const std::string& name) const;

    program::Program program;
    const canonical::RowSource& rows;
    std::vector<canonical::Tensor> state;
};

void set_element(canonical::Tensor& tensor, std::size_t i, double value);

program::OptimizerConfig optimizer(program::OptimizerKind kind, float rate);

struct Tolerance {
    double step = 0;
    double absolute = 0;
    double relative = 0;
};

// The loss is near 2 with a last bit of 2.4e-7, so differences over h have an error of up to 2.4e-7 / h.
inline constexpr Tolerance kRough{0x1.0p-10, 3e-4, 0.02};
inline constexpr Tolerance kSmooth{0x1.0p-7, 5e-5, 0.02};

/// Compares the gradients of a program with momentum with finite differences.
void check_gradients(Trainer& trainer, const Tolerance& tolerance);

/// Returns the loss after so many steps, divided by the loss before.
double fall(Trainer& trainer, std::uint64_t steps);

}  // namespace assay::test
