// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <contracts/chain/slots.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/profiling/profiling.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/tasks/draw.hpp>
#include <contracts/tasks/lifecycle.hpp>

namespace assay::contracts {
namespace {

/// PRF-1: distinct verifiers whose free stake covers the bond; empty when there are fewer than have to report.
std::vector<AccountId> draw_accounts(const Context& context, const Task& task) {
    const Amount bond = verifier_bond(context.params, task_value(task.spec));
    auto candidates = read_pool(context.state, Role::kVerifier);
    for (Candidate& candidate : candidates) {
        if (candidate.weight < bond.grains || candidate.account == task.submitter) {
            candidate.weight = 0;
        }
    }
    std::vector<AccountId> drawn;
    for (std::uint32_t i = 0; i < context.params.profilers; ++i) {
        const DrawName name{task.id, DrawKind::kProfiler, 0, i};
        const auto place = draw_weighted(candidates, draw_randomness(context.block.block_hash, name));
        if (!place) {
            break;
        }
        drawn.push_back(candidates[*place].account);
        candidates[*place].weight = 0;
    }
    return drawn.size() < context.params.profilers_min ? std::vector<AccountId>{} : drawn;
}

std::uint64_t draw_seed(const Context& context, const Task& task, DrawKind kind) {
    return to_seed(draw_randomness(context.block.block_hash, {task.id, kind, 0, 0}));
}

void appoint(Context& context, Task& task, const std::vector<AccountId>& profilers) {
    Tolerance& tolerance = task.tolerance.value();
    const Amount bond = verifier_bond(context.params, task_value(task.spec));
    for (const AccountId& profiler : profilers) {
        lock_stake(context, Role::kVerifier, profiler, bond);
        tolerance.profiles.push_back(
            {.profiler = profiler, .status = ProfileStatus::kDue, .commitment = {}, .bond = bond});
        record(context, task, history::ProfilerDrawn{profiler});
    }
    // PRF-2
    tolerance.profile_seed = draw_seed(context, task, DrawKind::kSketch);
    tolerance.reference_seed = draw_seed(context, task, DrawKind::kReference);
    tolerance.reference_seed += tolerance.reference_seed == task.spec.seed ? 1 : 0;
    tolerance.phase = ProfilingPhase::kCommit;
    set_task_deadline(context, task, context.height_after(context.params.commit_blocks));
    set_task(context.state, task);
    remove_waiting(context.state, task.id);
}

}  // namespace

void draw_profilers(Context& context) {
    for (const TaskId& id : get_waiting(context.state)) {
        Task task = find_task(context.state, id).value();
        if (task.state != TaskState::kProfiling || context.height() <= get_docket(context.state, id).draw_after) {
            continue;
        }
        const auto profilers = draw_accounts(context, task);
        if (!profilers.empty()) {
            appoint(context, task, profilers);
        }
    }
}

}  // namespace assay::contracts
