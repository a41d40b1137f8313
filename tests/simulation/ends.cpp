// SPDX-License-Identifier: Apache-2.0
#include <tests/simulation/ends.hpp>

#include <algorithm>

#include <contracts/state/task.hpp>

namespace assay::simulation {

using contracts::TaskState;

std::optional<std::uint32_t> first_wrong_segment(model::Workshop& shop, const model::Task& task) {
    // LIN-2: the chain itself takes the start of a stacked task from its parent.
    for (std::uint32_t index = task.spec.parent ? 1 : 0; index < task.checkpoints.size(); ++index) {
        const Hash256 right = index == 0
                                  ? shop.start(model::Way::kTruth)
                                  : shop.after(
                                        model::Way::kTruth, task.checkpoints[index - 1],
                                        contracts::first_step(task.spec, index), contracts::step_count(task.spec, index)
                                    );
        if (right != task.checkpoints[index]) {
            return index;
        }
    }
    return std::nullopt;
}

TaskState expected_end_of_group(model::Workshop& shop, const model::Task& task) {
    const auto wrong = first_wrong_segment(shop, task);
    return wrong && *wrong < 2 ? TaskState::kConvicted : TaskState::kSettled;
}

bool is_outvoted(const model::Task& task, const IsHonest& is_honest) {
    if (task.state != TaskState::kConvicted || !task.committee) {
        return false;
    }
    std::uint64_t seats = 0;
    std::uint64_t silent = 0;
    for (const auto& member : task.committee->members) {
        seats += member.seats;
        silent += is_honest(member.account) ? 0 : member.seats;
    }
    return task.committee->state == contracts::CommitteeState::kWithheld && 2 * silent >= seats;
}

std::string fault_of_convictions(const model::Task& task, const IsHonest& is_excused) {
    const model::Team& team = task.team.value();
    return std::all_of(team.convicted.begin(), team.convicted.end(), is_excused)
               ? ""
               : "somebody honest was convicted in time";
}

std::string fault_of_members(
    model::Workshop& shop, const Company& company, const contracts::TaskId& id, const model::Task& task,
    const IsHonest& is_honest
) {
    const model::Team& team = task.team.value();
    if (std::any_of(team.convicted.begin(), team.convicted.end(), is_honest)) {
        return "an honest member was convicted";
    }
    if (company.missed.contains(id)) {
        return "a lead posted a segment in which a member had found an equivocator";
    }
    for (const auto& [of, account] : company.caught) {
        if (of == id && std::count(team.culprits.begin(), team.culprits.end(), account) == 0) {
            return "an equivocator was caught and not convicted";
        }
    }
    const auto wrong = first_wrong_segment(shop, task);
    if (!wrong) {
        return team.last && is_honest(*task.solver) ? "a group's task was cut although all of it is right" : "";
    }
    if (task.state == TaskState::kSettled && (!team.last || *team.last >= *wrong)) {
        return "a group's task was not cut at its first wrong segment";
    }
    if (task.state == TaskState::kSettled && *team.last + 1 != *wrong && is_honest(*task.solver)) {
        return "a group's task was cut before its first wrong segment";
    }
    // Of a lead whose conviction ends the task, the group does not say that it was convicted.
    if (task.state != TaskState::kSettled && (task.state != TaskState::kConvicted || !is_honest(*task.solver))) {
        return "";
    }
    // Who lied in it, or, where nobody did, the lead that posted something else than came of it.
    const auto is_convicted = [&](const AccountId& account) {
        return team.convicted.contains(account) || std::count(team.culprits.begin(), team.culprits.end(), account) != 0;
    };
    const auto liars = company.liars.find({id, *wrong});
    const bool has_liars = liars != company.liars.end();
    const bool is_found = is_convicted(*task.solver) ||
                          (has_liars && std::any_of(liars->second.begin(), liars->second.end(), is_convicted));
    return is_found ? "" : "whoever lied in a wrong segment was not convicted";
}

std::string fault_of_group(model::Workshop& shop, const model::Task& task, const IsHonest& is_honest) {
    const model::Team& team = task.team.value();
    if (std::any_of(team.convicted.begin(), team.convicted.end(), is_honest)) {
        return "an honest member of a group was convicted";
    }
    if (task.state != TaskState::kSettled) {
        return "";
    }
    const auto wrong = first_wrong_segment(shop, task);
    if (!wrong) {
        return team.last ? "a group's task was cut although all of it is right" : "";
    }
    if (team.last != *wrong - 1) {
        return "a group's task was not cut at its first wrong segment";
    }
    return team.convicted.contains(team.posted_by.at(*wrong)) ? "" : "who posted a wrong segment was not convicted";
}

}  // namespace assay::simulation
