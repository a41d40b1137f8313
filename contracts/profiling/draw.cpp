// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <contracts/state/slots.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/profiling/profiling.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/beacon/draw.hpp>
#include <contracts/lifecycle/keys.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/params/work.hpp>

namespace assay::contracts {
namespace {

/// PRF-1: distinct verifiers who consent and whose free stake covers the bond; empty when there are fewer than have to
/// report.
std::vector<AccountId> draw_accounts(const Context& context, const Task& task, const ClosedRound& round) {
    const Amount bond = verifier_bond(context.params, task_value(task.spec));
    auto candidates = round.drawing.verifiers;
    if (!has_quorum(context.params, task, bond, candidates)) {
        return {};  // TRM-3
    }
    for (Candidate& candidate : candidates) {
        if (candidate.weight < bond.grains || candidate.account == task.submitter ||
            !consents(context.params, task.spec, candidate.terms)) {
            candidate.weight = 0;
        }
    }
    std::vector<AccountId> drawn;
    for (std::uint32_t i = 0; i < context.params.profilers; ++i) {
        const DrawName name{task.id, DrawKind::kProfiler, 0, i};
        const auto profiler = draw_able(candidates, round.seed, name, [&](const AccountId& account) {
            return get_stake(context.state, Role::kVerifier, account).free >= bond;
        });
        if (!profiler) {
            break;
        }
        drawn.push_back(*profiler);
        std::erase_if(candidates, [&](const Candidate& candidate) { return candidate.account == *profiler; });
    }
    return drawn.size() < context.params.profilers_min ? std::vector<AccountId>{} : drawn;
}

std::uint64_t draw_seed(const ClosedRound& round, const Task& task, DrawKind kind) {
    return to_seed(draw_randomness(round.seed, {task.id, kind, 0, 0}));
}

void appoint(Context& context, Task& task, const std::vector<AccountId>& profilers, const ClosedRound& round) {
    record_round(context, task, round);
    Tolerance& tolerance = task.tolerance.value();
    const Amount bond = verifier_bond(context.params, task_value(task.spec));
    for (const AccountId& profiler : profilers) {
        lock_stake(context, Role::kVerifier, profiler, bond);
        tolerance.profiles.push_back(
            {.profiler = profiler, .status = ProfileStatus::kDue, .commitment = {}, .bond = bond}
        );
        record(context, task, history::ProfilerDrawn{profiler});
    }
    // PRF-2
    tolerance.profile_seed = draw_seed(round, task, DrawKind::kSketch);
    tolerance.reference_seed = draw_seed(round, task, DrawKind::kReference);
    tolerance.reference_seed += tolerance.reference_seed == task.spec.seed ? 1 : 0;
    tolerance.phase = ProfilingPhase::kCommit;
    hold_lane(context, task);
    // PRV-10
    set_task_deadline(context, task, await_keys(context, task, profilers, report_span(context.params, task.spec)));
    set_task(context.state, task);
}

}  // namespace

std::optional<Pause> draw_profilers(Context& context, Task& task, const ClosedRound& round) {
    const auto profilers = draw_accounts(context, task, round);
    if (profilers.empty()) {
        return Pause::kDoubled;
    }
    appoint(context, task, profilers, round);
    return std::nullopt;
}

}  // namespace assay::contracts
