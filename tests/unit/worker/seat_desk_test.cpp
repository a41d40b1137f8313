// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <contracts/tasks/seats.hpp>
#include <core/crypto/keys.hpp>
#include <verifier/worker/seat_desk.hpp>

using namespace assay;
using worker::SeatDesk;

namespace {

crypto::SecretKey key_of(std::uint8_t number) {
    Hash256 seed;
    seed.data[31] = number;
    return crypto::SecretKey::from_bytes(seed.view()).value();
}

struct Offer {
    SeatDesk desk;
    contracts::TaskId task{{7}};
    crypto::SecretKey lead = key_of(1);
    crypto::SecretKey first = key_of(2);
    crypto::SecretKey second = key_of(3);
    std::vector<AccountId> seats{lead.account(), first.account(), second.account(), first.account()};
    Hash256 claim = contracts::seats_claim("test", {.task = task, .seats = seats, .is_together = true});

    Offer() { desk.offer(task, seats, true, claim); }
    std::string path() const { return "/seats/" + to_hex(task.view()); }
    unsigned post(const AccountId& account, const std::string& body) {
        return desk.answer({.method = "POST", .target = path() + "/" + to_hex(account.view()), .body = body})->status;
    }
    std::string signed_by(const crypto::SecretKey& key) const { return to_hex(key.sign(claim.view()).view()); }
};

}  // namespace

TEST_CASE("GRP-2: a lead has what its partners signed, in the order of their first seats") {
    Offer offer;
    CHECK_FALSE(offer.desk.signatures(offer.task).has_value());
    CHECK(offer.post(offer.second.account(), offer.signed_by(offer.second)) == 200);
    CHECK_FALSE(offer.desk.signatures(offer.task).has_value());
    CHECK(offer.post(offer.first.account(), offer.signed_by(offer.first)) == 200);
    const contracts::AcceptTask acceptance{
        .task = offer.task,
        .seats = offer.seats,
        .signatures = offer.desk.signatures(offer.task).value(),
        .is_together = true};
    CHECK(contracts::check_bound("test", offer.lead.account(), acceptance).has_value());
    offer.desk.forget(offer.task);
    CHECK_FALSE(offer.desk.signatures(offer.task).has_value());
}

TEST_CASE("GRP-2: partners are told the seats") {
    Offer offer;
    const auto answer = offer.desk.answer({.method = "GET", .target = offer.path(), .body = {}});
    REQUIRE(answer.has_value());
    CHECK(answer->status == 200);
    const auto body = nlohmann::json::parse(answer->body);
    CHECK(body.at("lead") == to_hex(offer.lead.account().view()));
    CHECK(body.at("together") == true);
    REQUIRE(body.at("seats").size() == 4);
    CHECK(body.at("seats")[3] == to_hex(offer.first.account().view()));
}

TEST_CASE("GRP-2: what is no partner's signature of these seats is refused, and changes nothing") {
    Offer offer;
    CHECK(offer.post(offer.first.account(), "") == 400);
    CHECK(offer.post(offer.first.account(), std::string(128, '0')) == 400);
    CHECK(offer.post(offer.first.account(), offer.signed_by(offer.second)) == 400);
    CHECK(offer.post(offer.lead.account(), offer.signed_by(offer.lead)) == 403);
    CHECK(offer.post(key_of(9).account(), offer.signed_by(key_of(9))) == 403);
    CHECK(offer.post(offer.second.account(), offer.signed_by(offer.second)) == 200);
    CHECK_FALSE(offer.desk.signatures(offer.task).has_value());
    const auto status = [&](const std::string& method, const std::string& target) {
        return offer.desk.answer({.method = method, .target = target, .body = {}})->status;
    };
    CHECK(status("GET", "/seats/" + std::string(64, '0')) == 404);
    CHECK(status("GET", "/seats/nothing") == 404);
    CHECK(status("GET", "/seats/") == 404);
    CHECK(status("GET", offer.path() + "/" + to_hex(offer.first.account().view())) == 405);
    CHECK(status("POST", offer.path()) == 405);
    CHECK(status("POST", offer.path() + "/") == 403);
    CHECK_FALSE(offer.desk.answer({.method = "GET", .target = "/artifact/00", .body = {}}).has_value());
}
