// SPDX-License-Identifier: Apache-2.0
#include <contracts/state/members.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace assay::contracts {
namespace {

/// SET-7: the reward of so many of all `parts`, rounded down.
Amount reward_of(const TaskSpec& spec, std::uint64_t count, std::uint64_t parts) {
    __extension__ using Wide = unsigned __int128;
    return Amount{static_cast<std::uint64_t>(Wide{spec.reward.grains} * count / parts)};
}

/// SET-7: what a solver without a group earns.
Amount earned_alone(const Task& task) {
    if (!task.diverged_at) {
        return task.spec.reward;
    }
    return reward_of(task.spec, task.checkpoints == 1 ? 0 : *task.diverged_at + 1, task.spec.steps);
}

/// The segments after the initialisation that count are those before this one.
std::uint32_t counted_end(const Task& task) { return std::min(segment_count(task) + 1, task.checkpoints); }

/// GRP-8: what each member of a group earns by the segments that it posted and that count.
std::vector<Amount> earned_by_posting(const Task& task) {
    const Group& group = *task.group;
    std::vector<std::uint64_t> steps(group.partners.size() + 1);
    for (std::uint32_t segment = 1; segment < counted_end(task); ++segment) {
        steps.at(group.posters.at(segment)) += step_count(task, segment);
    }
    std::vector<Amount> earned;
    earned.reserve(steps.size());
    for (const std::uint64_t count : steps) {
        earned.push_back(reward_of(task.spec, count, task.spec.steps));
    }
    return earned;
}

/// GRP-12: what each member of a group that computes together earns, by the seats that it has for the segments that
/// count.
std::vector<Amount> earned_by_seats(const Task& task) {
    std::vector<Amount> earned(task.group->partners.size() + 1);
    for (std::uint32_t segment = 1; segment < counted_end(task); ++segment) {
        const std::vector<std::uint8_t>& seats = seats_for(task, segment);
        const std::uint64_t steps = step_count(task, segment);
        for (std::size_t number = 0; number < earned.size(); ++number) {
            const auto count = static_cast<std::uint64_t>(std::count(seats.begin(), seats.end(), number));
            const Amount more = reward_of(task.spec, steps * count, task.spec.steps * seats.size());
            earned[number].grains += more.grains;  // all together are a part of the reward
        }
    }
    return earned;
}

}  // namespace

AccountId member_account(const Task& task, std::uint8_t number) noexcept {
    return number == 0 ? task.solver.value() : task.group.value().partners.at(number - 1U).account;
}

std::optional<std::uint8_t> find_member(const Task& task, const AccountId& account) noexcept {
    if (task.solver == account) {
        return 0;
    }
    if (task.group) {
        const auto& partners = task.group->partners;
        for (std::size_t i = 0; i < partners.size(); ++i) {
            if (partners[i].account == account) {
                return static_cast<std::uint8_t>(i + 1);
            }
        }
    }
    return std::nullopt;
}

bool is_member(const Task& task, const AccountId& account) noexcept { return find_member(task, account).has_value(); }

AccountId owner_of(const Task& task, std::uint32_t index) noexcept {
    // GRP-3
    if (!task.group || task.group->is_together || index == 0 || index > segment_count(task.spec)) {
        return task.solver.value();
    }
    const auto& seats = task.group->seats;
    return member_account(task, seats.at((index - 1) % seats.size()));
}

AccountId responder_of(const Task& task, std::uint32_t segment) noexcept {
    // GRP-5
    if (!task.group || segment == evaluation_segment(task)) {
        return task.solver.value();
    }
    return member_account(task, task.group->posters.at(segment));
}

Amount& bond_of(Task& task, const AccountId& member) noexcept {
    const std::uint8_t number = find_member(task, member).value();
    return number == 0 ? task.solver_bond : task.group.value().partners.at(number - 1U).bond;
}

Amount bond_of(const Task& task, const AccountId& member) noexcept {
    const std::uint8_t number = find_member(task, member).value();
    return number == 0 ? task.solver_bond : task.group.value().partners.at(number - 1U).bond;
}

bool is_culprit(const Task& task, const AccountId& member) noexcept {
    const std::vector<std::uint8_t>& culprits = task.group.value().culprits;
    return std::find(culprits.begin(), culprits.end(), find_member(task, member).value()) != culprits.end();
}

void note_culprit(Task& task, const AccountId& member) {
    note_conviction(task, member);
    if (!is_culprit(task, member)) {
        task.group->culprits.push_back(find_member(task, member).value());
    }
}

