// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/seating.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <client/http/http.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/params/work.hpp>
#include <contracts/state/group.hpp>
#include <contracts/state/members.hpp>
#include <contracts/tasks/seats.hpp>
#include <verifier/roles/order.hpp>
#include <verifier/worker/seat_desk.hpp>
#include <verifier/worker/together_session.hpp>

namespace assay::worker {
namespace {

using nlohmann::json;

constexpr const char* kSeats = "/seats/";
constexpr std::chrono::milliseconds kTimeout{5'000};
constexpr std::uint64_t kAnswerMax = 64U << 10U;

http::HttpLimits limits_of(const WorkerOptions& options) {
    http::HttpLimits limits;
    limits.timeout = kTimeout;
    limits.body_max = kAnswerMax;
    limits.public_only = !options.allow_private_addresses;
    return limits;
}

/// The offer in an answer; nothing if it is no list of accounts that a group can have.
std::optional<OfferedSeats> decode_seats(const std::string& body) {
    const json answer = json::parse(body, nullptr, false);
    if (!answer.is_object() || !answer.contains("seats") || !answer["seats"].is_array() ||
        answer["seats"].size() > contracts::kMaxSeats) {
        return std::nullopt;
    }
    std::vector<AccountId> seats;
    seats.reserve(answer["seats"].size());
    for (const json& seat : answer["seats"]) {
        const auto account = seat.is_string() ? fixed_from_hex<AccountId>(seat.get<std::string>()) : std::nullopt;
        if (!account) {
            return std::nullopt;
        }
        seats.push_back(*account);
    }
    const auto together = answer.find("together");
    const bool is_together = together != answer.end() && together->is_boolean() && together->get<bool>();
    return OfferedSeats{.seats = std::move(seats), .is_together = is_together};
}

}  // namespace

std::optional<contracts::AcceptTask> Seating::acceptance(const contracts::Task& task) {
    contracts::AcceptTask alone{.task = task.id, .seats = {}, .signatures = {}};
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
    std::vector<AccountId> seats{context_.chain.self()};
    seats.insert(seats.end(), partners.begin(), partners.end());
    const bool is_together = !context_.options.together.empty();
    if (is_together && !can_divide(task)) {
        return alone;
    }
    const Hash256 claim = contracts::seats_claim(
        context_.chain.chain_id(), {.task = task.id, .seats = seats, .is_together = is_together}
    );
    context_.seats->offer(task.id, seats, is_together, claim);
    if (auto signatures = context_.seats->signatures(task.id)) {
        return contracts::AcceptTask{
            .task = task.id, .seats = seats, .signatures = *std::move(signatures), .is_together = is_together};
    }
    const std::uint64_t span = contracts::accept_span(context_.chain.params(), task.spec);
    if (context_.chain.height() + span / 2 < task.deadline.value) {
        return std::nullopt;
    }
    context_.reporter.trouble("task " + to_hex(task.id.view()) + ": not all partners have signed; training alone");
    return alone;
}

bool Seating::can_divide(const contracts::Task& task) {
    const auto artifacts = context_.artifacts(task, artifacts::Urgency::kOffer);
    const auto layout =
        artifacts ? layout_together(artifacts->program, context_.options.together, context_.options.partners.size() + 1)
                  : std::nullopt;
    if (artifacts && !layout) {
        context_.reporter.trouble(
            "task " + to_hex(task.id.view()) + ": its steps cannot be divided by \"" + context_.options.together +
            "\" so that each member can answer for its part of every sum (of 32 values or a multiple); training alone"
        );
    }
    return layout.has_value();
}

Amount Seating::member_bond_of(const contracts::Task& task) const {
    return contracts::member_bond(context_.chain.params(), contracts::task_value(task.spec));
}

bool Seating::sign_one(const OfferDesk& offers) {
    const std::vector<std::string>& leads = context_.options.lead_urls;
    if (leads.empty()) {
        return false;
    }
    for (const contracts::Task& task : roles::by_deadline(context_.chain.tasks())) {
        const bool is_open = task.state == contracts::TaskState::kDrawn && task.spec.members > 1 &&
                             !contracts::is_member(task, context_.chain.self());
        // Once a block: a lead that has not offered yet is asked again.
        const bool asks = is_open && may_sign(task, offers) &&
                          std::exchange(asked_at_[task.id], context_.chain.height()) != context_.chain.height();
        const auto signs = [&](const std::string& lead_url) { return sign_seat(task, lead_url); };
        if (asks && std::any_of(leads.begin(), leads.end(), signs)) {
            return true;
        }
    }
    return false;
}

bool Seating::may_sign(const contracts::Task& task, const OfferDesk& offers) {
    const std::uint32_t accepted = context_.journal.accepted_tasks();
    const bool has_enough = context_.options.tasks_max != 0 && accepted >= context_.options.tasks_max;
    return !signed_.contains(task.id) && !has_enough && !context_.journal.breaker() &&
           !context_.unusable.contains(task.id) && !offers.has_declined(task.id) &&
           context_.chain.free_stake(contracts::Role::kSolver) >= member_bond_of(task);
}

bool Seating::sign_seat(const contracts::Task& task, const std::string& lead_url) {
    const auto seats = ask(task, lead_url);
    if (seats && seats->is_together && context_.options.link_address.empty()) {
        context_.reporter.trouble(
            "the lead at " + lead_url + " offers a seat of a group that computes each step together; give " +
            "--link-address, where its other members reach this machine, to take it"
        );
        return false;
    }
    const auto artifacts = seats ? context_.artifacts(task, artifacts::Urgency::kOffer) : nullptr;
    if (!artifacts || !sign(task, lead_url, *seats)) {
        return false;
    }
    context_.journal.note_accepted(task.id);
    context_.reporter.event(
        {{"event", "seat"},
         {"task", to_hex(task.id.view())},
         {"title", task.spec.title},
         {"seats", seats->seats.size()},
         {"together", seats->is_together}}
    );
    return true;
}

std::optional<OfferedSeats> Seating::ask(const contracts::Task& task, const std::string& lead_url) {
    const std::string url = lead_url + kSeats + to_hex(task.id.view());
    try {
        const http::HttpResponse answer = http::http_get(url, limits_of(context_.options));
        const auto offered = answer.status == 200 ? decode_seats(answer.body) : std::nullopt;
        const std::vector<AccountId> seats = offered ? offered->seats : std::vector<AccountId>();
        const bool is_given = seats.size() >= 2 && task.solver == seats.front() && seats.size() <= task.spec.members &&
                              std::find(seats.begin(), seats.end(), context_.chain.self()) != seats.end();
        return is_given ? offered : std::nullopt;
    } catch (const http::NetError& error) {
        context_.reporter.trouble("the lead at " + lead_url + " cannot be reached: " + error.what());
        return std::nullopt;
    }
}

bool Seating::sign(const contracts::Task& task, const std::string& lead_url, const OfferedSeats& offered) {
    const Hash256 claim = contracts::seats_claim(
        context_.chain.chain_id(), {.task = task.id, .seats = offered.seats, .is_together = offered.is_together}
    );
    const std::string url = lead_url + kSeats + to_hex(task.id.view()) + "/" + to_hex(context_.chain.self().view());
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
    signed_.insert(task.id);
    return true;
}

void Seating::forget(const contracts::TaskId& task) {
    signed_.erase(task);
    asked_at_.erase(task);
    context_.seats->forget(task);
}

}  // namespace assay::worker
