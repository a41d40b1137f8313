// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <verifier/plan/plan.hpp>

/// Internal to verifier/plan.
namespace assay::plan {

/// When a stage is to execute a node.
enum class Phase : std::uint8_t {
    kEarly,     ///< as soon as possible
    kForward,   ///< for each micro-batch
    kBackward,  ///< the same: what a stage before it, or its own layers, wait for
    kLate,      ///< weights' gradients, and all that follows from them
};
/// Returns the phase of each node of a plan with micro-batches.
std::vector<Phase> phases_of(const Plan& plan, const program::Program& program);

}  // namespace assay::plan
