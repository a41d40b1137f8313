// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <bit>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

#include <tests/unit/artifacts/files.hpp>
#include <verifier/artifacts/claimed_losses.hpp>
#include <verifier/worker/losses.hpp>

namespace assay::worker {
namespace {

using artifacts::ClaimedLoss;

const contracts::TaskId kWatched{{3}};

ClaimedLoss loss_of(std::uint32_t segment, float loss) {
    return {.segment = segment, .step = segment * 10ULL - 1, .loss = std::bit_cast<std::uint32_t>(loss)};
}

http::HttpRequest get(const std::string& target) {
    http::HttpRequest request;
    request.method = "GET";
    request.target = target;
    return request;
}

TEST_CASE("claimed losses are signed by who claims them, and a changed one is not taken") {
    const auto key = crypto::SecretKey::generate();
    const auto signed_losses =
        artifacts::sign_losses(key, kWatched, {loss_of(1, 2.5F), loss_of(2, std::numeric_limits<float>::infinity())});
    const std::string text = artifacts::to_json(signed_losses);
    const auto decoded = artifacts::decode_losses(text);
    REQUIRE(decoded.has_value());
    CHECK(decoded->task == kWatched);
    CHECK(decoded->account == key.account());
    CHECK(decoded->losses == signed_losses.losses);

    auto forged = nlohmann::json::parse(text);
    CHECK(forged["losses"][0]["loss"] == 2.5);
    CHECK(forged["losses"][1]["loss"].is_null());
    forged["losses"][0]["bits"] = std::bit_cast<std::uint32_t>(0.5F);
    CHECK(!artifacts::decode_losses(forged.dump()).has_value());
    forged = nlohmann::json::parse(text);
    forged["task"] = to_hex(contracts::TaskId{{4}}.view());
    CHECK(!artifacts::decode_losses(forged.dump()).has_value());
    CHECK(!artifacts::decode_losses("{}").has_value());
    CHECK(!artifacts::decode_losses("no JSON").has_value());
    CHECK(!artifacts::decode_losses(std::string(artifacts::kMaxLossesBytes + 1, ' ')).has_value());
}

TEST_CASE("a solver serves the losses of its segments, also after a restart, until the task is forgotten") {
    const test::TemporaryDirectory home;
    const auto key = crypto::SecretKey::generate();
    {
        Losses losses(home.path() / "losses", key);
        losses.note(kWatched, loss_of(1, 3.0F));
        losses.note(kWatched, loss_of(2, 2.0F));
        losses.note(kWatched, loss_of(3, 1.0F));
        losses.note(kWatched, loss_of(2, 2.5F));  // trained again: what came after it is gone
    }
    Losses losses(home.path() / "losses", key);
    const auto answer = losses.answer(get(artifacts::losses_target(kWatched)));
    REQUIRE(answer.has_value());
    CHECK(answer->status == 200);
    const auto decoded = artifacts::decode_losses(answer->body);
    REQUIRE(decoded.has_value());
    CHECK(decoded->losses == std::vector<ClaimedLoss>{loss_of(1, 3.0F), loss_of(2, 2.5F)});
    CHECK(!losses.answer(get("/artifact/ab")).has_value());
    CHECK(losses.answer(get("/losses/ab"))->status == 400);
    CHECK(losses.answer(get(artifacts::losses_target(contracts::TaskId{{9}})))->status == 404);
    losses.forget(kWatched);
    CHECK(losses.answer(get(artifacts::losses_target(kWatched)))->status == 404);
    CHECK(std::filesystem::is_empty(home.path() / "losses"));
    // What another account has claimed in this home is not taken for ours.
    losses.note(kWatched, loss_of(1, 3.0F));
    const auto other = crypto::SecretKey::generate();
    Losses stranger(home.path() / "losses", other);
    const auto empty = artifacts::decode_losses(stranger.answer(get(artifacts::losses_target(kWatched)))->body);
    REQUIRE(empty.has_value());
    CHECK(empty->losses.empty());
}

}  // namespace
}  // namespace assay::worker
