// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include <nlohmann/json.hpp>

#include <verifier/taskdir/findings.hpp>

namespace assay::cli {

/// Everything about a task directory that can be checked without a chain: what keeps `task pack` from working, what
/// would keep solvers and verifiers from doing their part, and what a submitter may not have meant. Never throws
/// taskdir::TaskDirectoryError.
taskdir::Findings lint_task(const std::filesystem::path& directory);

nlohmann::json to_json(const taskdir::Findings& findings);
std::string findings_text(const taskdir::Findings& findings);

}  // namespace assay::cli
