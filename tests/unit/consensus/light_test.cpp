// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <client/light_source.hpp>
#include <consensus/light/verify.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <tests/unit/consensus/light_chain.hpp>
#include <tests/unit/folders.hpp>

namespace assay::light {
namespace {

using namespace test;

// --- blocks that CometBFT itself made -----------------------------------------------------------------------------

std::vector<LightBlock> real_blocks() {
    std::ifstream file(folders::source() + "/tests/vectors/cometbft/light_blocks.json");
    const auto document = nlohmann::json::parse(file);
    std::vector<LightBlock> out;
    for (const auto& item : document.at("blocks")) {
        out.push_back(client::decode_light_block(item.at("commit"), item.at("validators")));
    }
    return out;
}

TEST_CASE("LGT-1, LGT-2: blocks of a real chain verify, the first one included") {
    const auto blocks = real_blocks();
    REQUIRE(blocks.size() == 5);
    for (const LightBlock& block : blocks) {
        CHECK(check_block(block, block.header.chain_id).has_value());
        CHECK(codec::decode<LightBlock>(codec::encode(block)).value() == block);
    }
}

void flip(Bytes& bytes) {
    if (bytes.empty()) {
        bytes.push_back(0);
    }
    bytes[0] ^= 1U;
}

TEST_CASE("LGT-7: a block of a real chain is the one that the next one names") {
    const auto blocks = real_blocks();  // 1, 2, 30, 31, 50
    for (const std::size_t later : {1U, 3U}) {
        const LightBlock& before = blocks[later - 1];
        const auto found =
            verify_height({blocks[later]}, before.header.height, [&](std::uint64_t) { return before; }, {});
        REQUIRE(found.has_value());
        CHECK(*found == before);
    }
    const auto other = verify_height({blocks[4]}, 49, [&](std::uint64_t) { return blocks[3]; }, {});
    CHECK(other.error().error == LightError::kLink);
}

TEST_CASE("LGT-1: every field of a header is part of its hash") {
    const LightBlock real = real_blocks().back();
    const Hash256 hash = header_hash(real.header);
    const std::vector<std::function<void(Header&)>> changes{
        [](Header& h) { ++h.block_version; },
        [](Header& h) { ++h.app_version; },
        [](Header& h) { h.chain_id += "x"; },
        [](Header& h) { ++h.height; },
        [](Header& h) { ++h.time.seconds; },
        [](Header& h) { ++h.time.nanos; },
        [](Header& h) { flip(h.last_block_id.hash); },
        [](Header& h) { ++h.last_block_id.parts; },
        [](Header& h) { flip(h.last_block_id.parts_hash); },
        [](Header& h) { flip(h.last_commit_hash); },
        [](Header& h) { flip(h.data_hash); },
        [](Header& h) { flip(h.validators_hash); },
        [](Header& h) { flip(h.next_validators_hash); },
        [](Header& h) { flip(h.consensus_hash); },
        [](Header& h) { flip(h.app_hash); },
        [](Header& h) { flip(h.last_results_hash); },
        [](Header& h) { flip(h.evidence_hash); },
        [](Header& h) { flip(h.proposer_address); }};
    for (const auto& change : changes) {
        Header changed = real.header;
        change(changed);
        CHECK(header_hash(changed) != hash);
    }
}

TEST_CASE("LGT-1, LGT-2: an altered block of a real chain does not verify") {
    const LightBlock real = real_blocks().back();
    const std::string chain = real.header.chain_id;
    const auto error_of = [&](const std::function<void(LightBlock&)>& change) {
        LightBlock altered = real;
        change(altered);
        const auto checked = check_block(altered, chain);
        REQUIRE_FALSE(checked.has_value());
        return checked.error();
    };
    CHECK(error_of([](LightBlock& b) { b.header.app_hash[0] ^= 1U; }) == LightError::kCommit);
    CHECK(error_of([](LightBlock& b) { b.header.chain_id = "other"; }) == LightError::kChain);
    CHECK(error_of([](LightBlock& b) { b.validators[0].power += 1; }) == LightError::kValidators);
    CHECK(error_of([](LightBlock& b) { b.validators.pop_back(); }) == LightError::kValidators);
    CHECK(error_of([](LightBlock& b) { b.validators.clear(); }) == LightError::kValidators);
    CHECK(error_of([](LightBlock& b) { b.commit.signatures.pop_back(); }) == LightError::kCommit);
    CHECK(error_of([](LightBlock& b) { ++b.commit.height; }) == LightError::kCommit);
    CHECK(error_of([](LightBlock& b) { b.commit.signatures[0].signature[5] ^= 1U; }) == LightError::kSignature);
    CHECK(error_of([](LightBlock& b) { ++b.commit.signatures[1].time.nanos; }) == LightError::kSignature);
    CHECK(error_of([](LightBlock& b) { ++b.commit.round; }) == LightError::kSignature);
    CHECK(error_of([](LightBlock& b) {
              std::swap(b.commit.signatures[0], b.commit.signatures[1]);
          }) == LightError::kCommit);
    // Of four equal validators three signatures are enough, two are not.
    const auto silence = [](LightBlock& b, std::size_t i) { b.commit.signatures[i] = CommitSignature{}; };
    LightBlock three = real;
    silence(three, 2);
    CHECK(check_block(three, chain).has_value());
    CHECK(error_of([&](LightBlock& b) { silence(b, 0), silence(b, 2); }) == LightError::kPower);
}

TEST_CASE("an engine's answer that is not as it must be is refused with the name of what is wrong") {
    std::ifstream file(folders::source() + "/tests/vectors/cometbft/light_blocks.json");
    const auto document = nlohmann::json::parse(file);
    const auto& good = document.at("blocks").at(2);
    const auto refused = [&](const std::function<void(nlohmann::json&)>& change, const char* part) {
        auto bad = good;
        change(bad);
        CHECK_THROWS_WITH(client::decode_light_block(bad.at("commit"), bad.at("validators")), doctest::Contains(part));
    };
    const auto header = [](nlohmann::json& b) -> nlohmann::json& { return b["commit"]["signed_header"]["header"]; };
    const auto vote = [](nlohmann::json& b) -> nlohmann::json& {
        return b["commit"]["signed_header"]["commit"]["signatures"][0];
    };
    refused([&](auto& b) { header(b)["height"] = "12x"; }, "height");
    refused([&](auto& b) { header(b)["time"] = "yesterday"; }, "time");
    refused([&](auto& b) { header(b)["time"] = "2026-13-01T00:00:00Z"; }, "time");
    refused([&](auto& b) { header(b)["time"] = "2026-11-01T00:00:00.1234567890Z"; }, "time");
    refused([&](auto& b) { header(b)["app_hash"] = "abc"; }, "app_hash");
    refused([&](auto& b) { header(b).erase("chain_id"); }, "chain_id");
    refused([&](auto& b) { vote(b)["block_id_flag"] = 9; }, "flag");
    refused([&](auto& b) { vote(b)["signature"] = "%%%%"; }, "signature");
    refused([&](auto& b) { b["validators"]["validators"][0]["pub_key"]["type"] = "other"; }, "ed25519");
    refused([&](auto& b) { b["validators"].erase("validators"); }, "not understood");
}

// --- chains made here ----------------------------------------------------------------------------------------------

constexpr Policy policy() { return {}; }
Policy at(std::uint64_t height) {
    Policy out = policy();
    out.chain_id = "made";
    out.now_seconds = static_cast<std::int64_t>(1'000'000 + height);
    return out;
}

TEST_CASE("LGT-3: the next block must have the validators that the trusted one names") {
    const Chain chain([](std::uint64_t h) { return h < 10 ? Chain::Numbers{1, 2, 3, 4} : Chain::Numbers{1, 2, 3, 5}; });
    CHECK(verify_next({chain.block(9)}, chain.block(10), at(10)).has_value());
    const Chain other([](std::uint64_t) { return Chain::Numbers{1, 2, 3, 4}; });
    CHECK(verify_next({chain.block(9)}, other.block(10), at(10)).error() == LightError::kNextValidators);
    CHECK(verify_next({chain.block(9)}, chain.block(9), at(10)).error() == LightError::kOrder);
    CHECK(verify_next({chain.block(9)}, chain.block(8), at(10)).error() == LightError::kOrder);
}

TEST_CASE("LGT-4: a later block needs more than a third of the trusted power") {
    const auto with = [](Chain::Numbers later) {
        return Chain([later](std::uint64_t h) { return h < 10 ? Chain::Numbers{1, 2, 3} : later; });
    };
    CHECK(verify_next({with({1, 2, 5}).block(5)}, with({1, 2, 5}).block(20), at(20)).has_value());
    // One of three is a third, no more.
    CHECK(verify_next({with({1, 5, 6}).block(5)}, with({1, 5, 6}).block(20), at(20)).error() == LightError::kTrust);
    CHECK(verify_next({with({4, 5, 6}).block(5)}, with({4, 5, 6}).block(20), at(20)).error() == LightError::kTrust);
}

TEST_CASE("LGT-4: a validator that stands twice in a commit counts once") {
    const Chain chain([](std::uint64_t h) { return h < 10 ? Chain::Numbers{1, 2, 3} : Chain::Numbers{1, 1, 1, 1}; });
    CHECK(verify_next({chain.block(5)}, chain.block(20), at(20)).error() == LightError::kTrust);
}

TEST_CASE("LGT-5: old trust and blocks from the future are refused") {
    const Chain chain([](std::uint64_t) { return Chain::Numbers{1, 2, 3}; });
    Policy late = at(20);
    late.now_seconds += late.trusting_seconds + 100;
    CHECK(verify_next({chain.block(5)}, chain.block(20), late).error() == LightError::kExpired);
    CHECK(verify_next({chain.block(5)}, chain.block(20), at(9)).error() == LightError::kFuture);
    CHECK(verify_next({chain.block(5)}, chain.block(20), at(10)).has_value());
}

TEST_CASE("LGT-6: verification goes through as few blocks as the changes of validators need") {
    // Every ten blocks one of six validators is replaced.
    const Chain chain([](std::uint64_t h) {
        Chain::Numbers out;
        for (std::uint64_t i = 0; i < 6; ++i) {
            out.push_back(static_cast<std::uint8_t>(h / 10 + i + 1));
        }
        return out;
    });
    std::vector<std::uint64_t> asked;
    const Source source = [&](std::uint64_t height) {
        asked.push_back(height);
        return chain.block(height);
    };
    const auto verified = verify_height({chain.block(1)}, 200, source, at(200));
    REQUIRE(verified.has_value());
    CHECK(verified->header.height == 200);
    CHECK(asked.size() < 40);
    asked.clear();
    CHECK(verify_height({chain.block(1)}, 15, source, at(15)).has_value());
    CHECK(asked == std::vector<std::uint64_t>{15});
    CHECK(verify_height({chain.block(7)}, 7, source, at(15)).value() == chain.block(7));
}

TEST_CASE("LGT-6: a forged block is named by its height, wherever it stands") {
    const Chain chain([](std::uint64_t h) { return h < 50 ? Chain::Numbers{1, 2, 3} : Chain::Numbers{4, 5, 6}; });
    const Chain forged([](std::uint64_t h) { return h < 50 ? Chain::Numbers{1, 2, 3} : Chain::Numbers{7, 8, 9}; });
    CHECK(verify_height(
              {chain.block(1)}, 100, [&](std::uint64_t h) { return chain.block(h); }, at(100)
    )
              .has_value());
    // Whoever lies about the validators after height 49 cannot have 49's name them.
    const auto lie = [&](std::uint64_t h) { return h < 50 ? chain.block(h) : forged.block(h); };
    const auto found = verify_height({chain.block(1)}, 100, lie, at(100));
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().height == 50);
    CHECK(found.error().error == LightError::kNextValidators);
    // Another block than the one asked for.
    const auto other = verify_height(
        {chain.block(1)}, 30, [&](std::uint64_t) { return chain.block(20); }, at(100)
    );
    REQUIRE_FALSE(other.has_value());
    CHECK(other.error().error == LightError::kOrder);
}

TEST_CASE("LGT-7: a block before the trusted one is verified by the hashes between") {
    const Chain made([](std::uint64_t h) { return h < 6 ? Chain::Numbers{1, 2, 3} : Chain::Numbers{4, 5, 6}; });
    std::vector<LightBlock> blocks{LightBlock{}};  // by height
    for (std::uint64_t height = 1; height <= 12; ++height) {
        blocks.push_back(made.block(height));
        blocks.back().header.last_block_id.hash =
            height == 1 ? Bytes{} : bytes_of(header_hash(blocks[height - 1].header));
        Chain::sign(blocks.back(), made.signers_at(height));
    }
    std::vector<std::uint64_t> asked;
    const Source source = [&](std::uint64_t height) {
        asked.push_back(height);
        return blocks.at(height);
    };
    CHECK(verify_height({blocks[9]}, 5, source, at(12)).value() == blocks[5]);
    CHECK(asked == std::vector<std::uint64_t>{8, 7, 6, 5});
    // Old trust is no obstacle: who signed does not matter.
    Policy late = at(12);
    late.now_seconds += late.trusting_seconds + 100;
    CHECK(verify_height({blocks[9]}, 1, source, late).value() == blocks[1]);

    const LightBlock honest = blocks[6];
    blocks[6].header.app_hash[0] ^= 1U;
    Chain::sign(blocks[6], made.signers_at(6));  // by the same validators: another block of that height all the same
    const auto forged = verify_height({blocks[9]}, 5, source, at(12));
    REQUIRE_FALSE(forged.has_value());
    CHECK(forged.error().error == LightError::kLink);
    CHECK(forged.error().height == 6);
    blocks[6] = honest;
    const auto other = verify_height(
        {blocks[9]}, 5, [&](std::uint64_t) { return blocks[8]; }, at(12)
    );
    REQUIRE_FALSE(other.has_value());
    CHECK(other.error().height == 7);
}

}  // namespace
}  // namespace assay::light
