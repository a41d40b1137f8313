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

/// `parameters` with a contributor's bond that no task of these costs makes worth losing.
inline Parameters with_contributor_bond(Parameters parameters) {
    parameters.contributor_bond = 100'000'000 * kGrainsPerAsy;
    return parameters;
}

}  // namespace assay::economics
