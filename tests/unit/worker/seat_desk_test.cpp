// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
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
    contracts::SeatsTerms terms{.task = task, .seats = seats, .is_together = true};
    Hash256 claim = contracts::seats_claim("test", terms);

    Offer() { desk.offer(terms, claim); }
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

TEST_CASE("GRP-13: another list takes the place of the first, and has to be signed again") {
    Offer offer;
    CHECK(offer.post(offer.first.account(), offer.signed_by(offer.first)) == 200);
    offer.desk.offer(offer.terms, offer.claim);  // the same
    CHECK(offer.desk.signers(offer.task) == std::vector{offer.first.account()});
    offer.terms.from = 3;
    const Hash256 before = std::exchange(offer.claim, contracts::seats_claim("test", offer.terms));
    offer.desk.offer(offer.terms, offer.claim);
    CHECK(offer.desk.signers(offer.task).empty());
    CHECK(offer.post(offer.first.account(), to_hex(offer.first.sign(before.view()).view())) == 400);
    CHECK(offer.post(offer.first.account(), offer.signed_by(offer.first)) == 200);
    const auto answer = offer.desk.answer({.method = "GET", .target = offer.path(), .body = {}});
    CHECK(nlohmann::json::parse(answer->body).at("from") == 3);
    offer.desk.withdraw(offer.task);
    CHECK(offer.desk.answer({.method = "GET", .target = offer.path(), .body = {}})->status == 404);
}

TEST_CASE("GRP-13: whom the lead expects may ask to join, and nobody in another's name") {
    Offer offer;
    const auto join = [&](const AccountId& account, const std::string& body) {
        const std::string path = offer.path() + "/" + to_hex(account.view()) + "/join";
        return offer.desk.answer({.method = "POST", .target = path, .body = body})->status;
    };
    const crypto::SecretKey late = key_of(8);
    CHECK(join(late.account(), worker::join_request(late, offer.task)) == 403);
    offer.desk.expect(offer.task, {late.account(), offer.first.account()});
    CHECK(join(late.account(), worker::join_request(offer.first, offer.task)) == 400);
    CHECK(join(late.account(), worker::join_request(late, contracts::TaskId{{9}})) == 400);
    CHECK(join(late.account(), "") == 400);
    CHECK(join(offer.second.account(), worker::join_request(offer.second, offer.task)) == 403);
    CHECK(offer.desk.joining(offer.task).empty());
    CHECK(join(late.account(), worker::join_request(late, offer.task)) == 200);
    CHECK(offer.desk.joining(offer.task) == std::vector{late.account()});
    offer.desk.forget(offer.task);
    CHECK(offer.desk.joining(offer.task).empty());
}
