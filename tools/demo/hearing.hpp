// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <tools/demo/narrator.hpp>
#include <tools/demo/network.hpp>
#include <tools/demo/report.hpp>

namespace assay::demo {

/// Tells, or keeps with the task that it is about, what a worker reported.
void hear(const WorkerEvent& heard, std::vector<Act>& acts, Narrator& narrator);

}  // namespace assay::demo
