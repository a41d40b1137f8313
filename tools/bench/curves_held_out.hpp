// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <core/canonical/tile.hpp>
#include <nlohmann/json.hpp>
#include <tools/bench/curves_tasks.hpp>
#include <verifier/engine/engine.hpp>

namespace assay::bench {

/// Returns a parameter of a model by its name.
using Parameters = std::function<canonical::Tensor(const std::string& name)>;

/// Judges a model by the rows of its task that no run is trained on.
class HeldOut {
  public:
    /// `task` must have held-out rows and outlive it.
    HeldOut(const CurveTask& task, const CurveOptions& options);
    /// Returns {"loss"}, the mean over all held-out rows, and of classifiers {"accuracy"}, the share of the rows whose
    /// class has the largest logit. Throws std::runtime_error if a loss is not finite.
    nlohmann::json judge(const Parameters& parameters);

  private:
    const CurveTask& task_;
    const program::Program program_;  ///< whose state is the parameters
    std::unique_ptr<engine::Engine> engine_;
    std::uint32_t loss_node_ = 0;
};

}  // namespace assay::bench
