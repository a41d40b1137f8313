// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// Runs the command line like a user of the demo does, in a separate process.
namespace assay::demo {

/// Returns the path of the running executable, `assay`.
std::filesystem::path own_executable();

struct CommandResult {
    int status = 0;
    nlohmann::json answer;  ///< its output with -o json; null if that is not JSON
    /// Returns the name of its error; empty if it printed none.
    std::string error_name() const;
    std::string error_message() const;
};

/// Runs `assay ARGUMENTS` with this home and node and waits until it ends. The home's keys have the password
/// kDemoPassword. Standard error goes to `home`/command.log. Throws std::runtime_error if it does not end.
CommandResult run_own(
    const std::filesystem::path& home, const std::string& node_url, const std::vector<std::string>& arguments
);

inline constexpr const char* kDemoPassword = "demo";

}  // namespace assay::demo
