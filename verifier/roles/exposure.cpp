// SPDX-License-Identifier: Apache-2.0
#include <verifier/roles/exposure.hpp>

#include <algorithm>
#include <limits>

#include <contracts/params/by_value.hpp>
#include <contracts/params/work.hpp>
#include <contracts/state/members.hpp>

namespace assay::roles {
namespace {

__extension__ using Wide = unsigned __int128;

std::uint64_t narrow(Wide number) { return number > kMaxU64 ? kMaxU64 : static_cast<std::uint64_t>(number); }

/// Whether a replay takes a block or more: others are not counted.
bool is_long(const contracts::Params& params, const contracts::Task& task) {
    return contracts::replay_blocks(params, task.spec) != 0;
}

/// Whether verifiers of the task are still to be drawn, and the account may be one.
bool may_be_drawn(const contracts::Params& params, const StakeView& view, const contracts::Task& task) {
    const bool is_to_be_judged =
        task.state <= contracts::TaskState::kCompleted || task.state == contracts::TaskState::kProfiling;
    return is_to_be_judged && task.submitter != view.self && !contracts::is_member(task, view.self) &&
           is_long(params, task) && contracts::consents(params, task.spec, view.terms);
}

std::uint64_t own_assignments(const contracts::Task& task, const AccountId& self) {
    return static_cast<std::uint64_t>(std::count_if(
        task.assignments.begin(), task.assignments.end(),
        [&](const contracts::Assignment& assignment) { return assignment.verifier == self; }
    ));
}

/// PAR-3: of the first draw, and the evaluation.
std::uint64_t checked_segments(const contracts::Params& params, const contracts::TaskSpec& spec) {
    const std::uint32_t segments = contracts::segment_count(spec) + 1 - contracts::first_segment(spec);
    return contracts::segments_checked(params, spec, segments) + (spec.evaluation ? 1ULL : 0ULL);
}

/// The longest replay time R, in blocks at the speed `least`, of which a machine of the speed `speed` does `bonds` in
/// `commit_blocks` + 3 R.
std::uint32_t time_to_name(
    const contracts::Params& params, std::uint64_t bonds, std::uint64_t speed, std::uint64_t least
) {
    const Wide taken = Wide{bonds} * least;
    const Wide given = Wide{3} * speed;
    const Wide blocks = taken > given ? Wide{params.commit_blocks} * speed / (taken - given) : 0;
    return static_cast<std::uint32_t>(std::min<Wide>(blocks, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

std::optional<Exposure> find_exposure(const contracts::Params& params, const StakeView& view) {
    const std::uint64_t least = contracts::class_speed(params, view.terms.hardware_class);
    const std::uint64_t speed = view.terms.hardware_class == 0 ? least : std::max(view.score, least);
    std::uint64_t drawn = 0;     // and not judged yet, or its bond is still locked
    std::uint64_t possible = 0;  // what may be drawn of all tasks
    for (const auto& [id, task] : view.tasks) {
        const std::uint64_t own = is_long(params, task) ? own_assignments(task, view.self) : 0;
        drawn += own;
        possible += own + (may_be_drawn(params, view, task) ? checked_segments(params, task.spec) : 0);
    }
    std::optional<Exposure> out;
    for (const auto& [id, task] : view.tasks) {
        if (!may_be_drawn(params, view, task)) {
            continue;
        }
        const Amount needs = contracts::verifier_needs(params, contracts::task_value(task.spec));
        const std::uint64_t bonds = view.free_stake.grains / needs.grains + drawn;
        const Wide time_us = Wide{contracts::commit_span(params, task.spec)} * view.block_us;
        const std::uint64_t replay_us = std::max<std::uint64_t>(1, contracts::segment_work(task.spec) / speed);
        Exposure found{
            .segments = std::min(bonds, possible),
            .replays = narrow(time_us / replay_us),
            .excess = {},
            .replay_blocks = time_to_name(params, bonds, speed, least)};
        const std::uint64_t kept = found.replays - std::min(found.replays, drawn);
        found.excess =
            Amount{view.free_stake.grains - std::min(view.free_stake.grains, narrow(Wide{kept} * needs.grains))};
        if (found.segments > found.replays && (!out || found.excess > out->excess)) {
            out = found;
        }
    }
    return out;
}

}  // namespace assay::roles
