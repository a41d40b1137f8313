// SPDX-License-Identifier: Apache-2.0
#include <client/signed_header.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <consensus/light/light_block.hpp>
#include <consensus/light/verify.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>

namespace assay::client {
namespace {

constexpr std::uint64_t kMaxBlocksBack = 10'000;  ///< LGT-7: each is asked for

SignedHeader signed_by_proposer(const BlockSource& blocks, Height height, const Signers& signers) {
    Bytes raw = blocks(height.value);
    const solo::BlockHeader header = check_solo_block(raw, height, signers).header;
    return {
        .app_hash = header.app_hash,
        .time_s = static_cast<std::int64_t>(header.time_ms / 1'000U),
        .hash = solo::block_hash(header),
        .txs_hash = Bytes(header.txs_root.data.begin(), header.txs_root.data.end()),
        .raw = std::move(raw)};
}

light::LightBlock light_block(const BlockSource& blocks, std::uint64_t height) {
    auto block = codec::decode<light::LightBlock>(blocks(height));
    if (!block) {
        throw Mismatch("light block " + std::to_string(height) + " does not decode");
    }
    return *std::move(block);
}

/// The block that verification begins with.
light::Trusted trusted_block(
    const BlockSource& blocks, std::uint64_t from, const std::string& chain_id, const Trust& trust
) {
    light::Trusted trusted{light_block(blocks, from)};
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
    return trusted;
}

SignedHeader signed_by_validators(
    const BlockSource& blocks, Height height, const std::string& chain_id, const Trust& trust, std::int64_t now_s
) {
    light::Policy policy{.chain_id = chain_id, .now_seconds = now_s};
    policy.trusting_seconds = trust.trusting_s.value_or(policy.trusting_seconds);  // LGT-5
    const std::uint64_t from = trust.block ? trust.block->height : height.value;
    if (from > height.value + kMaxBlocksBack) {
        throw Mismatch(
            "the trusted block " + std::to_string(from) + " is " + std::to_string(from - height.value) +
            " blocks later than block " + std::to_string(height.value) + ", and at most " +
            std::to_string(kMaxBlocksBack) + " are followed back: trust an earlier one"
        );
    }
    const light::Trusted trusted = trusted_block(blocks, from, chain_id, trust);
    const auto verified = light::verify_height(
        trusted, height.value, [&blocks](std::uint64_t at) { return light_block(blocks, at); }, policy
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
        .txs_hash = verified->header.data_hash,
        .raw = codec::encode(*verified)};
    if (app_hash.size() != out.app_hash.data.size()) {
        throw Mismatch("block " + std::to_string(height.value) + " carries no app hash");
    }
    std::copy(app_hash.begin(), app_hash.end(), out.app_hash.data.begin());
    return out;
}

}  // namespace

std::int64_t now_seconds() {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

solo::Block check_solo_block(ByteView raw, Height height, const Signers& signers) {
    const std::string name = "block " + std::to_string(height.value);
    auto block = codec::decode<solo::Block>(raw);
    if (!block) {
        throw Mismatch(name + " does not decode");
    }
    if (block->header.height != height || block->header.chain_id != signers.chain_id) {
        throw Mismatch(
            "another block is in place of " + name + ": block " + std::to_string(block->header.height.value) +
            " of chain \"" + block->header.chain_id + "\""
        );
    }
    if (!solo::is_authentic(*block)) {
        throw Mismatch(name + " is not signed by the proposer that it names");
    }
    if (block->header.proposer != signers.proposer) {
        throw Mismatch(
            name + " is signed by " + crypto::to_address(block->header.proposer) + ", not by the chain's proposer " +
            crypto::to_address(signers.proposer)
        );
    }
    return *std::move(block);
}

SignedHeader check_header(
    const BlockSource& blocks, Height height, const Signers& signers, const Trust& trust, std::int64_t now_s
) {
    return signers.by_many ? signed_by_validators(blocks, height, signers.chain_id, trust, now_s)
                           : signed_by_proposer(blocks, height, signers);
}

bool commits_to(const Bytes& txs_hash, const std::vector<Bytes>& hashes) {
    const Hash256 root = light::rfc6962_root(hashes);
    return Bytes(root.data.begin(), root.data.end()) == txs_hash;
}

}  // namespace assay::client
