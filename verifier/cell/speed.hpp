// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include <verifier/compile/program/program.hpp>
#include <verifier/plan/layout.hpp>

namespace assay::cell {

/// The layout with shares of the batch, of stages and of columns with which the slowest rank computes for the shortest
/// time, if each rank keeps the speed that it has shown: what the plan gives it of a step (plan::work_of) over
/// `busy_s`, the seconds for which it computed as many steps as the others. Only parts of which the layout has several
/// get shares. Nothing if that is not at least a tenth shorter than now, or a time is missing.
std::optional<plan::Layout> by_speed(
    const program::Program& program, const plan::Layout& layout, const std::vector<double>& busy_s
);

}  // namespace assay::cell
