// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <tools/bench/bench.hpp>
#include <tools/bench/native_models.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/compile/program/boundary.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::bench {

/// Width of the hidden layers of the MLP.
inline constexpr std::uint32_t kMlpHidden = 64;

/// What is trained: a model with its data.
struct CurveTask {
    std::string title;
    std::shared_ptr<const artifacts::Dataset> rows;
    std::function<program::Program(const program::Profile&)> canonical;
    /// Of GPTs and MLPs, in XG-21, with a batch that is so many times larger.
    std::function<program::Program(const program::OptimizerConfig&, std::uint32_t batches)> with_optimizer{};
    std::function<std::unique_ptr<NativeModel>(const NativeOptions&)> native;
    /// Of MLPs, in XG-21; rows have their numbers where there is a boundary.
    std::function<program::Program(const program::OptimizerConfig&, const program::Boundary&)> with_boundary{};
};

/// The model and the data that the options name. Throws std::runtime_error if the data cannot be read.
CurveTask curve_task(const CurveOptions& options);

}  // namespace assay::bench
