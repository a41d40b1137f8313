// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tools/economics/costs.hpp>

namespace assay::economics {

/// The default costs without the dear task, for which a chain may check more than its tax pays for.
inline Costs modest_costs() {
    Costs out = default_costs();
    out.tasks.pop_back();
    return out;
}

/// `parameters` of a chain that admits tasks of any price in the tests, and whose contributors' bonds protect them.
inline Parameters for_dear_tasks(Parameters parameters) {
    parameters.contributor_bond = 100'000'000 * kGrainsPerAsy;
    parameters.task_value_max = 10'000'000 * kGrainsPerAsy;
    parameters.replay_blocks_max = 1U << 30U;
    parameters.draw_blocks = 1U << 30U;
    parameters.redraw_blocks = 1U << 20U;
    parameters.decline_blocks = 1U << 26U;
    return parameters;
}

}  // namespace assay::economics
