// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/together_seats.hpp>

#include <algorithm>
#include <utility>

#include <contracts/state/members.hpp>
#include <contracts/tasks/actions/seat_actions.hpp>
#include <core/crypto/address.hpp>
#include <verifier/roles/seats.hpp>
#include <verifier/worker/seat_desk.hpp>
#include <verifier/worker/together_session.hpp>

namespace assay::worker {
namespace {

constexpr std::chrono::seconds kReturnPatience{60};  // for signatures of those who give seats back

}  // namespace

std::vector<std::uint32_t> seat_counts(
    const contracts::Task& task, std::uint32_t segment, const std::vector<AccountId>& accounts
) {
    const std::vector<std::uint8_t>& seats = contracts::seats_for(task, segment);
    std::vector<std::uint32_t> out;
    for (const AccountId& account : accounts) {
        const auto number = contracts::find_member(task, account);
        const auto count = number ? std::count(seats.begin(), seats.end(), *number) : 0;
        out.push_back(static_cast<std::uint32_t>(count));
    }
    return out;
}

std::vector<AccountId> balanced_list(const contracts::Task& task, const std::vector<AccountId>& wanted) {
    const std::uint32_t from = contracts::segment_in_training(task) + 1;
    const bool is_allowed = !wanted.empty() && from <= contracts::segment_count(task) &&
                            task.group->earlier.size() < contracts::kMaxSeatings &&
                            wanted.size() <= task.spec.members && wanted.front() == task.solver;
    if (!is_allowed) {
        return {};
    }
    std::vector<AccountId> now{task.solver.value()};
    const std::vector<AccountId> others = roles::seated(task, from);
    now.insert(now.end(), others.begin(), others.end());
    const std::set<AccountId> members(now.begin(), now.end());
    const bool is_theirs = std::set<AccountId>(wanted.begin(), wanted.end()) == members;
    std::vector<std::uint32_t> counts;
    counts.reserve(now.size());
    for (const AccountId& account : now) {
        counts.push_back(static_cast<std::uint32_t>(std::count(wanted.begin(), wanted.end(), account)));
    }
    const bool is_new = shares_of(counts) != shares_of(seat_counts(task, from, now));
    return is_theirs && is_new ? wanted : std::vector<AccountId>();
}

std::vector<AccountId> who_keeps(
    const contracts::Task& task, const std::vector<AccountId>& wanted, const std::set<AccountId>& signers
) {
    const std::uint32_t from = contracts::segment_in_training(task) + 1;
    std::vector<AccountId> out;
    for (const AccountId& account : contracts::partners_of(wanted)) {
        const std::uint64_t has = seat_counts(task, from, {account}).front();
        const auto should = static_cast<std::uint64_t>(std::count(wanted.begin(), wanted.end(), account));
        if (has * wanted.size() > should * task.group->seats.size() && !signers.contains(account)) {
            out.push_back(account);
        }
    }
    return out;
}

std::size_t TogetherSeats::seats_to_divide(const contracts::Task& task, std::size_t joining) {
    const auto artifacts = joining == 0 ? nullptr : context_.artifacts(task);
    const std::size_t members = roles::seated(task, contracts::segment_in_training(task)).size() + 1;
    const auto layout =
        artifacts ? layout_together(artifacts->program, context_.options.together, members + joining) : std::nullopt;
    return layout ? layout->ranks() : 0;
}

void TogetherSeats::add_keepers(const contracts::Task& task, const Balance& balance, std::set<AccountId>& gone) {
    if (!balance.takes_back()) {
        returns_.erase(task.id);
        return;
    }
    const auto now = std::chrono::steady_clock::now();
    Return& entry = returns_[task.id];
    if (entry.wanted != balance.wanted()) {
        entry = {.wanted = balance.wanted(), .since = now, .signers = {}};
    }
    const std::vector<AccountId> signers = context_.seats->signers(task.id);
    entry.signers.insert(signers.begin(), signers.end());
    if (now - entry.since < kReturnPatience) {
        return;
    }
    for (const AccountId& account : who_keeps(task, entry.wanted, entry.signers)) {
        if (gone.insert(account).second) {
            context_.reporter.trouble(
                "task " + to_hex(task.id.view()) + ": member " + crypto::to_address(account) +
                " does not give back seats with which the steps have not become faster, and is left out of the list"
            );
        }
    }
}

void TogetherSeats::tend(const contracts::Task& task, std::set<AccountId> gone, const Balance& balance) {
    context_.seats->expect(task.id, context_.options.partners);
    add_keepers(task, balance, gone);
    const std::vector<AccountId> joining = context_.seats->joining(task.id);
    contracts::SeatsTerms terms{
        .task = task.id,
        .seats = roles::next_seats(task, gone, joining, seats_to_divide(task, joining.size())),
        .is_together = true,
        .from = contracts::segment_in_training(task) + 1};
    if (terms.seats.empty()) {
        terms.seats = balanced_list(task, balance.wanted());
    }
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
