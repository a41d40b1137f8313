// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tools/demo/outsider.hpp>
#include <tools/demo/report.hpp>

/// Law 2 for a demo: nobody honest loses more than the attacker paid or burned.
namespace assay::demo {

/// {"paid", "harm"} in grains, and the same of an outsider's accounts and tasks alone as "outsider". `paid` is what all dishonest accounts own less than before the demo: what they spent, lost
/// or had burned, less what they won. `harm` is, by the tasks' histories and the moves of their disputes:
///   - what was slashed of honest accounts;
///   - rewards that an honest solver earned and did not get, and those that a dishonest one got from the submitter;
///   - fees of the moves that honest accounts made in disputes with dishonest ones, beyond what those disputes paid them;
///   - fees of what honest accounts sent about the tasks of `outsider` (nullptr: there is none), beyond what these paid them;
///   - what `outsider` says that they lost by it besides.
nlohmann::json make_attack(
    Network& network, const std::vector<Act>& acts, Outsider* outsider, const Supply& before, const Supply& after
);

/// What is wrong with it, in words; empty when the law holds.
std::vector<std::string> judge_attack(const nlohmann::json& attack);

}  // namespace assay::demo
