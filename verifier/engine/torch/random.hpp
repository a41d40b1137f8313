// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/canonical/partial.hpp>
#include <verifier/engine/torch/math.hpp>

namespace assay::engine {

/// Computes kUniform, kBernoulli or kStepCount on the device: Philox in 64-bit integers (NUM-30, NUM-32, NUM-35,
/// NUM-36).
at::Tensor draw(const DeviceMath& math, const canonical::Node& node, const canonical::StepContext& context);

}  // namespace assay::engine