void note_conviction(Task& task, const AccountId& member) {
    const std::uint8_t number = find_member(task, member).value();
    Group& group = task.group.value();
    if (!was_convicted(group, number)) {
        group.convicted.push_back(number);
    }
}

bool was_convicted(const Group& group, std::uint8_t number) noexcept {
    return std::find(group.convicted.begin(), group.convicted.end(), number) != group.convicted.end();
}

const std::vector<std::uint8_t>& seats_for(const Task& task, std::uint32_t segment) noexcept {
    const Group& group = task.group.value();
    for (const Seating& seating : group.earlier) {
        if (segment < seating.until) {
            return seating.seats;
        }
    }
    return group.seats;
}

std::uint32_t segment_in_training(const Task& task) noexcept { return std::max(task.checkpoints, 1U); }

void give_seats(Group& group, std::uint32_t from, std::vector<std::uint8_t> seats) {
    if (group.earlier.empty() || group.earlier.back().until != from) {
        group.earlier.push_back({from, group.seats});
    }
    group.seats = std::move(seats);
}

void vacate_seats(Task& task, std::uint8_t number) {
    Group& group = task.group.value();
    const std::uint32_t from = segment_in_training(task);
    const auto after = std::find_if(group.earlier.begin(), group.earlier.end(), [&](const Seating& seating) {
        return from < seating.until;
    });
    // The list that counts now is split in two, unless it begins with this segment.
    const bool begins_here = after != group.earlier.begin() && std::prev(after)->until == from;
    auto first = after - group.earlier.begin();
    if (!begins_here) {
        group.earlier.insert(after, Seating{from, seats_for(task, from)});
        ++first;
    }
    for (auto seating = group.earlier.begin() + first; seating != group.earlier.end(); ++seating) {
        std::replace(seating->seats.begin(), seating->seats.end(), number, kVacant);
    }
    std::replace(group.seats.begin(), group.seats.end(), number, kVacant);
}

std::size_t times_demanded(const Group& group, std::uint8_t number) noexcept {
    return static_cast<std::size_t>(std::count(group.demanded.begin(), group.demanded.end(), number));
}

bool is_out(const Group& group, std::uint8_t number) noexcept {
    return number != 0 && times_demanded(group, number) >= kDemandsToLeave;
}

std::uint64_t turn_blocks(const Task& task) noexcept {
    // GRP-4
    const std::uint64_t seats = task.group && !task.group->is_together ? task.group->seats.size() : 1;
    const std::uint64_t rounds = 2 * std::uint64_t{segment_count(task.spec)};
    return div_ceil<std::uint64_t>(task.spec.training_blocks * seats, rounds);
}

void note_poster(Task& task, const AccountId& member) {
    if (!task.group) {
        return;
    }
    Group& group = *task.group;
    const std::uint8_t number = find_member(task, member).value();
    group.posters.push_back(number);
    if (task.checkpoints != 0 && !group.is_together) {
        group.seats.at((task.checkpoints - 1) % group.seats.size()) = number;
    }
}

std::vector<std::uint32_t> latest_checkpoints(const Task& task) {
    std::vector<std::uint32_t> out;
    std::set<std::uint8_t> members;
    for (std::uint32_t index = task.checkpoints; index-- > 0 && (task.group || out.empty());) {
        if (!task.group || members.insert(task.group->posters[index]).second) {
            out.push_back(index);
        }
    }
    return out;
}

bool is_shortened(const Task& task) noexcept { return task.group && task.group->counted; }

std::vector<Share> reward_shares(const Task& task) {
    if (!task.group) {
        return {{task.solver.value(), earned_alone(task)}};
    }
    const std::vector<Amount> earned = task.group->is_together ? earned_by_seats(task) : earned_by_posting(task);
    std::vector<Share> shares;
    shares.reserve(earned.size());
    for (std::size_t i = 0; i < earned.size(); ++i) {
        const auto number = static_cast<std::uint8_t>(i);
        if (earned[i].grains != 0 && !was_convicted(*task.group, number)) {
            shares.push_back({member_account(task, number), earned[i]});
        }
    }
    return shares;
}

Amount earned_reward(const Task& task) noexcept {
    if (!task.group) {
        return earned_alone(task);  // of a task without a solver, too
    }
    Amount sum;
    for (const Share& share : reward_shares(task)) {
        sum.grains += share.amount.grains;  // each is a part of the reward
    }
    return sum;
}

}  // namespace assay::contracts
