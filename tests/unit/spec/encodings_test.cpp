// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>

#include <contracts/beacon/draw.hpp>
#include <contracts/state/beacon.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/transaction/transaction.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/crypto/keys.hpp>
#include <tests/unit/core/vectors.hpp>
#include <tools/spec/schema.hpp>

using namespace assay;

namespace {

template <class T>
T decoded(const nlohmann::json& hex) {
    auto value = codec::decode<T>(hex_bytes(hex));
    REQUIRE(value.has_value());
    return *std::move(value);
}

}  // namespace

TEST_CASE("TX-3: a transaction of every action is signed as published") {
    std::set<std::size_t> actions;
    const auto vectors = json_vectors("encodings.json");
    for (const auto& json : vectors["transactions"]) {
        CAPTURE(json["action"].get<std::string>());
        const auto key = crypto::SecretKey::from_bytes(hex_bytes(json["secret"]));
        REQUIRE(key.has_value());
        const auto body = decoded<contracts::TxBody>(json["body"]);
        CHECK(body.chain_id == json["chain_id"].get<std::string>());
        CHECK(body.sender == key->account());
        CHECK(body.nonce == json["nonce"].get<std::uint64_t>());
        CHECK(body.fee.grains == json["fee"].get<std::uint64_t>());
        CHECK(action_name(body.action) == json["action"].get<std::string>());
        CHECK(to_hex(contracts::signing_hash(body).view()) == json["signing_hash"].get<std::string>());
        const contracts::Tx tx = contracts::sign_tx(body, *key);
        CHECK(to_hex(tx.signature.view()) == json["signature"].get<std::string>());
        CHECK(to_hex(codec::encode(tx)) == json["tx"].get<std::string>());
        CHECK(to_hex(contracts::tx_hash(codec::encode(tx)).view()) == json["tx_hash"].get<std::string>());
        CHECK(crypto::verify_signature(body.sender, contracts::signing_hash(body).view(), tx.signature));
        actions.insert(body.action.index());
    }
    CHECK(actions.size() == std::variant_size_v<contracts::Action>);
}

TEST_CASE("ENC-1: every tag of the schema has a digest of published parts") {
    std::set<std::string> tags;
    const auto vectors = json_vectors("encodings.json");
    for (const auto& json : vectors["digests"]) {
        CAPTURE(json["name"].get<std::string>());
        Bytes data;
        for (const auto& part : json["parts"]) {
            append(data, hex_bytes(part));
        }
        const std::string tag = json["tag"];
        CHECK(to_hex(crypto::TaggedHash(tag)(data).view()) == json["digest"].get<std::string>());
        tags.insert(tag);
    }
    for (const spec::Tag& tag : spec::list_tags()) {
        // Whether a verdict is forced needs a task; its digest never leaves the rule.
        CHECK((tags.count(tag.tag) == 1 || tag.tag == "assay/forced"));
    }
}

TEST_CASE("BLK-5: draws choose as published") {
    const auto vectors = json_vectors("encodings.json");
    for (const auto& json : vectors["draws"]) {
        const auto name = decoded<contracts::DrawName>(json["name"]);
        const Hash256 randomness =
            contracts::draw_randomness(*fixed_from_hex<Hash256>(json["seed"].get<std::string>()), name);
        CHECK(to_hex(randomness.view()) == json["randomness"].get<std::string>());
        std::vector<contracts::Candidate> candidates;
        for (const auto& weight : json["weights"]) {
            candidates.emplace_back().weight = weight;
        }
        const auto chosen = contracts::draw_weighted(candidates, randomness);
        CHECK(chosen.has_value() == !json["chosen"].is_null());
        if (chosen) {
            CHECK(*chosen == json["chosen"].get<std::size_t>());
        }
        CHECK(contracts::reduce(randomness, 10'000) == json["modulo_10000"].get<std::uint64_t>());
        CHECK(contracts::to_seed(randomness) == json["as_seed"].get<std::uint64_t>());
    }
}

TEST_CASE("DSP-9: the published moves lead from position to position, down to a proof") {
    const auto json = json_vectors("positions.json");
    const auto claim = decoded<dispute::Claim>(json["claim"]);
    dispute::Position position = dispute::start_position(claim);
    CHECK(to_hex(codec::encode(position)) == json["start"].get<std::string>());
    for (const auto& move : json["moves"]) {
        const bool is_reveal = move["move"] == "reveal";
        const auto next = is_reveal ? dispute::reveal(claim, position, decoded<std::vector<Hash256>>(move["bytes"]))
                                    : dispute::select(claim, position, decoded<dispute::Selection>(move["bytes"]));
        REQUIRE(next.has_value());
        position = *next;
        CHECK(to_hex(codec::encode(position)) == move["position"].get<std::string>());
        CHECK(codec::encode(decoded<dispute::Position>(move["position"])) == codec::encode(position));
    }
    CHECK(json["moves"].size() == 8);
    CHECK(dispute::split(claim, position) == dispute::Split{});
}
