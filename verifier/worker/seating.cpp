// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/seating.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <client/http/http.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/params/work.hpp>
#include <contracts/state/group.hpp>
#include <contracts/state/members.hpp>
#include <contracts/tasks/seats.hpp>
#include <verifier/artifacts/foreign.hpp>
#include <verifier/roles/order.hpp>
#include <verifier/roles/seats.hpp>
#include <verifier/worker/seat_desk.hpp>
#include <verifier/worker/together_session.hpp>

namespace assay::worker {
namespace {

constexpr std::chrono::milliseconds kTimeout{5'000};
constexpr std::uint64_t kAnswerMax = 64U << 10U;

http::HttpLimits limits_of(const WorkerOptions& options) {
    http::HttpLimits limits;
    limits.timeout = kTimeout;
    limits.body_max = kAnswerMax;
    limits.public_only = !options.allow_private_addresses;
    return limits;
}

/// The offer in an answer, without the task; nothing if it is no list of accounts that a group can have, or if its
/// parser was stopped.
std::optional<contracts::SeatsTerms> decode_seats(const std::string& body) {
    auto offered = artifacts::decode_foreign_seats(body);
    if (!offered || !*offered) {
        return std::nullopt;
    }
    auto& [seats, is_together, from] = **offered;
    return contracts::SeatsTerms{.task = {}, .seats = std::move(seats), .is_together = is_together, .from = from};
}

/// GRP-13: whether seats may be offered to somebody else than the lead while the task is trained.
bool can_reseat(const contracts::Task& task) {
    return task.state == contracts::TaskState::kTraining && task.group && task.group->is_together &&
           contracts::segment_in_training(task) < contracts::segment_count(task);
}

}  // namespace

std::optional<contracts::AcceptTask> Seating::acceptance(const contracts::Task& task) {
    contracts::AcceptTask alone{
        .task = task.id, .seats = {}, .signatures = {}, .environment = context_.options.environment};
    const std::vector<AccountId>& partners = context_.options.partners;
    if (partners.empty() || task.spec.members <= partners.size()) {
        return alone;
    }
    // TASK-6: what the draw has locked is part of the bond.
    const Amount bond = member_bond_of(task);
    if (context_.chain.free_stake(contracts::Role::kSolver).grains + task.solver_bond.grains < bond.grains) {
        context_.reporter.trouble(
            "task " + to_hex(task.id.view()) + ": the free stake is less than a member's bond of " +
            std::to_string(bond.grains) + " grains; training alone"
        );
        return alone;
    }
    contracts::SeatsTerms terms{
        .task = task.id, .seats = {context_.chain.self()}, .is_together = !context_.options.together.empty()};
    const std::size_t members = terms.is_together ? members_to_divide(task, partners.size() + 1) : partners.size() + 1;
    if (members < 2) {
        return alone;
    }
    const std::uint64_t span = contracts::accept_span(context_.chain.params(), task.spec);
    const std::uint64_t left = task.deadline.value - std::min(task.deadline.value, context_.chain.height());
    // Those who are not there in time may join later, if each step is computed together.
    std::vector<AccountId>& there = there_[task.id];
    if (there.empty() && 4 * left < 3 * span) {
        there = context_.seats->signers(task.id);
    }
    const std::vector<AccountId>& invited = there.empty() ? partners : there;
    terms.seats.insert(
        terms.seats.end(), invited.begin(),
        invited.begin() + static_cast<std::ptrdiff_t>(std::min(members - 1, invited.size()))
    );
    context_.seats->offer(terms, contracts::seats_claim(context_.chain.chain_id(), terms));
    if (auto signatures = context_.seats->signatures(task.id)) {
        context_.seats->withdraw(task.id);
        return contracts::AcceptTask{
            .task = task.id,
            .seats = terms.seats,
            .signatures = *std::move(signatures),
            .is_together = terms.is_together,
            .environment = context_.options.environment};
    }
    if (2 * left > span) {
        return std::nullopt;
    }
    context_.reporter.trouble("task " + to_hex(task.id.view()) + ": no partner has signed in time; training alone");
    return alone;
}

std::size_t Seating::members_to_divide(const contracts::Task& task, std::size_t members) {
    const auto artifacts = context_.artifacts(task, artifacts::Urgency::kOffer);
    if (!artifacts) {
        return 0;
    }
    const auto layout = layout_together(artifacts->program, context_.options.together, members);
    if (!layout) {
        context_.reporter.trouble(
            "task " + to_hex(task.id.view()) + ": its steps cannot be divided by \"" + context_.options.together +
            "\" so that each member can answer for its part of every sum (of 32 values or a multiple); training alone"
        );
        return 0;
    }
    if (layout->ranks() < members && there_.find(task.id) == there_.end()) {
        context_.reporter.trouble(
            "task " + to_hex(task.id.view()) + ": its steps can be divided by \"" + context_.options.together +
            "\" among " + std::to_string(layout->ranks()) + " of " + std::to_string(members) +
            " members so that each can answer for its part; the others get no seat"
        );
    }
    return layout->ranks();
}

Amount Seating::member_bond_of(const contracts::Task& task) const {
    return contracts::member_bond(context_.chain.params(), contracts::task_value(task.spec));
}

bool Seating::sign_one(const OfferDesk& offers, DefenceDesk& defence) {
    const std::vector<std::string>& leads = context_.options.lead_urls;
    if (leads.empty()) {
        return false;
    }
    for (const contracts::Task& task : roles::by_deadline(context_.chain.tasks())) {
        // Once a block: a lead that has not offered yet is asked again.
        const bool asks = is_open(task, offers) &&
                          std::exchange(asked_at_[task.id], context_.chain.height()) != context_.chain.height();
        const auto signs = [&](const std::string& lead_url) { return sign_seat(task, lead_url, defence); };
        if (asks && std::any_of(leads.begin(), leads.end(), signs)) {
            return true;
        }
    }
    return false;
}

bool Seating::is_open(const contracts::Task& task, const OfferDesk& offers) {
    const auto number = contracts::find_member(task, context_.chain.self());
    if (task.state == contracts::TaskState::kDrawn) {
        return !number && task.spec.members > 1 && may_join(task, offers);
    }
    if (!can_reseat(task) || number == 0 || context_.options.link_address.empty()) {
        return false;
    }
    return number ? !contracts::is_out(*task.group, *number) && !contracts::was_convicted(*task.group, *number)
                  : may_join(task, offers);
}

bool Seating::may_join(const contracts::Task& task, const OfferDesk& offers) {
    const std::uint32_t accepted = context_.journal.accepted_tasks();
    const bool has_enough = context_.options.tasks_max != 0 && accepted >= context_.options.tasks_max;
    return (!has_enough || signed_.contains(task.id)) && !context_.journal.breaker() &&
           !context_.unusable.contains(task.id) && !offers.has_declined(task.id) &&
           contracts::satisfies(context_.options.environment, task.spec.environment) &&  // ENV-3
           context_.chain.free_stake(contracts::Role::kSolver) >= member_bond_of(task);
}

bool Seating::sign_seat(const contracts::Task& task, const std::string& lead_url, DefenceDesk& defence) {
    const auto offered = ask(task, lead_url);
    const AccountId& self = context_.chain.self();
    const bool is_member = contracts::is_member(task, self);
    const std::uint64_t claims = offered ? roles::claims_of(task.spec, *offered, self) : roles::claims_alone(task.spec);
    if (!is_member && !signed_.contains(task.id) && !defence.admits(task, claims)) {
        return false;
    }
    if (!offered) {
        if (task.state == contracts::TaskState::kTraining) {
            ask_to_join(task, lead_url);
        }
        return false;
    }
    const Hash256 claim = contracts::seats_claim(context_.chain.chain_id(), *offered);
    if (const auto last = signed_.find(task.id); last != signed_.end() && last->second == claim) {
        return false;
    }
    if (offered->is_together && context_.options.link_address.empty()) {
        context_.reporter.trouble(
            "the lead at " + lead_url + " offers a seat of a group that computes each step together; give " +
            "--link-address, where its other members reach this machine, to take it"
        );
        return false;
    }
    const auto artifacts = context_.artifacts(task, artifacts::Urgency::kOffer);
    if (!artifacts || !sign(*offered, lead_url, claim)) {
        return false;
    }
    if (!is_member && !signed_.contains(task.id)) {
        context_.journal.note_accepted(task.id);
    }
    signed_[task.id] = claim;
    defence.pledge(task.id, claims);
    context_.reporter.event(
        {{"event", "seat"},
         {"task", to_hex(task.id.view())},
         {"title", task.spec.title},
         {"seats", offered->seats.size()},
         {"together", offered->is_together},
         {"from", offered->from}}
    );
    return true;
}

std::optional<contracts::SeatsTerms> Seating::ask(const contracts::Task& task, const std::string& lead_url) {
    try {
        const http::HttpResponse answer = http::http_get(lead_url + seats_path(task.id), limits_of(context_.options));
        auto offered = answer.status == 200 ? decode_seats(answer.body) : std::nullopt;
        if (!offered) {
            return std::nullopt;
        }
        offered->task = task.id;
        const std::vector<AccountId>& seats = offered->seats;
        const AccountId& self = context_.chain.self();
        const bool is_offered = roles::are_offered(task, *offered, self);
        const bool is_fair =
            task.state != contracts::TaskState::kTraining ||
            roles::is_fair_share(
                task, seats, self, {.admits = context_.options.admits, .share_min = context_.options.share_min}
            );
        if (is_offered && !is_fair && std::exchange(refused_[task.id], seats) != seats) {
            context_.reporter.trouble(
                "the lead at " + lead_url +
                " offers a smaller share of the seats than this account has, or than others " +
                "have; not signing. --admit lets others join, and --share-min those have more that are faster"
            );
        }
        return is_offered && is_fair ? offered : std::nullopt;
    } catch (const http::NetError& error) {
        context_.reporter.trouble("the lead at " + lead_url + " cannot be reached: " + error.what());
        return std::nullopt;
    }
}

bool Seating::sign(const contracts::SeatsTerms& terms, const std::string& lead_url, const Hash256& claim) {
    const std::string url = lead_url + seats_path(terms.task) + "/" + to_hex(context_.chain.self().view());
    try {
        const http::HttpResponse answer =
            http::http_post(url, to_hex(context_.chain.sign(claim).view()), limits_of(context_.options));
        if (answer.status != 200) {
            context_.reporter.trouble("the lead has not taken a signature: " + answer.body);
            return false;
        }
    } catch (const http::NetError& error) {
        context_.reporter.trouble("the lead at " + lead_url + " cannot be reached: " + error.what());
        return false;
    }
    return true;
}

void Seating::ask_to_join(const contracts::Task& task, const std::string& lead_url) {
    const auto number = contracts::find_member(task, context_.chain.self());
    const std::vector<std::uint8_t>& seats = task.group->seats;
    if (number && std::find(seats.begin(), seats.end(), *number) != seats.end()) {
        return;
    }
    const std::string url = lead_url + seats_path(task.id) + "/" + to_hex(context_.chain.self().view()) + "/join";
    try {
        // Somebody else's lead refuses, as does one that does not expect us.
        http::http_post(url, join_request(context_.chain.key(), task.id), limits_of(context_.options));
    } catch (const http::NetError& error) {
        context_.reporter.trouble("the lead at " + lead_url + " cannot be reached: " + error.what());
    }
}

void Seating::forget(const contracts::TaskId& task) {
    signed_.erase(task);
    asked_at_.erase(task);
    there_.erase(task);
    refused_.erase(task);
    context_.seats->forget(task);
}

}  // namespace assay::worker
