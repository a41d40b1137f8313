// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include <client/proven_chain.hpp>
#include <client/light_source.hpp>
#include <consensus/light/verify.hpp>
#include <contracts/state/state.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <tests/unit/cli/forged_node.hpp>
#include <tests/unit/cli/temporary.hpp>
#include <tests/unit/folders.hpp>

using namespace assay;
using namespace assay::client;
using cli_test::ForgedNode;
using cli_test::make_key;
using cli_test::TemporaryDirectory;
using nlohmann::json;

namespace {

const AccountId kAlice = make_key(7).account();

/// A chain whose last state has parameters, a beacon and Alice's account, and a home that may pin it.
struct Meeting {
    ForgedNode node;
    TemporaryDirectory home;

    Meeting() {
        node.slots[contracts::keys::params()] = codec::encode(contracts::Params{});
        contracts::Beacon beacon;
        beacon.rounds = 3;
        node.slots[contracts::keys::beacon()] = codec::encode(beacon);
        node.slots[contracts::keys::base_fee()] = codec::encode(Amount{777});
        node.slots[contracts::keys::account(kAlice)] = codec::encode(contracts::Account{Amount{5}, 2});
        node.serve();
    }

    ProvenChain chain(Expected expected = {}) {
        rpc.emplace(node.url());
        return {*rpc, anchor_file(home.path()), std::move(expected)};
    }
    std::string refusal(Expected expected = {}) {
        try {
            chain(std::move(expected));
            return {};
        } catch (const Mismatch& error) {
            return error.what();
        }
    }
    std::optional<client::RpcClient> rpc;
};

void alter(Meeting& at, const std::string& asked, const std::string& member, json value) {
    at.node.tamper = [=](const std::string& method, json& result) {
        if (method == asked) {
            result[member] = value;
        }
    };
}

}  // namespace

TEST_CASE("what is signed on is proven against the block of the proposer that is pinned") {
    Meeting at;
    ProvenChain chain = at.chain();
    CHECK(chain.height() == Height{ForgedNode::kHeight});
    const client::SigningBase base = chain.base(kAlice);
    CHECK(base.chain_id == "forged");
    CHECK(base.nonce == 2);
    CHECK(base.params == contracts::Params{});
    CHECK(base.base_fee == Amount{777});
    CHECK(chain.account(make_key(9).account()).nonce == 0);
    CHECK(chain.beacon().rounds == 3);
    CHECK_FALSE(chain.holds(Height{ForgedNode::kHeight + 1}, Hash256{}));
    const auto anchor = read_anchor(anchor_file(at.home.path()));
    REQUIRE(anchor.has_value());
    CHECK(*anchor == chain.anchor());
    CHECK(anchor->proposer == at.node.proposer.account());
    CHECK(anchor->height == Height{ForgedNode::kHeight + 1});
    write_anchor(anchor_file(at.home.path()), *anchor);
    CHECK(*read_anchor(anchor_file(at.home.path())) == *anchor);
}

TEST_CASE("a node of another chain than the pinned one is refused") {
    Meeting at;
    static_cast<void>(at.chain());
    for (const auto& [member, value] :
         {std::pair("chain_id", json("other")), std::pair("genesis_hash", json(std::string(64, 'a')))}) {
        alter(at, "node_status", member, value);
        CHECK(at.refusal().find("this home is of the one with") != std::string::npos);
    }
    alter(at, "node_status", "height", 3);
    CHECK(at.refusal().find("is behind, or hides blocks") != std::string::npos);
    alter(at, "node_status", "engine", "cometbft");  // what is pinned counts
    CHECK(at.refusal().empty());
    at.node.tamper = nullptr;
    CHECK(at.refusal().empty());
}

TEST_CASE("PAR-13: a node of another version of the protocol is refused, at first and later") {
    Meeting at;
    alter(at, "node_status", "protocol_version", contracts::kProtocolVersion + 1);
    CHECK(
        at.refusal().find(
            "the node speaks version " + std::to_string(contracts::kProtocolVersion + 1) + " of the protocol"
        ) != std::string::npos
    );
    CHECK_FALSE(read_anchor(anchor_file(at.home.path())));
    at.node.tamper = nullptr;
    static_cast<void>(at.chain());
    alter(at, "node_status", "protocol_version", 1);
    CHECK(at.refusal().find("install the release that the chain runs") != std::string::npos);
}

TEST_CASE("a block of another proposer than the pinned one proves nothing") {
    Meeting at;
    static_cast<void>(at.chain());
    at.node.proposer = make_key(2);
    alter(at, "node_status", "proposer", crypto::to_address(make_key(2).account()));
    at.node.block = solo::sign_block(at.node.block.header, {}, make_key(2));
    CHECK(at.refusal().find("not by the chain's proposer") != std::string::npos);
}

