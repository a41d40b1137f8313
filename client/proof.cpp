// SPDX-License-Identifier: Apache-2.0
#include <client/proof.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

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

BlockSource blocks_of(RpcClient& rpc, bool by_many) {
    return [&rpc, by_many](std::uint64_t height) {
        return hex_member(rpc.call(by_many ? "chain_light_block" : "chain_block", {{"height", height}}), "raw");
    };
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
    slot.proof = hex_member(answer, "proof");
    const auto proof = codec::decode<merkle::JmtProof>(slot.proof);
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

Signers signers_of(const json& status, const Trust& trust) {
    Signers out{.chain_id = chain_id_of(status, trust), .by_many = is_signed_by_many(status, trust), .proposer = {}};
    if (!out.by_many) {
        out.proposer = trust.proposer ? *trust.proposer : account_member(status, "proposer");
    }
    return out;
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
    SignedHeader out = check_header(blocks_of(rpc, by_many), height, signers_of(status, trust), trust, now_seconds());
    const std::int64_t age = now_seconds() - out.time_s;
    if (trust.max_age_s && age > *trust.max_age_s) {
        throw Mismatch(
            "the state is stale: block " + std::to_string(height.value) + ", which signs it, was made " +
            std::to_string(age) + " s ago, and " + std::to_string(*trust.max_age_s) + " s are allowed"
        );
    }
    return out;
}

SignedHeader read_signing(RpcClient& rpc, const ProvenSlot& slot, const Trust& trust) {
    const Height next{slot.height.value + 1};
    await_block(rpc, next);
    SignedHeader found = read_signed(rpc, next, trust);
    if (found.app_hash != slot.app_hash) {
        throw Mismatch(
            "block " + std::to_string(next.value) + " carries the app hash " + to_hex(found.app_hash.view()) +
            ", the proof is against " + to_hex(slot.app_hash.view())
        );
    }
    return found;
}

std::int64_t check_signed(RpcClient& rpc, const ProvenSlot& slot, const Trust& trust) {
    return read_signing(rpc, slot, trust).time_s;
}

bool holds_tx(RpcClient& rpc, Height height, const Hash256& tx, const Trust& trust) {
    const json status = rpc.call("node_status");
    const Signers signers = signers_of(status, trust);
    const BlockSource blocks = blocks_of(rpc, signers.by_many);
    if (!signers.by_many) {
        const solo::Block block = check_solo_block(blocks(height.value), height, signers);
        return std::any_of(block.txs.begin(), block.txs.end(), [&](const Bytes& bytes) {
            return contracts::tx_hash(bytes) == tx;
        });
    }
    const SignedHeader header = check_header(blocks, height, signers, trust, now_seconds());
    std::vector<Bytes> hashes;
    const Bytes wanted(tx.data.begin(), tx.data.end());
    const json block = rpc.call("chain_block", {{"height", height.value}});
    for (const json& item : member_of(block, "txs")) {
        hashes.push_back(hex_member(item, "hash"));
    }
    if (!commits_to(header.txs_hash, hashes)) {
        throw Mismatch(
            "the node's list of the transactions of block " + std::to_string(height.value) +
            " is not the one that its validators signed"
        );
    }
    return std::find(hashes.begin(), hashes.end(), wanted) != hashes.end();
}

}  // namespace assay::client
