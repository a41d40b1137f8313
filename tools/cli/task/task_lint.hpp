// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include <nlohmann/json.hpp>

#include <verifier/taskdir/findings.hpp>
#include <verifier/taskdir/task_build.hpp>

namespace assay::cli {

/// Returns everything about a task directory that can be checked without a chain: what makes `task pack` fail, what
/// would prevent solvers and verifiers from doing their work, and what the submitter may not have intended. Never
/// throws taskdir::TaskDirectoryError.
taskdir::Findings lint_task(const std::filesystem::path& directory);
/// The part of lint_task that looks at a task which could be built.
void lint_built(const taskdir::BuiltTask& task, taskdir::Findings& findings);

nlohmann::json to_json(const taskdir::Findings& findings);
std::string findings_text(const taskdir::Findings& findings);

}  // namespace assay::cli
