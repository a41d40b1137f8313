// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/seat_desk.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <contracts/tasks/seats.hpp>
#include <core/crypto/keys.hpp>

namespace assay::worker {
namespace {

using nlohmann::json;

constexpr std::string_view kPrefix = "/seats/";

http::HttpResponse refuse(unsigned status, const std::string& why) {
    return {.status = status, .content_type = "text/plain", .body = why + "\n"};
}

}  // namespace

void SeatDesk::offer(
    const contracts::TaskId& task, const std::vector<AccountId>& seats, bool is_together, const Hash256& claim
) {
    const std::scoped_lock lock(mutex_);
    offers_.try_emplace(
        task,
        Offer{
            .seats = seats,
            .partners = contracts::partners_of(seats),
            .is_together = is_together,
            .claim = claim,
            .signatures = {}}
    );
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

void SeatDesk::forget(const contracts::TaskId& task) {
    const std::scoped_lock lock(mutex_);
    offers_.erase(task);
}

http::HttpResponse SeatDesk::take(Offer& offer, const std::string& account, const std::string& body) {
    const auto partner = fixed_from_hex<AccountId>(account);
    const bool is_partner =
        partner && std::find(offer.partners.begin(), offer.partners.end(), *partner) != offer.partners.end();
    if (!is_partner) {
        return refuse(403, "no seat of this task is that account's");
    }
    const auto signature = fixed_from_hex<Signature>(body);
    if (!signature || !crypto::verify_signature(*partner, offer.claim.view(), *signature)) {
        return refuse(400, "not a signature of these seats by that account");
    }
    offer.signatures.insert_or_assign(*partner, *signature);
    return {.status = 200, .content_type = "application/json", .body = "{}\n"};
}

std::optional<http::HttpResponse> SeatDesk::answer(const http::HttpRequest& request) {
    const std::string_view target = request.target;
    if (!target.starts_with(kPrefix)) {
        return std::nullopt;
    }
    const std::string_view name = target.substr(kPrefix.size());
    const std::size_t slash = name.find('/');
    const auto task = fixed_from_hex<contracts::TaskId>(name.substr(0, slash));
    const std::scoped_lock lock(mutex_);
    const auto offer = task ? offers_.find(*task) : offers_.end();
    if (offer == offers_.end()) {
        return refuse(404, "no seats of such a task are offered");
    }
    if (request.method == "POST" && slash != std::string_view::npos) {
        return take(offer->second, std::string(name.substr(slash + 1)), request.body);
    }
    if (request.method != "GET" || slash != std::string_view::npos) {
        return refuse(405, "GET /seats/<task>, or POST /seats/<task>/<account>");
    }
    json seats = json::array();
    for (const AccountId& seat : offer->second.seats) {
        seats.push_back(to_hex(seat.view()));
    }
    const json body{{"lead", seats.front()}, {"seats", seats}, {"together", offer->second.is_together}};
    return http::HttpResponse{.status = 200, .content_type = "application/json", .body = body.dump() + "\n"};
}

}  // namespace assay::worker
