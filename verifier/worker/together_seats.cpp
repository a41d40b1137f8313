// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/together_seats.hpp>

#include <algorithm>
#include <utility>

#include <contracts/state/members.hpp>
#include <contracts/tasks/actions/seat_actions.hpp>
#include <verifier/worker/seat_desk.hpp>
#include <verifier/worker/together_session.hpp>

namespace assay::worker {

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
    std::size_t seats_max
) {
    const contracts::Group& group = *task.group;
    const std::uint32_t from = contracts::segment_in_training(task) + 1;
    if (from > contracts::segment_count(task) || group.earlier.size() >= contracts::kMaxSeatings) {
        return {};
    }
    bool has_changed = false;
    std::vector<AccountId> out;
    for (const std::uint8_t number : group.seats) {
        const bool may_stay = number != contracts::kVacant && !contracts::was_convicted(group, number) &&
                              !gone.contains(contracts::member_account(task, number));
        const bool stays = number == 0 || may_stay;
        if (stays) {
            out.push_back(contracts::member_account(task, number));
        }
        has_changed = has_changed || !stays;
    }
    std::size_t members = group.partners.size() + 1;
    const std::size_t limit = has_changed ? group.seats.size() : contracts::kMaxSeats;
    const std::size_t most = std::min({seats_max, limit, std::size_t{task.spec.members}});
    for (const AccountId& account : joining) {
        const auto number = contracts::find_member(task, account);
        const bool has_seat = std::find(out.begin(), out.end(), account) != out.end();
        const bool may_sit = number ? !contracts::is_out(group, *number) && !contracts::was_convicted(group, *number)
                                    : members < contracts::kMaxMembersTogether;
        if (!has_seat && may_sit && !gone.contains(account) && out.size() < most) {
            out.push_back(account);
            members += number ? 0U : 1U;
            has_changed = true;
        }
    }
    return has_changed ? out : std::vector<AccountId>();
}

std::size_t TogetherSeats::seats_to_divide(const contracts::Task& task, std::size_t joining) {
    const auto artifacts = joining == 0 ? nullptr : context_.artifacts(task);
    const auto layout =
        artifacts ? layout_together(artifacts->program, context_.options.together, task.group->seats.size() + joining)
                  : std::nullopt;
    return layout ? layout->ranks() : 0;
}

void TogetherSeats::tend(const contracts::Task& task, const std::set<AccountId>& gone) {
    context_.seats->expect(task.id, context_.options.partners);
    const std::vector<AccountId> joining = context_.seats->joining(task.id);
    contracts::SeatsTerms terms{
        .task = task.id,
        .seats = next_seats(task, gone, joining, seats_to_divide(task, joining.size())),
        .is_together = true,
        .from = contracts::segment_in_training(task) + 1};
    if (terms.seats.empty()) {
        context_.seats->withdraw(task.id);
        return;
    }
    context_.seats->offer(terms, contracts::seats_claim(context_.chain.chain_id(), terms));
    auto signatures = context_.seats->signatures(task.id);
    if (!signatures) {
        return;
    }
    const bool is_given = context_.chain.send(contracts::Reseat{
        .task = task.id, .from = terms.from, .seats = terms.seats, .signatures = *std::move(signatures)});
    context_.seats->withdraw(task.id);
    if (is_given) {
        context_.reporter.event(
            {{"event", "reseat"},
             {"task", to_hex(task.id.view())},
             {"from", terms.from},
             {"members", contracts::partners_of(terms.seats).size() + 1}}
        );
    }
}

}  // namespace assay::worker
