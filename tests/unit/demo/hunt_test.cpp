// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>

#include <tools/demo/hunt.hpp>

namespace assay::demo {
namespace {

using nlohmann::json;

constexpr std::uint64_t kJackpot = 400;

json won(const std::string& account, std::uint64_t amount) { return {{"account", account}, {"amount", amount}}; }

/// Every watcher that challenged has replayed.
json verdict(bool forced, json watchers, json challengers, json payments) {
    json sealed = json::array();
    for (const json& name : challengers) {
        if (std::find(watchers.begin(), watchers.end(), name) != watchers.end()) {
            sealed.push_back(name);
        }
    }
    return {
        {"segment", 1},
        {"verifier", "verifier-1"},
        {"forced", forced},
        {"watchers", std::move(watchers)},
        {"challengers", std::move(challengers)},
        {"sealed", std::move(sealed)},
        {"won", std::move(payments)}};
}

json hunt_of(json verdicts, const json& informant, std::int64_t gain, std::int64_t honest) {
    const json paid{{"reward", 20}, {"verification_fee", 3}, {"tax", 1}};
    return {
        {"jackpot", kJackpot},
        {"hunters", json::array({"rider", "rider-2"})},
        {"informant", informant},
        {"slashed", 0},
        {"verdicts", std::move(verdicts)},
        {"gain", gain},
        {"honest", honest},
        {"paid", paid},
        {"due", paid}};
}

const json kNobody = json::array();
const json kHonest = json::array({"honest"});
const json kRider = json::array({"rider"});
const json kBoth = json::array({"honest", "rider"});

const json kCopied = verdict(true, kHonest, kBoth, json::array({won("honest", kJackpot)}));
const json kShared =
    verdict(true, kBoth, kBoth, json::array({won("honest", kJackpot / 2), won("rider", kJackpot / 2)}));
const json kBetrayed = verdict(true, kRider, json::array({"rider-2", "rider"}), json::array({won("rider", kJackpot)}));

json copying(const json& verdict) { return hunt_of(json::array({verdict}), nullptr, 390, 400); }
json betraying(const json& verdict) { return hunt_of(json::array({verdict}), "verifier-1", 390, 400); }
/// Beside a copied challenge.
json copying_besides(const json& verdict) { return hunt_of(json::array({kCopied, verdict}), nullptr, 390, 400); }

TEST_CASE("a hunt that ends as the rules have it is no reason to complain") {
    CHECK(judge_hunt(copying_besides(verdict(false, kHonest, kNobody, kNobody))).empty());
    CHECK(judge_hunt(copying(kShared)).empty());
    CHECK(judge_hunt(betraying(kBetrayed)).empty());
    // Who is told first may leave the watcher that was drawn nothing to challenge: the rules allow it.
    CHECK(judge_hunt(betraying(verdict(true, kHonest, kRider, kNobody))).empty());
}

TEST_CASE("a jackpot of a wrong amount or account is a complaint") {
    const json whole = json::array({won("honest", kJackpot), won("rider", kJackpot)});
    const json less = json::array({won("honest", kJackpot - 1)});
    for (const json& payments : {kNobody, json::array({won("rider", kJackpot)}), less, whole}) {
        CHECK(judge_hunt(copying(verdict(true, kHonest, kBoth, payments))).size() == 1);
    }
    CHECK(judge_hunt(copying(verdict(true, kBoth, kBoth, whole))).size() == 1);
    CHECK(judge_hunt(copying(verdict(false, kHonest, kBoth, json::array({won("honest", kJackpot)})))).size() == 1);
}

TEST_CASE("a watcher that sealed nothing wins nothing") {
    json copy = verdict(true, kRider, kBoth, kNobody);
    CHECK(judge_hunt(copying(copy)).size() == 1);
    copy["sealed"] = kNobody;
    CHECK(judge_hunt(copying(copy)).empty());
    copy["won"] = json::array({won("rider", kJackpot)});
    CHECK(judge_hunt(copying(copy)).size() == 1);
}

TEST_CASE("a free rider copies, and leaves the honest watcher its jackpot") {
    CHECK(judge_hunt(copying(verdict(true, kRider, kRider, json::array({won("rider", kJackpot)})))).size() == 1);
    CHECK(judge_hunt(copying_besides(verdict(true, kHonest, kNobody, kNobody))).size() == 1);
    CHECK(judge_hunt(copying(verdict(true, kHonest, kHonest, json::array({won("honest", kJackpot)})))).size() == 1);
}

TEST_CASE("an insider challenges what its verifier knows to be forced, and nothing else") {
    json foreign = kBetrayed;
    foreign["verifier"] = "verifier-2";
    CHECK(judge_hunt(betraying(foreign)).size() == 1);
    CHECK(judge_hunt(betraying(verdict(false, kRider, kRider, kNobody))).size() == 1);
}

TEST_CASE("who hunts may not gain more than by replays, nor anybody lose or miss a payment") {
    for (const auto& [member, value] :
         {std::pair{"gain", json(401)}, {"slashed", json(1)}, {"paid", json{{"reward", 20}, {"tax", 1}}}}) {
        json hunt = copying(kCopied);
        hunt[member] = value;
        CHECK(judge_hunt(hunt).size() == 1);
    }
}

}  // namespace
}  // namespace assay::demo
