// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tools/demo/network.hpp>
#include <tools/demo/report.hpp>

/// Demos of watchers that try to win jackpots without a replay: what each of them got, and what it should get.
namespace assay::demo {

/// Returns their section of the report, in the format of docs/operations/demo.md.
nlohmann::json make_hunt(Network& network, const Act& act, const Supply& before, const Supply& after);

/// Checks that each payment is as the rules say (VER-16, SET-1, SET-8), that honest watchers got theirs, and that the
/// hunters have no more money than honest watchers in their place would have. Returns what is not so, in words.
std::vector<std::string> judge_hunt(const nlohmann::json& hunt);

/// Returns one line about who gained what.
std::string describe_hunt(const nlohmann::json& hunt);

}  // namespace assay::demo
