// SPDX-License-Identifier: Apache-2.0
#include <verifier/roles/defence.hpp>

#include <algorithm>

#include <contracts/params/work.hpp>
#include <contracts/state/members.hpp>

namespace assay::roles {
namespace {

__extension__ using Wide = unsigned __int128;

/// A replay, and as much again for the moves: a party whose states do not fit on its disk replays the segment up to the
/// disputed step once more.
constexpr std::uint64_t kReplaysPerClaim = 2;
constexpr std::uint64_t kTimeMax = std::uint64_t{1} << 44U;  ///< microseconds: half a year

std::uint64_t capped(Wide us) { return us > kTimeMax ? kTimeMax : static_cast<std::uint64_t>(us); }

/// At the speed of the task's class, which is in 10^6 multiply-adds per second.
std::uint64_t time_of(const contracts::Params& params, const contracts::TaskSpec& spec, std::uint64_t work) {
    return capped(work / contracts::class_speed(params, spec.hardware_class));
}

std::uint64_t hashing_us(const contracts::TaskSpec& spec) {
    std::uint64_t most = spec.program.outputs;
    most = spec.evaluation ? std::max(most, spec.evaluation->outputs) : most;
    most = spec.distance ? std::max(most, spec.distance->outputs) : most;
    return capped(Wide{most} * 1'000 / contracts::kHashedPerMs);
}

/// What disputes take that are due when each clock has run for `added` beyond its fixed part, all opened at once. It
/// counts parts of claims, and is concave in `added`.
Wide demand(const std::vector<Burden>& burdens, Wide added) {
    Wide out = 0;
    for (const Burden& burden : burdens) {
        const Wide each = Wide{kReplaysPerClaim} * burden.replay_us;
        const bool are_all_due = added >= Wide{burden.claims} * burden.clock_us;
        out += are_all_due ? burden.claims * each : (added * each + burden.clock_us - 1) / burden.clock_us;
    }
    return out;
}

/// Claims of a member with so many of the seats.
std::uint64_t claims_of_share(const contracts::TaskSpec& spec, std::uint64_t own, std::uint64_t seats) {
    return div_ceil(claims_alone(spec) * own, std::max<std::uint64_t>(seats, 1));
}

}  // namespace

bool is_answerable(const contracts::Task& task, const AccountId& account) {
    return contracts::is_member(task, account) && task.state >= contracts::TaskState::kTraining &&
           task.state <= contracts::TaskState::kDisclosure;
}

std::uint64_t claims_alone(const contracts::TaskSpec& spec) {
    const std::uint64_t segments = contracts::segment_count(spec) + 1ULL - contracts::first_segment(spec);
    const std::uint64_t claims = segments + (spec.evaluation ? 1 : 0);
    return spec.mode == contracts::Mode::kTolerance ? 2 * claims : claims;
}

std::uint64_t claims_of(const contracts::Task& task, const AccountId& account) {
    if (!task.group || task.group->is_together || task.solver == account) {
        return claims_alone(task.spec);
    }
    const auto number = contracts::find_member(task, account);
    const std::vector<std::uint8_t>& seats = task.group->seats;
    const auto own = number ? std::count(seats.begin(), seats.end(), *number) : 0;
    return claims_of_share(task.spec, static_cast<std::uint64_t>(own), seats.size());
}

std::uint64_t claims_of(const contracts::TaskSpec& spec, const contracts::SeatsTerms& terms, const AccountId& account) {
    if (terms.is_together || terms.seats.empty() || terms.seats.front() == account) {
        return claims_alone(spec);
    }
    const auto own = std::count(terms.seats.begin(), terms.seats.end(), account);
    return claims_of_share(spec, static_cast<std::uint64_t>(own), terms.seats.size());
}

Burden burden_of(
    const contracts::Params& params, const contracts::TaskSpec& spec, std::uint64_t claims, const Measured& measured,
    std::uint64_t block_us
) {
    const std::uint64_t hashing = hashing_us(spec);
    const std::uint64_t scored = time_of(params, spec, spec.evaluation ? spec.evaluation->work : 0);
    const std::uint64_t distance = time_of(params, spec, spec.distance ? spec.distance->work : 0);
    const std::uint64_t in_class = time_of(params, spec, contracts::segment_work(spec));
    // What takes less than a block is mostly not arithmetic, and its measure says more of what else the machine did.
    const bool is_short = contracts::replay_blocks(params, spec) == 0;
    const bool is_in_class = measured.segment_us == 0 || is_short;
    const std::uint64_t replay =
        is_in_class ? in_class : std::max({measured.segment_us, measured.start_us, scored}) + distance;
    const std::uint32_t clock = contracts::dispute_clock(params, spec) - params.dispute_clock_blocks;
    return {.claims = claims, .replay_us = capped(Wide{replay} + hashing), .clock_us = capped(Wide{clock} * block_us)};
}

bool can_defend(std::uint64_t fixed_us, const std::vector<Burden>& burdens) {
    if (burdens.size() <= 1) {
        return true;
    }
    // What is demanded beyond the time that there is, is concave: where it is greatest, some task's last claim is due.
    const auto fits = [&](Wide added) { return demand(burdens, added) <= fixed_us + added; };
    return fits(0) && std::all_of(burdens.begin(), burdens.end(), [&](const Burden& burden) {
               return fits(Wide{burden.claims} * burden.clock_us);
           });
}

bool may_take(const DefenceView& view) {
    if (view.tasks_at_once != 0) {
        return view.held.size() < view.tasks_at_once;
    }
    std::vector<Burden> all = view.held;
    all.push_back(view.offered);
    return can_defend(view.fixed_us, all);
}

}  // namespace assay::roles
