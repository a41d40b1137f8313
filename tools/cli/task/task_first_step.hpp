// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verifier/taskdir/findings.hpp>
#include <verifier/taskdir/task_build.hpp>

namespace assay::cli {

/// Executes a task's initialisation and its first step by the definition, and finds where they leave values that are not
/// finite: the training would end there, and be paid for all the same. What would take minutes is only noted.
void check_first_step(const taskdir::BuiltTask& task, taskdir::Findings& findings);

}  // namespace assay::cli
