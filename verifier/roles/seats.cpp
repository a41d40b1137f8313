// SPDX-License-Identifier: Apache-2.0
#include <verifier/roles/seats.hpp>

#include <algorithm>

#include <contracts/state/members.hpp>

namespace assay::roles {
namespace {

/// Whether an account has so many hundredths of the seats that members have on average.
bool has_its_share(const std::vector<AccountId>& seats, const AccountId& account, std::uint32_t hundredths) {
    const auto own = static_cast<std::size_t>(std::count(seats.begin(), seats.end(), account));
    return own > 0 && 100 * own * (contracts::partners_of(seats).size() + 1) >= hundredths * seats.size();
}

/// Whether each of these seats is of somebody who has one now.
bool are_all_seated(const contracts::Task& task, const std::vector<AccountId>& seats) {
    const std::vector<std::uint8_t>& now = task.group->seats;
    return std::all_of(seats.begin(), seats.end(), [&](const AccountId& account) {
        const auto number = contracts::find_member(task, account);
        return number && std::find(now.begin(), now.end(), *number) != now.end();
    });
}

/// Whether a member has as large a share of these seats as it has now; true for who is none.
bool keeps_its_share(const contracts::Task& task, const std::vector<AccountId>& seats, const AccountId& account) {
    const auto number = contracts::find_member(task, account);
    if (!number || !task.group) {
        return true;
    }
    const std::vector<std::uint8_t>& now = task.group->seats;
    const auto had = static_cast<std::uint64_t>(std::count(now.begin(), now.end(), *number));
    const auto has = static_cast<std::uint64_t>(std::count(seats.begin(), seats.end(), account));
    return has * now.size() >= had * seats.size();
}

}  // namespace

std::vector<AccountId> seated(const contracts::Task& task, std::uint32_t segment) {
    std::vector<AccountId> out;
    for (const std::uint8_t number : contracts::seats_for(task, segment)) {
        if (number == contracts::kVacant || number == 0 || contracts::was_convicted(*task.group, number)) {
            continue;
        }
        const AccountId account = contracts::member_account(task, number);
        if (std::find(out.begin(), out.end(), account) == out.end()) {
            out.push_back(account);
        }
    }
    return out;
}

std::vector<AccountId> next_seats(
    const contracts::Task& task, const std::set<AccountId>& gone, const std::vector<AccountId>& joining,
    std::size_t members_max
) {
    const contracts::Group& group = *task.group;
    const std::uint32_t from = contracts::segment_in_training(task) + 1;
    if (from > contracts::segment_count(task) || group.earlier.size() >= contracts::kMaxSeatings) {
        return {};
    }
    bool has_changed = false;
    std::vector<AccountId> out;
    std::vector<AccountId> alike;  // one seat for each of them
    for (const std::uint8_t number : group.seats) {
        const bool may_stay = number != contracts::kVacant && !contracts::was_convicted(group, number) &&
                              !gone.contains(contracts::member_account(task, number));
        const bool stays = number == 0 || may_stay;
        if (stays) {
            out.push_back(contracts::member_account(task, number));
            if (std::find(alike.begin(), alike.end(), out.back()) == alike.end()) {
                alike.push_back(out.back());
            }
        }
        has_changed = has_changed || !stays;
    }
    std::size_t members = group.partners.size() + 1;
    const std::size_t staying = alike.size();
    const std::size_t limit = has_changed ? group.seats.size() : contracts::kMaxSeats;
    const std::size_t most = std::min({members_max, limit, std::size_t{task.spec.members}});
    for (const AccountId& account : joining) {
        const auto number = contracts::find_member(task, account);
        const bool has_seat = std::find(alike.begin(), alike.end(), account) != alike.end();
        const bool may_sit = number ? !contracts::is_out(group, *number) && !contracts::was_convicted(group, *number)
                                    : members < contracts::kMaxMembersTogether;
        if (!has_seat && may_sit && !gone.contains(account) && alike.size() < most) {
            alike.push_back(account);
            members += number ? 0U : 1U;
        }
    }
    if (alike.size() > staying) {
        return alike;
    }
    return has_changed ? out : std::vector<AccountId>();
}

bool are_offered(const contracts::Task& task, const contracts::SeatsTerms& terms, const AccountId& self) {
    const std::vector<AccountId>& seats = terms.seats;
    const bool is_training = task.state == contracts::TaskState::kTraining;
    const bool is_timely =
        is_training ? terms.is_together && terms.from >= contracts::segment_in_training(task) : terms.from == 0;
    return is_timely && seats.size() >= 2 && task.solver == seats.front() && seats.size() <= task.spec.members &&
           std::find(seats.begin(), seats.end(), self) != seats.end();
}

bool is_fair_share(
    const contracts::Task& task, const std::vector<AccountId>& seats, const AccountId& self, const SeatWishes& wishes
) {
    const bool may_shrink = wishes.admits || keeps_its_share(task, seats, self) || are_all_seated(task, seats);
    return may_shrink && has_its_share(seats, self, wishes.share_min);
}

bool Losses::is_left_out(const AccountId& member) const {
    const auto found = lost_.find(member);
    return found != lost_.end() && found->second >= kLossesMax;
}

std::set<AccountId> Losses::left_out() const {
    std::set<AccountId> out;
    for (const auto& [member, losses] : lost_) {
        if (losses >= kLossesMax) {
            out.insert(member);
        }
    }
    return out;
}

}  // namespace assay::roles
