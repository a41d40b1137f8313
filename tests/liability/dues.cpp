// SPDX-License-Identifier: Apache-2.0
#include <tests/liability/dues.hpp>

#include <algorithm>

namespace assay::liability {
namespace {

using contracts::ProfileStatus;
using contracts::VerdictStatus;

bool is_owed(const model::Duty& duty) {
    const bool is_published = duty.status == VerdictStatus::kAccepted || duty.status == VerdictStatus::kRejected;
    return duty.status == VerdictStatus::kDue || duty.status == VerdictStatus::kCommitted ||
           (is_published && !duty.forced);
}

void add_task(const contracts::TaskId& id, const model::Task& task, std::set<Due>& out) {
    const Hash256 name{id.data};
    if (task.state == contracts::TaskState::kTraining) {
        out.insert({Due::Kind::kTraining, *task.solver, name, 0});
    }
    if (task.state == contracts::TaskState::kVerifying && task.secret && !task.secret->awaited.empty()) {
        out.insert({Due::Kind::kKeys, *task.solver, name, 0});
    }
    for (const model::Duty& duty : task.duties) {
        if (is_owed(duty)) {
            out.insert({Due::Kind::kVerdict, duty.verifier, name, duty.segment});
        }
    }
    if (task.state == contracts::TaskState::kProfiling) {
        for (const model::Profiler& profiler : task.profiling->profilers) {
            if (profiler.status == ProfileStatus::kDue || profiler.status == ProfileStatus::kCommitted) {
                out.insert({Due::Kind::kProfile, profiler.account, name, 0});
            }
        }
    }
}

}  // namespace

const char* to_string(Due::Kind kind) noexcept {
    switch (kind) {
        case Due::Kind::kDispute:
            return "dispute";
        case Due::Kind::kVerdict:
            return "verdict";
        case Due::Kind::kProfile:
            return "profile";
        case Due::Kind::kTraining:
            return "training";
        case Due::Kind::kKeys:
            return "keys";
        case Due::Kind::kContribution:
            return "contribution";
    }
    return "";
}

std::set<Due> find_dues(const model::World& world, const std::set<AccountId>& honest) {
    std::set<Due> out;
    for (const auto& [id, task] : world.tasks) {
        if (!contracts::is_terminal(task.state)) {
            add_task(id, task, out);
        }
    }
    for (const auto& [id, dispute] : world.disputes) {
        if (contracts::is_open(dispute.state)) {
            out.insert({Due::Kind::kDispute, dispute.responder, Hash256{id.data}, 0});
            out.insert({Due::Kind::kDispute, dispute.challenger, Hash256{id.data}, 0});
        }
    }
    if (const auto& round = world.beacon.round) {
        for (const auto& [account, seat] : world.beacon.seats) {
            if (seat.since < round->opened_at && !round->secrets.contains(account)) {
                out.insert({Due::Kind::kContribution, account, {}, round->opened_at});
            }
        }
    }
    std::erase_if(out, [&](const Due& due) { return !honest.contains(due.account); });
    return out;
}

bool is_last_moment(const model::World& world, std::uint64_t height, std::uint64_t blocks) {
    const auto is_near = [&](std::uint64_t deadline) { return deadline > height && deadline <= height + blocks; };
    return std::any_of(
               world.tasks.begin(), world.tasks.end(),
               [&](const auto& entry) {
                   return !contracts::is_terminal(entry.second.state) && is_near(entry.second.deadline);
               }
           ) ||
           std::any_of(world.disputes.begin(), world.disputes.end(), [&](const auto& entry) {
               return contracts::is_open(entry.second.state) && is_near(entry.second.deadline);
           });
}

}  // namespace assay::liability
