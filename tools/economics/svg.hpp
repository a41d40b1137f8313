// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tools/economics/populations.hpp>

namespace assay::economics {

/// A drawing of what each strategy earned over time: one row of charts for each population, one chart for each role.
std::string to_svg(const std::vector<PopulationResult>& populations);

}  // namespace assay::economics
