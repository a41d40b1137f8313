// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verifier/taskdir/findings.hpp>
#include <verifier/taskdir/task_build.hpp>

namespace assay::cli {

/// Executes a task's initialisation and first step with the reference definition and reports where values are not
/// finite: training would end there and still be paid. If that would take minutes, only adds a note.
void check_first_step(const taskdir::BuiltTask& task, taskdir::Findings& findings);

}  // namespace assay::cli
