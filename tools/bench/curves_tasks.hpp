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
    /// Of GPTs and MLPs, in XG-21, with so many rows in a batch.
    std::function<program::Program(const program::OptimizerConfig&, std::uint32_t batch)> with_optimizer{};
    std::function<std::unique_ptr<NativeModel>(const NativeOptions&)> native;
    /// Of MLPs, in XG-21; rows have their numbers where there is a boundary.
    std::function<program::Program(const program::OptimizerConfig&, const program::Boundary&)> with_boundary{};
    std::uint32_t batch = 0;  ///< the model's own

    /// Rows that are not among `rows`, a whole number of batches of `held_out_batch`; only where there are replicas.
    std::shared_ptr<const artifacts::Dataset> held_out{};
    std::uint32_t held_out_batch = 0;
    std::uint32_t hidden_layers = 0;  ///< of an MLP
    double scale = 1.0;               ///< of an MLP's features
};

/// The model and the data that the options name. Where there are replicas, the last tenth of a text or the last 360
/// digits are held out. Throws std::runtime_error if the data cannot be read.
CurveTask curve_task(const CurveOptions& options);

}  // namespace assay::bench
