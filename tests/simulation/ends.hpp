// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <tests/model/records.hpp>
#include <tests/model/workshop.hpp>
#include <tests/simulation/session.hpp>

/// What has to come of a task in exact mode, by the truth about what was posted.
namespace assay::simulation {

using IsHonest = std::function<bool(const AccountId&)>;

/// The first segment whose checkpoint is not what it leaves from the checkpoint before.
std::optional<std::uint32_t> first_wrong_segment(model::Workshop& shop, const model::Task& task);

/// AVL-5: whether liars, who keep silent, had half of the seats of the committee that convicted; there is a liar in
/// three verifiers here, so that happens once in some thousand networks.
bool is_outvoted(const model::Task& task, const IsHonest& is_honest);

/// GRP-7: how a group's task ends if nobody honest was kept from acting.
contracts::TaskState expected_end_of_group(model::Workshop& shop, const model::Task& task);

/// GRP-7, STM-10: what is wrong if somebody was convicted who is not excused: not honest, or without what it takes to
/// defend itself.
std::string fault_of_convictions(const model::Task& task, const IsHonest& is_excused);

/// What is wrong about where a task of a group that computes each step together was cut, and who was convicted, by what
/// its members truly did; empty if nothing is.
std::string fault_of_members(
    model::Workshop& shop, const Company& company, const contracts::TaskId& id, const model::Task& task,
    const IsHonest& is_honest
);

/// GRP-7: what is wrong about who was convicted and where the task was cut; empty if nothing is.
std::string fault_of_group(model::Workshop& shop, const model::Task& task, const IsHonest& is_honest);

}  // namespace assay::simulation
