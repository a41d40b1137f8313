// SPDX-License-Identifier: Apache-2.0
#include <client/proof.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <consensus/light/verify.hpp>
#include <consensus/solo/block.hpp>
#include <contracts/state/protocol.hpp>
#include <contracts/transaction/transaction.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <core/merkle/jmt.hpp>

namespace assay::client {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kBlockPatience{10};
constexpr const char* kManySign = "cometbft";
constexpr std::uint64_t kMaxBlocksBack = 10'000;  ///< LGT-7: each is asked for

const json& member_of(const json& object, const char* name) {
    if (!object.is_object() || !object.contains(name)) {
        throw Mismatch(std::string("the node's answer lacks \"") + name + "\"");
    }
    return object.at(name);
}

/// The block that signs a state may have yet to come.
void await_block(RpcClient& rpc, Height height) {
    const auto give_up_at = std::chrono::steady_clock::now() + kBlockPatience;
    const Height before{height.value - 1};
    while (rpc.wait_for_block(before, std::chrono::seconds(5)) < height) {
        if (std::chrono::steady_clock::now() > give_up_at) {
            throw http::NetTimeout(
                "block " + std::to_string(height.value) + ", which will sign the state of height " +
                std::to_string(before.value) + ", is not there yet"
            );
        }
    }
}

std::string chain_id_of(const json& status, const Trust& trust) {
    return trust.chain_id.empty() ? text_member(status, "chain_id") : trust.chain_id;
}

/// Whether validators sign the chain's blocks, or one proposer. What the home has pinned is not asked for.
bool is_signed_by_many(const json& status, const Trust& trust) {
    if (!trust.engine.empty()) {
        return trust.engine == kManySign;
    }
    return status.contains("engine") && status.at("engine") == kManySign;
}

solo::Block read_proposers(RpcClient& rpc, Height height, const json& status, const Trust& trust) {
    const AccountId signer = trust.proposer ? *trust.proposer : account_member(status, "proposer");
    const std::string name = "block " + std::to_string(height.value);
    auto block = codec::decode<solo::Block>(hex_member(rpc.call("chain_block", {{"height", height.value}}), "raw"));
    if (!block) {
        throw Mismatch(name + " does not decode");
    }
    if (block->header.height != height || block->header.chain_id != chain_id_of(status, trust)) {
        throw Mismatch("the node sent another block in place of " + name);
    }
    if (!solo::is_authentic(*block)) {
        throw Mismatch(name + " is not signed by the proposer that it names");
    }
    if (block->header.proposer != signer) {
        throw Mismatch(
            name + " is signed by " + crypto::to_address(block->header.proposer) + ", not by the chain's proposer " +
            crypto::to_address(signer)
        );
    }
    return *std::move(block);
}

SignedHeader signed_by_proposer(RpcClient& rpc, Height height, const json& status, const Trust& trust) {
    const solo::BlockHeader header = read_proposers(rpc, height, status, trust).header;
    return {
        .app_hash = header.app_hash,
        .time_s = static_cast<std::int64_t>(header.time_ms / 1'000U),
        .hash = solo::block_hash(header),
        .txs_hash = Bytes(header.txs_root.data.begin(), header.txs_root.data.end())};
}

light::LightBlock light_block(RpcClient& rpc, std::uint64_t height) {
    auto block =
        codec::decode<light::LightBlock>(hex_member(rpc.call("chain_light_block", {{"height", height}}), "raw"));
    if (!block) {
        throw Mismatch("light block " + std::to_string(height) + " does not decode");
    }
    return *std::move(block);
}

std::int64_t now_seconds() {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

SignedHeader signed_by_validators(RpcClient& rpc, Height height, const std::string& chain_id, const Trust& trust) {
    light::Policy policy{.chain_id = chain_id, .now_seconds = now_seconds()};
    policy.trusting_seconds = trust.trusting_s.value_or(policy.trusting_seconds);  // LGT-5
    const std::uint64_t from = trust.block ? trust.block->height : height.value;
    if (from > height.value + kMaxBlocksBack) {
        throw Mismatch(
            "the trusted block " + std::to_string(from) + " is " + std::to_string(from - height.value) +
            " blocks later than block " + std::to_string(height.value) + ", and at most " +
            std::to_string(kMaxBlocksBack) + " are followed back: trust an earlier one"
        );
    }
    const light::Trusted trusted{light_block(rpc, from)};
    const Hash256 hash = light::header_hash(trusted.block.header);
    if (trusted.block.header.height != from || (trust.block && hash != trust.block->hash)) {
        throw Mismatch(
            "the node's block " + std::to_string(from) + " has the hash " + to_hex(hash.view()) +
            ", not that of the trusted one"
        );
    }
    if (const auto checked = light::check_block(trusted.block, chain_id); !checked) {
        throw Mismatch("block " + std::to_string(from) + ": " + light::to_string(checked.error()));
    }
    const auto verified = light::verify_height(
        trusted, height.value, [&rpc](std::uint64_t at) { return light_block(rpc, at); }, policy
    );
    if (!verified) {
        throw Mismatch(
            "block " + std::to_string(verified.error().height) + ": " + light::to_string(verified.error().error)
        );
    }
    const Bytes& app_hash = verified->header.app_hash;
    SignedHeader out{
        .app_hash = {},
        .time_s = verified->header.time.seconds,
        .hash = light::header_hash(verified->header),
        .txs_hash = verified->header.data_hash};
    if (app_hash.size() != out.app_hash.data.size()) {
        throw Mismatch("block " + std::to_string(height.value) + " carries no app hash");
    }
    std::copy(app_hash.begin(), app_hash.end(), out.app_hash.data.begin());
    return out;
}

}  // namespace

std::string text_member(const json& object, const char* name) {
    const json& value = member_of(object, name);
    if (!value.is_string()) {
        throw Mismatch(std::string("the node's answer has no text in \"") + name + "\"");
    }
    return value.get<std::string>();
}

AccountId account_member(const json& object, const char* name) {
    const std::string text = text_member(object, name);
    if (const auto id = fixed_from_hex<AccountId>(text)) {
        return *id;
    }
    if (const auto id = crypto::decode_address(text)) {
        return *id;
    }
    throw Mismatch(std::string("the node's answer has no account in \"") + name + "\"");
}

std::uint64_t number_member(const json& object, const char* name) {
    const json& value = member_of(object, name);
    if (!value.is_number_unsigned()) {
        throw Mismatch(std::string("the node's answer has no number in \"") + name + "\"");
    }
    return value.get<std::uint64_t>();
}

Bytes hex_member(const json& object, const char* name) {
    if (auto bytes = from_hex(text_member(object, name))) {
        return *std::move(bytes);
    }
    throw Mismatch(std::string("the node's answer has no hex in \"") + name + "\"");
}

Hash256 hash_member(const json& object, const char* name) {
    if (const auto hash = fixed_from_hex<Hash256>(text_member(object, name))) {
        return *hash;
    }
    throw Mismatch(std::string("the node's answer has no hash in \"") + name + "\"");
}

ProvenSlot prove_slot(RpcClient& rpc, const Bytes& key, std::optional<Height> height) {
    json params{{"key", to_hex(key)}};
    if (height) {
        params["height"] = height->value;
    }
    const json answer = rpc.call("chain_proof", params);
    ProvenSlot slot;
    slot.height = Height{number_member(answer, "height")};
    slot.app_hash = hash_member(answer, "app_hash");
    if (height && slot.height != *height) {
        throw Mismatch(
            "the node proved height " + std::to_string(slot.height.value) + " instead of " +
            std::to_string(height->value)
        );
    }
    if (!member_of(answer, "value").is_null()) {
        slot.value = hex_member(answer, "value");
    }
    const auto proof = codec::decode<merkle::JmtProof>(hex_member(answer, "proof"));
    if (!proof) {
        throw Mismatch("the proof of slot " + to_hex(key) + " does not decode");
    }
    if (!merkle::verify_proof(slot.app_hash, key, slot.value, *proof)) {
        throw Mismatch(
            "the proof of slot " + to_hex(key) + " does not lead to the app hash of height " +
            std::to_string(slot.height.value)
        );
    }
    return slot;
}

void check_protocol(const json& status) {
    const std::uint64_t version = status.contains("protocol_version") ? number_member(status, "protocol_version") : 1;
    if (version != contracts::kProtocolVersion) {
        throw Mismatch(
            "the node speaks version " + std::to_string(version) + " of the protocol, and this program version " +
            std::to_string(contracts::kProtocolVersion) + "; install the release that the chain runs"
        );
    }
}

SignedHeader read_signed(RpcClient& rpc, Height height, const Trust& trust) {
    const json status = rpc.call("node_status");
    check_protocol(status);
    const bool by_many = is_signed_by_many(status, trust);
    if (!by_many && trust.block) {
        throw Mismatch("a trusted block was given, but the node says that one proposer signs this chain's blocks");
    }
    SignedHeader out = by_many ? signed_by_validators(rpc, height, chain_id_of(status, trust), trust)
                               : signed_by_proposer(rpc, height, status, trust);
    const std::int64_t age = now_seconds() - out.time_s;
    if (trust.max_age_s && age > *trust.max_age_s) {
        throw Mismatch(
            "the state is stale: block " + std::to_string(height.value) + ", which signs it, was made " +
            std::to_string(age) + " s ago, and " + std::to_string(*trust.max_age_s) + " s are allowed"
        );
    }
    return out;
}

std::int64_t check_signed(RpcClient& rpc, const ProvenSlot& slot, const Trust& trust) {
    const Height next{slot.height.value + 1};
    await_block(rpc, next);
    const SignedHeader found = read_signed(rpc, next, trust);
    if (found.app_hash != slot.app_hash) {
        throw Mismatch(
            "block " + std::to_string(next.value) + " carries the app hash " + to_hex(found.app_hash.view()) +
            ", the proof is against " + to_hex(slot.app_hash.view())
        );
    }
    return found.time_s;
}

bool holds_tx(RpcClient& rpc, Height height, const Hash256& tx, const Trust& trust) {
    const json status = rpc.call("node_status");
    if (!is_signed_by_many(status, trust)) {
        const solo::Block block = read_proposers(rpc, height, status, trust);
        return std::any_of(block.txs.begin(), block.txs.end(), [&](const Bytes& bytes) {
            return contracts::tx_hash(bytes) == tx;
        });
    }
    const SignedHeader header = signed_by_validators(rpc, height, chain_id_of(status, trust), trust);
    std::vector<Bytes> hashes;
    const Bytes wanted(tx.data.begin(), tx.data.end());
    const json block = rpc.call("chain_block", {{"height", height.value}});
    for (const json& item : member_of(block, "txs")) {
        hashes.push_back(hex_member(item, "hash"));
    }
    const Hash256 root = light::rfc6962_root(hashes);
    if (Bytes(root.data.begin(), root.data.end()) != header.txs_hash) {
        throw Mismatch(
            "the node's list of the transactions of block " + std::to_string(height.value) +
            " is not the one that its validators signed"
        );
    }
    return std::find(hashes.begin(), hashes.end(), wanted) != hashes.end();
}

}  // namespace assay::client
