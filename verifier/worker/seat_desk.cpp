// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/seat_desk.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <contracts/state/slots.hpp>
#include <core/crypto/keys.hpp>
#include <verifier/cell/seal.hpp>

namespace assay::worker {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kPrefix = "/seats/";
constexpr std::string_view kJoin = "/join";
constexpr std::chrono::seconds kStays{60};  // how long who has asked to join counts as being there

http::HttpResponse refuse(unsigned status, const std::string& why) {
    return {.status = status, .content_type = "text/plain", .body = why + "\n"};
}

http::HttpResponse taken() { return {.status = 200, .content_type = "application/json", .body = "{}\n"}; }

bool is_in(const std::vector<AccountId>& accounts, const AccountId& account) {
    return std::find(accounts.begin(), accounts.end(), account) != accounts.end();
}

json body_of(const contracts::SeatsTerms& terms) {
    json seats = json::array();
    for (const AccountId& seat : terms.seats) {
        seats.push_back(to_hex(seat.view()));
    }
    return {{"lead", seats.front()}, {"seats", seats}, {"together", terms.is_together}, {"from", terms.from}};
}

}  // namespace

std::string seats_path(const contracts::TaskId& task) { return std::string(kPrefix) + to_hex(task.view()); }

std::string join_request(const crypto::SecretKey& key, const contracts::TaskId& task) {
    return cell::by_account(key, retag<Hash256>(task))(std::string(kJoin), "");
}

void SeatDesk::offer(const contracts::SeatsTerms& terms, const Hash256& claim) {
    const std::scoped_lock lock(mutex_);
    Offer& offer = offers_[terms.task];
    if (offer.claim != claim) {
        offer = {.terms = terms, .partners = contracts::partners_of(terms.seats), .claim = claim, .signatures = {}};
    }
}

std::optional<std::vector<Signature>> SeatDesk::signatures(const contracts::TaskId& task) const {
    const std::scoped_lock lock(mutex_);
    const auto offer = offers_.find(task);
    if (offer == offers_.end()) {
        return std::nullopt;
    }
    std::vector<Signature> out;
    out.reserve(offer->second.partners.size());
    for (const AccountId& partner : offer->second.partners) {
        const auto signature = offer->second.signatures.find(partner);
        if (signature == offer->second.signatures.end()) {
            return std::nullopt;
        }
        out.push_back(signature->second);
    }
    return out;
}

std::vector<AccountId> SeatDesk::signers(const contracts::TaskId& task) const {
    const std::scoped_lock lock(mutex_);
    const auto offer = offers_.find(task);
    std::vector<AccountId> out;
    if (offer != offers_.end()) {
        std::copy_if(
            offer->second.partners.begin(), offer->second.partners.end(), std::back_inserter(out),
            [&](const AccountId& partner) { return offer->second.signatures.contains(partner); }
        );
    }
    return out;
}

void SeatDesk::withdraw(const contracts::TaskId& task) {
    const std::scoped_lock lock(mutex_);
    offers_.erase(task);
}

void SeatDesk::expect(const contracts::TaskId& task, const std::vector<AccountId>& accounts) {
    const std::scoped_lock lock(mutex_);
    doors_[task].expected = accounts;
}

std::vector<AccountId> SeatDesk::joining(const contracts::TaskId& task) const {
    const std::scoped_lock lock(mutex_);
    const auto found = doors_.find(task);
    std::vector<AccountId> out;
    if (found != doors_.end()) {
        const Door& door = found->second;
        std::copy_if(
            door.expected.begin(), door.expected.end(), std::back_inserter(out),
            [&](const AccountId& account) {
                const auto at = door.asked.find(account);
                return at != door.asked.end() && Clock::now() - at->second < kStays;
            }
        );
    }
    return out;
}

void SeatDesk::forget(const contracts::TaskId& task) {
    const std::scoped_lock lock(mutex_);
    offers_.erase(task);
    doors_.erase(task);
}

http::HttpResponse SeatDesk::take(Offer& offer, const std::string& account, const std::string& body) {
    const auto partner = fixed_from_hex<AccountId>(account);
    if (!partner || !is_in(offer.partners, *partner)) {
        return refuse(403, "no seat of this task is that account's");
    }
    const auto signature = fixed_from_hex<Signature>(body);
    if (!signature || !crypto::verify_signature(*partner, offer.claim.view(), *signature)) {
        return refuse(400, "not a signature of these seats by that account");
    }
    offer.signatures.insert_or_assign(*partner, *signature);
    return taken();
}

http::HttpResponse SeatDesk::knock(const contracts::TaskId& task, const std::string& account, const std::string& body) {
    const auto door = doors_.find(task);
    const auto newcomer = fixed_from_hex<AccountId>(account);
    if (door == doors_.end() || !newcomer || !is_in(door->second.expected, *newcomer)) {
        return refuse(403, "this lead does not expect that account in a group for that task");
    }
    if (!cell::of_accounts({*newcomer}, retag<Hash256>(task))(std::string(kJoin), body)) {
        return refuse(400, "not a request to join by that account");
    }
    door->second.asked[*newcomer] = Clock::now();
    return taken();
}

std::optional<http::HttpResponse> SeatDesk::answer(const http::HttpRequest& request) {
    const std::string_view target = request.target;
    if (!target.starts_with(kPrefix)) {
        return std::nullopt;
    }
    const std::string_view name = target.substr(kPrefix.size());
    const std::size_t slash = name.find('/');
    const auto task = fixed_from_hex<contracts::TaskId>(name.substr(0, slash));
    const std::string account(slash == std::string_view::npos ? "" : name.substr(slash + 1));
    const std::scoped_lock lock(mutex_);
    if (request.method == "POST" && task && account.ends_with(kJoin)) {
        return knock(*task, account.substr(0, account.size() - kJoin.size()), request.body);
    }
    const auto offer = task ? offers_.find(*task) : offers_.end();
    if (offer == offers_.end()) {
        return refuse(404, "no seats of such a task are offered");
    }
    if (request.method == "POST" && slash != std::string_view::npos) {
        return take(offer->second, account, request.body);
    }
    if (request.method != "GET" || slash != std::string_view::npos) {
        return refuse(405, "GET /seats/<task>, or POST /seats/<task>/<account> or /seats/<task>/<account>/join");
    }
    return http::HttpResponse{
        .status = 200, .content_type = "application/json", .body = body_of(offer->second.terms).dump() + "\n"};
}

}  // namespace assay::worker
