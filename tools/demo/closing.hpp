// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tools/demo/demo.hpp>
#include <tools/demo/narrator.hpp>
#include <tools/demo/network.hpp>
#include <tools/demo/report.hpp>

namespace assay::demo {

/// Writes the report to the file that the options name, and to standard output if they ask for JSON. Throws
/// std::runtime_error if the file cannot be written.
void hand_out(const nlohmann::json& report, const DemoOptions& options);

/// Says that everything ended as it should, or what did not: the complaints, and why the chain refused what workers
/// sent. Returns the exit status.
int close_story(
    const nlohmann::json& report, const std::vector<std::string>& complaints, const std::set<std::string>& refusals,
    const DemoOptions& options, const std::filesystem::path& home, Narrator& narrator
);

/// Says how to reach the network, and leaves it up until `stop` is set. Throws std::runtime_error if a process ends.
void run_on(Network& network, const std::vector<Act>& acts, const std::atomic<bool>& stop, Narrator& narrator);

}  // namespace assay::demo
