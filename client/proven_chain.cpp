// SPDX-License-Identifier: Apache-2.0
#include <client/proven_chain.hpp>

#include <algorithm>

#include <utility>

#include <contracts/state/state.hpp>

namespace assay::client {
namespace {

using nlohmann::json;
namespace keys = contracts::keys;

/// Parameters are read again after so many blocks: a vote may have changed them (GOV-7).
constexpr std::uint64_t kParamsBlocks = 20;

}  // namespace

ProvenChain::ProvenChain(RpcClient& rpc, std::filesystem::path file, Expected expected)
    : rpc_(rpc), file_(std::move(file)), expected_(std::move(expected)) {
    refresh();
}

Trust ProvenChain::trust() const {
    Trust said = expected_.trust;
    return trust_by(anchor_, std::move(said));
}

/// The first use of the home: the node's word is taken for what the user has not said.
void ProvenChain::meet(const json& status) {
    anchor_ = {
        .chain_id = text_member(status, "chain_id"),
        .genesis = hash_member(status, "genesis_hash"),
        .engine = text_member(status, "engine"),
        .proposer = {},
        .block = {},
        .trusting_s = 0,
        .height = {}};
    if (anchor_.engine != kCometBft) {
        anchor_.proposer = expected_.trust.proposer ? *expected_.trust.proposer : account_member(status, "proposer");
        return;
    }
    if (!expected_.trust.block) {
        const Height tip{number_member(status, "height")};
        if (tip.value == 0) {
            throw Mismatch("the chain has no block yet whose validators could be pinned: wait for the first");
        }
        const SignedHeader header = read_signed(
            rpc_, tip, {.proposer = {}, .block = {}, .chain_id = anchor_.chain_id, .engine = anchor_.engine}
        );
        anchor_.block = {.height = tip.value, .hash = header.hash};
    }
}

void ProvenChain::hold_against(const json& status) const {
    const auto refuse = [this](const std::string& what, const std::string& said, const std::string& pinned) {
        throw Mismatch(
            "the node's chain has the " + what + " " + said + ", and this home is of the one with " + pinned +
            "; use another --home for another chain, or delete " + file_.string() + " if this one began anew"
        );
    };
    const std::string chain_id = text_member(status, "chain_id");
    if (chain_id != anchor_.chain_id) {
        refuse("id", chain_id, anchor_.chain_id);
    }
    const Hash256 genesis = hash_member(status, "genesis_hash");
    if (genesis != anchor_.genesis) {
        refuse("genesis hash", to_hex(genesis.view()), to_hex(anchor_.genesis.view()));
    }
}

void ProvenChain::refresh() {
    const auto known = read_anchor(file_);  // before the node is asked: others with this home may move it on
    const json status = rpc_.call("node_status");
    check_protocol(status);
    if (known) {
        anchor_ = *known;
    } else {
        meet(status);
    }
    if (expected_.chain_id && *expected_.chain_id != anchor_.chain_id) {
        throw Mismatch("the chain is " + anchor_.chain_id + ", not " + *expected_.chain_id);
    }
    if (expected_.genesis && *expected_.genesis != anchor_.genesis) {
        throw Mismatch(
            "the chain's genesis hash is " + to_hex(anchor_.genesis.view()) + ", not " +
            to_hex(expected_.genesis->view())
        );
    }
    hold_against(status);
    const Height tip{number_member(status, "height")};
    if (tip < anchor_.height) {
        throw Mismatch(
            "the node's chain ends at block " + std::to_string(tip.value) + ", and block " +
            std::to_string(anchor_.height.value) + " has been seen: the node is behind, or hides blocks"
        );
    }
    Anchor next = anchor_;
    if (tip.value == 0) {
        state_height_ = Height{0};
        app_hash_ = anchor_.genesis;
    } else {
        const SignedHeader header = read_signed(rpc_, tip, trust());
        state_height_ = Height{tip.value - 1};
        app_hash_ = header.app_hash;
        if (state_height_.value == 0 && app_hash_ != anchor_.genesis) {
            throw Mismatch("block 1 carries another app hash than the genesis that is pinned");
        }
        next.height = tip;
        next.block =
            anchor_.engine == kCometBft ? Trust::Block{.height = tip.value, .hash = header.hash} : Trust::Block{};
        if (expected_.trust.proposer && anchor_.engine != kCometBft) {
            next.proposer = *expected_.trust.proposer;
        }
        expected_.trust.block.reset();  // the pinned one has gone on from it
        if (anchor_.engine == kCometBft) {
            next.trusting_s = static_cast<std::int64_t>(params().trusting_period_ms / 1'000U);  // LGT-5
        }
    }
    if (!known || next != anchor_) {
        write_anchor(file_, next);
    }
    anchor_ = next;
}

std::optional<Bytes> ProvenChain::slot(const Bytes& key) {
    const ProvenSlot proven = prove_slot(rpc_, key, state_height_);
    if (proven.app_hash != app_hash_) {
        throw Mismatch(
            "the node's proof is against another state than the one that block " +
            std::to_string(state_height_.value + 1) + " carries"
        );
    }
    return proven.value;
}

template <class T>
std::optional<T> ProvenChain::find(const Bytes& key, const char* what) {
    const auto bytes = slot(key);
    if (!bytes) {
        return std::nullopt;
    }
    auto value = codec::decode<T>(*bytes);
    if (!value) {
        throw Mismatch(
            std::string("the proven record of ") + what + " does not decode: this program is of another version"
        );
    }
    return *std::move(value);
}

contracts::Params ProvenChain::params() {
    if (!params_ || state_height_.value >= params_height_.value + kParamsBlocks) {
        params_height_ = state_height_;
        params_ = find<contracts::Params>(keys::params(), "the parameters");
        if (!params_) {
            throw Mismatch("the proven state has no parameters");
        }
    }
    return *params_;
}

contracts::Account ProvenChain::account(const AccountId& account) {
    return find<contracts::Account>(keys::account(account), "the account").value_or(contracts::Account{});
}

contracts::Beacon ProvenChain::beacon() {
    return find<contracts::Beacon>(keys::beacon(), "the beacon").value_or(contracts::Beacon{});
}

Amount ProvenChain::base_fee() {
    const Amount least = params().gas_price_min;
    return std::max(find<Amount>(keys::base_fee(), "the base fee").value_or(least), least);
}

SigningBase ProvenChain::base(const AccountId& sender) {
    return {.chain_id = anchor_.chain_id, .params = params(), .base_fee = base_fee(), .nonce = account(sender).nonce};
}

bool ProvenChain::holds(Height height, const Hash256& tx) { return holds_tx(rpc_, height, tx, trust()); }

}  // namespace assay::client
