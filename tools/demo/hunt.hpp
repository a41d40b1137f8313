// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tools/demo/network.hpp>
#include <tools/demo/report.hpp>

/// Demos of watchers that want jackpots without a replay: what each of them got, and what it had to get.
namespace assay::demo {

/// The report's section about them, in the shape that docs/operations/demo.md documents.
nlohmann::json make_hunt(Network& network, const Act& act, const Supply& before, const Supply& after);

/// Whether each payment is what the rules say (VER-16, SET-1, SET-8), the honest got theirs, and the hunters have no
/// more money than honest watchers in their place would have. What is not so, in words.
std::vector<std::string> judge_hunt(const nlohmann::json& hunt);

/// One line about who gained what.
std::string describe_hunt(const nlohmann::json& hunt);

}  // namespace assay::demo
