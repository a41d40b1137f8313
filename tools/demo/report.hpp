// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <contracts/state/task.hpp>
#include <tools/demo/demo.hpp>
#include <tools/demo/network.hpp>
#include <tools/demo/outsider.hpp>
#include <tools/demo/story.hpp>

namespace assay::demo {

/// One task of the demo and how it is expected to end.
struct Act {
    Fraud fraud = Fraud::kNone;
    std::string solver;
    bool tolerance = false;
    bool is_scored = false;            ///< the task has an evaluation
    std::set<std::string> culprits{};  ///< members of the group that trains it who cheat: GroupCast judges how it ends
    std::unique_ptr<Story> story;
    contracts::TaskState state = contracts::TaskState::kOpen;
    std::optional<nlohmann::json> confession;  ///< what the dishonest worker reports that it did, and where
    std::set<std::string> refusals{};          ///< reasons why the chain refused transactions of workers
};

/// All grains on the chain, read slot by slot at one height, with a proof for each slot: balances, stakes, escrows,
/// treasury. LED-1: genesis = total + burned. Reading throws if a proof does not verify.
struct Supply {
    std::uint64_t genesis = 0;
    std::uint64_t total = 0;
    std::uint64_t burned = 0;
    std::uint64_t treasury = 0;
    std::map<std::string, std::uint64_t>
        accounts;  ///< balance and stake of each actor; for an outsider, also its escrows
};
/// `outsider`: nullptr if there is none.
Supply count_supply(Network& network, const std::vector<Act>& acts, const Outsider* outsider);

/// Returns the report of the demo, in the format of docs/operations/demo.md, without `wall_s`.
nlohmann::json make_report(Network& network, const std::vector<Act>& acts, Outsider* outsider, const Supply& before);

/// Returns what is not as it should be, in words; empty if everything is right.
std::vector<std::string> judge_report(const nlohmann::json& report, const std::vector<Act>& acts);

/// Prints the final table: who was paid and who was slashed.
void print_table(Network& network, Narrator& narrator, const std::vector<Act>& acts);

}  // namespace assay::demo
