// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tools/demo/outsider.hpp>
#include <tools/demo/report.hpp>

/// Checks law 2 in a demo: honest accounts do not lose more than the attacker paid or had burned.
namespace assay::demo {

/// Returns {"paid", "harm"} in grains, and as "outsider" the same for an outsider's accounts and tasks alone.
/// `paid` is what all dishonest accounts lost since before the demo: what they spent, lost or had burned, minus what
/// they won. `harm` is computed from the tasks' histories and the moves of their disputes:
/// - what was slashed from honest accounts;
/// - rewards that an honest solver earned and did not get, and those that a dishonest one got from the submitter;
/// - fees for moves of honest accounts in disputes with dishonest ones, minus what those disputes paid them;
/// - fees for what honest accounts sent about the tasks of `outsider` (nullptr: there is none), minus what these paid
/// them;
/// - further losses that `outsider` reports (Outsider::harm).
nlohmann::json make_attack(
    Network& network, const std::vector<Act>& acts, Outsider* outsider, const Supply& before, const Supply& after
);

/// Returns what is wrong, in words; empty if the law holds.
std::vector<std::string> judge_attack(const nlohmann::json& attack);

}  // namespace assay::demo
