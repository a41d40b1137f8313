// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/proof.hpp>

#include <chrono>
#include <string>

#include <consensus/solo/block.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <core/merkle/jmt.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kBlockPatience{10};

const json& member(const json& object, const char* name) {
    if (!object.is_object() || !object.contains(name)) {
        throw Mismatch(std::string("the node's answer lacks \"") + name + "\"");
    }
    return object.at(name);
}

std::string text_member(const json& object, const char* name) {
    const json& value = member(object, name);
    if (!value.is_string()) {
        throw Mismatch(std::string("the node's answer has no text in \"") + name + "\"");
    }
    return value.get<std::string>();
}

/// Addresses and hex name accounts alike.
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
    const json& value = member(object, name);
    if (!value.is_number_unsigned()) {
        throw Mismatch(std::string("the node's answer has no number in \"") + name + "\"");
    }
    return value.get<std::uint64_t>();
}

}  // namespace

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

ProvenSlot prove_slot(net::RpcClient& rpc, const Bytes& key, std::optional<Height> height) {
    json params{{"key", to_hex(key)}};
    if (height) {
        params["height"] = height->value;
    }
    const json answer = rpc.call("chain_proof", params);
    ProvenSlot slot;
    slot.height = Height{number_member(answer, "height")};
    slot.app_hash = hash_member(answer, "app_hash");
    if (height && slot.height != *height) {
        throw Mismatch("the node proved height " + std::to_string(slot.height.value) + " instead of " +
                       std::to_string(height->value));
    }
    if (!member(answer, "value").is_null()) {
        slot.value = hex_member(answer, "value");
    }
    const auto proof = codec::decode<merkle::JmtProof>(hex_member(answer, "proof"));
    if (!proof) {
        throw Mismatch("the proof of slot " + to_hex(key) + " does not decode");
    }
    if (!merkle::verify_proof(slot.app_hash, key, slot.value, *proof)) {
        throw Mismatch("the proof of slot " + to_hex(key) + " does not lead to the app hash of height " +
                       std::to_string(slot.height.value));
    }
    return slot;
}

void check_signed(net::RpcClient& rpc, const ProvenSlot& slot, const std::optional<AccountId>& proposer) {
    const json status = rpc.call("node_status");
    const AccountId signer = proposer ? *proposer : account_member(status, "proposer");
    const Height next{slot.height.value + 1};
    const std::string name = "block " + std::to_string(next.value);
    const auto give_up_at = std::chrono::steady_clock::now() + kBlockPatience;
    while (rpc.wait_for_block(slot.height, std::chrono::seconds(5)) < next) {
        if (std::chrono::steady_clock::now() > give_up_at) {
            throw net::NetTimeout(name + ", which will sign the state of height " +
                                  std::to_string(slot.height.value) + ", is not there yet");
        }
    }
    const auto block = codec::decode<solo::Block>(hex_member(rpc.call("chain_block", {{"height", next.value}}), "raw"));
    if (!block) {
        throw Mismatch(name + " does not decode");
    }
    if (block->header.height != next || block->header.chain_id != text_member(status, "chain_id")) {
        throw Mismatch("the node sent another block in place of " + name);
    }
    if (!solo::is_authentic(*block)) {
        throw Mismatch(name + " is not signed by the proposer that it names");
    }
    if (block->header.proposer != signer) {
        throw Mismatch(name + " is signed by " + crypto::to_address(block->header.proposer) +
                       ", not by the chain's proposer " + crypto::to_address(signer));
    }
    if (block->header.app_hash != slot.app_hash) {
        throw Mismatch(name + " carries the app hash " + to_hex(block->header.app_hash.view()) +
                       ", the proof is against " + to_hex(slot.app_hash.view()));
    }
}

}  // namespace assay::cli