TEST_CASE("what the user says of a chain is held against it, at first and later") {
    Meeting at;
    CHECK(at.refusal({.chain_id = "other-1", .genesis = {}}).find("not other-1") != std::string::npos);
    CHECK(at.refusal({.chain_id = {}, .genesis = Hash256{}}).find("genesis hash") != std::string::npos);
    Trust trust;
    trust.proposer = make_key(3).account();
    CHECK(at.refusal({.chain_id = {}, .genesis = {}, .trust = trust}).find("proposer") != std::string::npos);
    CHECK_FALSE(read_anchor(anchor_file(at.home.path())).has_value());
    CHECK(at.refusal({.chain_id = "forged", .genesis = {}}).empty());
}

TEST_CASE("parameters, accounts and beacons that are not the state's are refused") {
    for (const Bytes& slot : {contracts::keys::params(), contracts::keys::beacon(), contracts::keys::account(kAlice)}) {
        Meeting at;
        ProvenChain chain = at.chain();
        at.node.tamper = [&](const std::string& method, json& result) {
            if (method == "chain_proof" && result.at("key") == to_hex(slot)) {
                std::string value = result.at("value");
                value.back() = value.back() == '0' ? '1' : '0';
                result["value"] = value;
            }
        };
        CHECK_THROWS_AS(
            slot == contracts::keys::beacon() ? static_cast<void>(chain.beacon())
                                              : static_cast<void>(chain.base(kAlice)),
            Mismatch
        );
        at.node.tamper = [&](const std::string& method, json& result) {
            if (method == "chain_proof") {
                result["value"] = nullptr;  // proven to be absent, says the node
            }
        };
        CHECK_THROWS_AS(
            slot == contracts::keys::beacon() ? static_cast<void>(chain.beacon())
                                              : static_cast<void>(chain.base(kAlice)),
            Mismatch
        );
    }
}

TEST_CASE("a stale block proves nothing where an age is asked for") {
    Meeting at;
    Trust trust;
    trust.max_age_s = 60;
    CHECK(at.refusal({.chain_id = {}, .genesis = {}, .trust = trust}).empty());
    at.node.block.header.time_ms -= 3'600'000;
    at.node.block = solo::sign_block(at.node.block.header, {}, at.node.proposer);
    CHECK(at.refusal({.chain_id = {}, .genesis = {}, .trust = trust}).find("stale") != std::string::npos);
}

TEST_CASE("a file that does not say which chain is an error of its own") {
    TemporaryDirectory home;
    std::ofstream(anchor_file(home.path())) << R"({"format": 1})";
    CHECK_THROWS_AS(static_cast<void>(read_anchor(anchor_file(home.path()))), AnchorError);
    CHECK_FALSE(read_anchor(home.path() / "none.json").has_value());
}

TEST_CASE("LGT-5: a trusted block counts for as long as the chain's parameters say, and no longer") {
    std::ifstream file(folders::source() + "/tests/vectors/cometbft/light_blocks.json");
    std::map<std::uint64_t, light::LightBlock> blocks;
    const json document = json::parse(file);
    for (const json& item : document.at("blocks")) {
        light::LightBlock block = client::decode_light_block(item.at("commit"), item.at("validators"));
        blocks.emplace(block.header.height, std::move(block));
    }
    const light::Header& first = blocks.begin()->second.header;
    const std::uint64_t last = blocks.rbegin()->first;
    ForgedNode node;
    node.answer = [&](const std::string& method, const json& params) -> std::optional<json> {
        if (method == "chain_light_block") {
            return json{{"raw", to_hex(codec::encode(blocks.at(params.at("height").get<std::uint64_t>())))}};
        }
        return method == "chain_wait" ? std::optional(json{{"height", last}}) : std::nullopt;
    };
    node.serve();
    client::RpcClient rpc(node.url());
    Anchor anchor{
        .chain_id = first.chain_id,
        .genesis = {},
        .engine = "cometbft",
        .proposer = {},
        .block = {.height = first.height, .hash = light::header_hash(first)},
        .trusting_s = 0,
        .height = Height{first.height}};
    const std::int64_t age =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count() -
        first.time.seconds;
    const TemporaryDirectory home;
    const auto read_with = [&](std::int64_t trusting_s) {
        anchor.trusting_s = trusting_s;
        write_anchor(anchor_file(home.path()), anchor);
        return read_signed(rpc, Height{last}, trust_by(read_anchor(anchor_file(home.path())), {}));
    };
    CHECK(read_with(age + 1'000).hash == light::header_hash(blocks.at(last).header));
    CHECK_THROWS_WITH_AS(read_with(age - 1'000), doctest::Contains("older than the trusting period"), Mismatch);
}
