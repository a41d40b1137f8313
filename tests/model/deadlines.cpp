// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>
#include <utility>

#include <contracts/beacon/rounds.hpp>
#include <contracts/params/gas.hpp>
#include <contracts/governance/params_rules.hpp>
#include <core/dispute/evaluation.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/tasks/tasks.hpp>

/// What falls due at the end of a block, and what its passing does.
namespace assay::model {

using contracts::DisputeState;
using contracts::DueKind;
using contracts::ProfileStatus;
using contracts::ProfilingPhase;
using contracts::Reason;
using contracts::TaskState;
using contracts::VerdictStatus;

void Model::end_block(const contracts::BlockContext& block) {
    // BLK-3, GAS-10
    const std::uint64_t dearest = contracts::kGasPerEntry + contracts::deadline_gas(params_);
    for (std::uint64_t gas = 0; gas + dearest <= params_.end_block_gas_max / 2;) {
        while (!calendar_.empty() && calendar_.begin()->second.empty()) {
            calendar_.erase(calendar_.begin());
        }
        if (calendar_.empty() || calendar_.begin()->first > height_) {
            break;
        }
        const std::uint64_t height = calendar_.begin()->first;
        const Due due = calendar_.begin()->second.front();
        calendar_.begin()->second.pop_front();
        gas += contracts::kGasPerEntry + end_deadline(due, height);
    }
    spread_taints();
    run_beacon();
    run_validators(block);
}

/// STK-4, VAL-9: what is due by blocks is released if it is by time, and else looked at again after as many blocks.
void Model::release_stake(const StakeKey& key) {
    Stake& stake = world_.stakes[key];
    std::vector<Part> left;
    bool waits = false;
    for (const Part& part : stake.parts) {
        if (part.height <= height_ && part.time_ms <= time_ms_) {
            world_.people[key.second].balance += part.amount;
            continue;
        }
        left.push_back(part);
        waits = waits || part.height <= height_;
    }
    stake.parts = left;
    if (waits) {
        calendar_[height_ + params_.unbonding_blocks].push_back(
            {DueKind::kUnbonding, Hash256{key.second.data}, key.first}
        );
    }
}

std::uint64_t Model::end_deadline(const Due& due, std::uint64_t height) {
    const std::uint64_t ended = contracts::deadline_gas(params_);
    if (due.kind == DueKind::kUnbonding) {
        release_stake({due.role, AccountId{due.id.data}});
        return contracts::kGasPerEntry;
    }
    if (due.kind == DueKind::kDraw) {
        await_draw(TaskId{due.id.data});
        return contracts::kGasPerEntry;
    }
    if (due.kind == DueKind::kProposal) {
        return end_motion(contracts::ProposalId{due.id.data}, height) ? ended : 0;
    }
    if (due.kind == DueKind::kTask) {
        if (at(TaskId{due.id.data}).deadline != height) {
            return 0;
        }
        end_task_deadline(TaskId{due.id.data});
        return ended;
    }
    if (world_.disputes.at(DisputeId{due.id.data}).deadline != height) {
        return 0;
    }
    lapse_dispute(DisputeId{due.id.data});
    return ended;
}

void Model::lapse_dispute(const DisputeId& id) {
    // DSP-32, DSP-42
    Dispute& dispute = world_.disputes.at(id);
    if (stands_still(id) && flaw_ != Flaw::kRunsAnsweredClocks) {
        // STM-9
        const std::uint64_t again = height_ + clock_of(at(dispute.task).spec);
        set_deadline({DueKind::kDispute, Hash256{id.data}, {}}, dispute.deadline, again);
        ++seen_["clock stood still"];
        return;
    }
    const bool undisclosed = dispute.state == DisputeState::kAwaiting;
    rule(id, undisclosed || dispute.responders_turn, undisclosed ? Reason::kUndisclosed : Reason::kDisputeTimeout);
}

/// TASK-6
void Model::lapse_acceptance(const TaskId& id) {
    Task& task = at(id);
    if (owes_keys(task)) {
        lapse_unshared(id);
        return;
    }
    const AccountId solver = *task.solver;
    decline(id, solver);
    world_.stakes[{Role::kSolver, solver}].unlisted = true;
}

/// TASK-8
void Model::lapse_training(const TaskId& id) {
    Task& task = at(id);
    const std::uint64_t lost = part_of(task.solver_bond, params_.deadline_slash_bps, 10'000);
    task.solver_bond -= lost;
    slash(id, Role::kSolver, *task.solver, lost, Reason::kMissedDeadline, {});
    if (task.team && task.checkpoints.size() > 1) {
        task.team->last = static_cast<std::uint32_t>(task.checkpoints.size() - 1);  // GRP-6
        ++seen_["deadline shortens"];
        complete(id);
        return;
    }
    end_without_fraud(id, TaskState::kExpired);
}

/// VER-5: whoever still has to do this loses a tenth.
void Model::miss_all(const TaskId& id, const std::function<bool(const Duty&)>& is_missing) {
    for (Duty& duty : at(id).duties) {
        if (is_missing(duty)) {
            duty.status = VerdictStatus::kMissed;
            miss(id, duty.verifier, duty.bond);
            unlock(Role::kVerifier, duty.verifier, std::exchange(duty.reserve, 0));
        }
    }
}

/// DTY-8
bool Model::stand_still(const TaskId& id) {
    Task& task = at(id);
    if (has_room_for_dispute() || flaw_ == Flaw::kEndsWindows) {
        return false;
    }
    const std::uint32_t left = params_.standstill_blocks - task.stood_still;
    const std::uint32_t longer = std::min(left, params_.dispute_extension_blocks);
    ++seen_
        [left == 0 ? "window stood still long enough" : std::string("window stands still: ") + to_string(task.state)];
    task.stood_still += longer;
    if (left != 0) {
        set_task_deadline(id, height_ + longer);
    }
    return left != 0;
}

/// VER-13
void Model::end_window(const TaskId& id) {
    const Task& task = at(id);
    if (std::any_of(task.duties.begin(), task.duties.end(), is_secret)) {
        enter(id, TaskState::kDisclosure, height_ + params_.disclose_blocks);
    } else {
        conclude(id);
    }
}

void Model::end_task_deadline(const TaskId& id) {
    Task& task = at(id);
    if (task.state == TaskState::kOpen) {
        end_without_fraud(id, TaskState::kExpired);  // TASK-17
    } else if (task.state == TaskState::kDrawn) {
        lapse_acceptance(id);
    } else if (task.state == TaskState::kTraining) {
        lapse_training(id);
    } else if (task.state == TaskState::kKept) {
        lapse_keeping(id);
    } else if (!task.disputes.empty()) {
        set_task_deadline(id, 0);  // TASK-11
        task.suspended = true;
    } else if (task.state == TaskState::kCompleted) {
        if (is_sitting(task)) {
            lapse_committee(id);
        } else {
            lapse_drawing(id);  // VER-7
        }
    } else if (task.state == TaskState::kVerifying && owes_keys(task)) {
        convict(id, {Reason::kKeysWithheld, {}, std::nullopt});  // PRV-4
    } else if (task.state == TaskState::kVerifying) {
        const bool commits = std::any_of(task.duties.begin(), task.duties.end(), [](const Duty& duty) {
            return duty.status == VerdictStatus::kDue;
        });
        if (commits) {
            lapse_commitments(id);
        } else {
            miss_all(id, [](const Duty& duty) { return duty.status == VerdictStatus::kCommitted; });
        }
        advance_verdicts(id, commits);
    } else if (task.state == TaskState::kChallenge) {
        if (!stand_still(id)) {
            end_window(id);
        }
    } else if (task.state == TaskState::kDisclosure) {
        miss_all(id, is_secret);
        conclude(id);
    } else if (task.state == TaskState::kJudged) {
        settle(id);
    } else if (task.state == TaskState::kProfiling) {
        end_profiling(id);
    }
}

void Model::end_profiling(const TaskId& id) {
    Task& task = at(id);
    Profiling& profiling = task.profiling.value();
    if (profiling.phase == ProfilingPhase::kDraw) {
        lapse_drawing(id);  // PRF-1
        return;
    }
    if (owes_keys(task) && flaw_ != Flaw::kProfilesUnread) {
        lapse_unread(id);
        return;
    }
    const auto committed = std::count_if(profiling.profilers.begin(), profiling.profilers.end(), [](const Profiler& p) {
        return p.status == ProfileStatus::kCommitted;
    });
    if (profiling.phase == ProfilingPhase::kCommit && committed < params_.profilers_min) {
        // PRF-4
        for (Profiler& profiler : profiling.profilers) {
            profiler.status = profiler.status == ProfileStatus::kDue ? ProfileStatus::kMissed : profiler.status;
        }
        profiling.phase = ProfilingPhase::kOver;
        end_without_fraud(id, TaskState::kRefused);
        return;
    }
    if (profiling.phase != ProfilingPhase::kChallenge) {
        const auto missing =
            profiling.phase == ProfilingPhase::kCommit ? ProfileStatus::kDue : ProfileStatus::kCommitted;
        for (Profiler& profiler : profiling.profilers) {
            if (profiler.status == missing) {
                profiler.status = ProfileStatus::kMissed;
                miss(id, profiler.account, profiler.bond);
            }
        }
        advance_profiles(id);
        return;
    }
    if (stand_still(id)) {
        return;
    }
    // PRF-6, PRF-7
    profiling.phase = ProfilingPhase::kOver;
    contracts::Distances threshold;
    contracts::Distances reference;
    bool bounded = true;
    const auto bound = [&](dispute::GroupMeasurement dispute::Measurement::*row,
                           dispute::Relative contracts::Distances::*of) {
        std::vector<std::vector<dispute::Relative>> samples;
        std::vector<dispute::Relative> references;
        for (const Profiler& profiler : profiling.profilers) {
            if (profiler.status == ProfileStatus::kStanding) {
                samples.emplace_back();
                for (const contracts::ProfileSegment& segment : profiler.report->segments) {
                    samples.back().push_back(dispute::relative_drift(segment.measurement.*row));
                }
                references.push_back(dispute::relative_drift(profiler.report->reference.*row));
            }
        }
        if (samples.size() < params_.profilers_min) {
            bounded = false;
            return;
        }
        std::size_t left_out = 0;
        const auto largest = [&](std::size_t i) { return *std::max_element(samples[i].begin(), samples[i].end()); };
        for (std::size_t i = 1; i < samples.size(); ++i) {
            left_out = largest(i) > largest(left_out) ? i : left_out;
        }
        std::vector<dispute::Relative> kept;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            if (i != left_out) {
                kept.insert(kept.end(), samples[i].begin(), samples[i].end());
            }
        }
        std::sort(references.begin(), references.end());
        const auto found = dispute::threshold_from(kept, references[1], contracts::threshold_rule(params_));
        bounded = bounded && found.has_value();
        threshold.*of = found ? *found : 0;
        reference.*of = references[1];
    };
    bound(&dispute::Measurement::parameters, &contracts::Distances::parameters);
    bound(&dispute::Measurement::other, &contracts::Distances::other);
    if (!bounded) {
        end_without_fraud(id, TaskState::kRefused);
        return;
    }
    profiling.threshold = threshold;
    profiling.reference = reference;
    for (Profiler& profiler : profiling.profilers) {
        unlock(Role::kVerifier, profiler.account, profiler.bond);
        profiler.bond = 0;
    }
    open_task(id);
}

void Model::spread_taints() {
    // LIN-4
    for (int marked = 0; marked < 64 && !taints_.empty(); ++marked) {
        auto& [siblings, ancestor] = taints_.back();
        const TaskId id = siblings.back();
        const TaskId mark = ancestor;
        siblings.pop_back();
        if (siblings.empty()) {
            taints_.pop_back();
        }
        Task& task = at(id);
        if (task.tainted_by) {
            continue;
        }
        if (!is_paid_for(task.state)) {
            task.tainted_by = mark;
            if (task.state == TaskState::kProfiling || task.state == TaskState::kOpen ||
                task.state == TaskState::kDrawn) {
                end_without_fraud(id, TaskState::kCancelled);
            }
        }
        if (children_.contains(id)) {
            taints_.emplace_back(children_.at(id), mark);
        }
    }
}

}  // namespace assay::model
