// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tools/cli/findings.hpp>
#include <tools/cli/task_build.hpp>

namespace assay::cli {

/// Executes a task's initialisation and its first step by the definition, and finds where they leave values that are not
/// finite: the training would end there, and be paid for all the same. What would take minutes is only noted.
void check_first_step(const BuiltTask& task, Findings& findings);

}  // namespace assay::cli
