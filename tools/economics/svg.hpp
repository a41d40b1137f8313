// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tools/economics/populations.hpp>

namespace assay::economics {

/// Draws what each strategy earned over time: one row of charts per population, one chart per role.
std::string to_svg(const std::vector<PopulationResult>& populations);

}  // namespace assay::economics
