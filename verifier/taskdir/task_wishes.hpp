// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <contracts/state/environment.hpp>
#include <contracts/state/result_check.hpp>
#include <verifier/compile/program/program.hpp>
#include <verifier/taskdir/findings.hpp>

namespace assay::taskdir {

class TomlSection;

/// A check as task.toml names it, before the program is built whose tensors have numbers.
struct NamedCheck {
    std::string tensor{};  ///< name; empty: all tensors, of a `finite` alone
    contracts::ResultCheck check{};
    std::string key{};  ///< of findings about it
};

/// Reads [environment] (ENV-2).
contracts::Environment read_environment(const TomlSection& section);

/// Reads [checks] (CHK-1): in the order finite, shape, range, labels, and each of these by the tensor's name.
std::vector<NamedCheck> read_checks(const TomlSection& section);

/// Returns the checks with the numbers of the program's tensors. A tensor that the program does not have, or that has
/// another type or shape than is declared, is a finding.
std::vector<contracts::ResultCheck> number_checks(
    const std::vector<NamedCheck>& checks, const program::Program& program, Findings& findings
);

}  // namespace assay::taskdir
