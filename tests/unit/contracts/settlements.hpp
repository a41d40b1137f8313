// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <tests/unit/contracts/groups.hpp>

/// Ways in which a task can end, for the settlement matrix.
namespace assay::contracts::test {

struct Case {
    const char* name;
    std::function<TaskId(Chain&)> play;
    std::uint32_t forced_error_bps = 0;
    const char* end = "settled";
    std::uint32_t redraws_max = 0;  ///< AVL-7: mostly there is one verifier, so a segment without its verdict has none
};

/// A run with a wrong result of step 4, the first of segment 2.
const ToyRun& fraud();

/// A task that the solver trained as honest() does, whose verdicts are in and whose windows have ended.
TaskId judged_task(Chain& chain, const TaskSpec& spec);

/// The whistleblower disputes segment 2.
DisputeId accuse(Chain& chain, const TaskId& id);

/// GRP rules: of the solver and one partner, who posts segment 2.
std::vector<Case> cases_of_groups();
/// STM rules: of the solver and one partner that compute each step together.
std::vector<Case> cases_of_statements();

}  // namespace assay::contracts::test
