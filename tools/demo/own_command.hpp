// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// The command line as a user of the demo runs it: a process of its own.
namespace assay::demo {

/// The executable that runs now, `assay`.
std::filesystem::path own_executable();

struct CommandResult {
    int status = 0;
    nlohmann::json answer;  ///< what it printed with -o json; null when that is no JSON
    /// The name of its error; empty when it printed none.
    std::string error_name() const;
    std::string error_message() const;
};

/// Runs `assay ARGUMENTS` with that home and node, and waits for its end. Its keys have the password kDemoPassword; what it
/// says on standard error goes to `home`/command.log. Throws std::runtime_error when it does not end.
CommandResult run_own(
    const std::filesystem::path& home, const std::string& node_url, const std::vector<std::string>& arguments
);

inline constexpr const char* kDemoPassword = "demo";

}  // namespace assay::demo
