// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/squatter.hpp>

#include <cstdint>

#include <core/crypto/ed25519.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/validators/validators.hpp>
#include <contracts/state/validator.hpp>

namespace assay::demo {
namespace {

using nlohmann::json;

constexpr std::size_t kAccounts = 32;
constexpr std::size_t kKeysOfEach = contracts::kMaxRegistered / kAccounts;
constexpr Amount kSquatterFunds{30'000'000};
constexpr Amount kSquatterStake{1'000'000};
// Blocks that are full of registrations raise the base fee.
constexpr std::uint64_t kPercentOfBaseFee = 400;
constexpr std::uint64_t kLeastCharged = 2 * kAccounts;

Outsider::Funds funds_of_all() {
    Outsider::Funds funds;
    for (std::size_t i = 1; i <= kAccounts; ++i) {
        funds["squatter-" + std::to_string(i)] = kSquatterFunds;
    }
    return funds;
}

crypto::Ed25519Key consensus_key(const std::string& name, std::size_t number) {
    static const crypto::TaggedHash kHash("assay/demo-consensus-key");
    const std::string text = name + "/" + std::to_string(number);
    return crypto::Ed25519Key(kHash(as_bytes(text)).data);
}

}  // namespace

Squatter::Squatter(Network& network) : Outsider(network, funds_of_all()) {}

void Squatter::note(const Answer& answer) {
    ++tried_;
    if (answer.tx) {
        sent_.push_back(*answer.tx);
    } else {
        ++refusals_[answer.refusal];
    }
}

void Squatter::register_keys(const std::string& name) {
    const Hash256 claim = contracts::consensus_key_claim(network_.rpc().chain_id(), network_.key(name).account());
    const crypto::Ed25519Key other = consensus_key(name, kKeysOfEach);
    const contracts::Action bond = contracts::Bond{.role = contracts::Role::kValidator, .amount = kSquatterStake};
    static_cast<void>(submit(name, 0, fee_of(bond, kPercentOfBaseFee), bond));
    for (std::size_t i = 0; i < kKeysOfEach; ++i) {
        const crypto::Ed25519Key key = consensus_key(name, i);
        contracts::RegisterValidator action;
        action.key.data = key.public_key();
        for (const crypto::Ed25519Key& signer : {other, key}) {
            action.proof.data = signer.sign(claim.view());
            const auto nonce = account(name).at("next_nonce").get<std::uint64_t>();
            note(submit(name, nonce, fee_of(action, kPercentOfBaseFee), action));
        }
    }
}

void Squatter::act(const contracts::Task& own) {
    if (has_begun_ || !is_judged(own)) {
        return;
    }
    has_begun_ = true;
    for (const auto& [name, unused] : funds()) {
        register_keys(name);
    }
}

json Squatter::report() {
    json reasons = refusals_;
    std::size_t charged = 0;
    for (const Hash256& tx : sent_) {
        try {
            const json found = network_.rpc().call("tx_get", {{"hash", to_hex(tx.view())}});
            if (found.at("error").is_string()) {
                const std::string reason = found.at("error");
                reasons[reason] = reasons.value(reason, 0U) + 1U;
                ++charged;
            }
        } catch (const client::RpcError&) {
            // The mempool dropped it when its turn came: the state refuses it, so that it is never charged.
        }
    }
    const json all = network_.rpc().call("validator_list").at("validators");
    std::size_t registered = 0;
    for (const json& validator : all) {
        const auto account = fixed_from_hex<AccountId>(validator.at("account").get<std::string>());
        registered += account && funds().contains(network_.name_of(*account)) ? 1U : 0U;
    }
    return {
        {"tried", tried_},
        {"charged", charged},
        {"reasons", reasons},
        {"registered", registered},
        {"places", contracts::kMaxRegistered - all.size()}};
}

std::vector<std::string> Squatter::judge(const json& report) const {
    std::vector<std::string> complaints;
    if (report.at("registered") != 0 || report.at("places") == 0) {
        complaints.emplace_back("somebody without stake is registered as a validator, or no place is free");
    }
    for (const char* reason : {"insufficient_stake", "key_not_proven"}) {
        if (!report.at("reasons").contains(reason)) {
            complaints.push_back(std::string("no registration failed as ") + reason);
        }
    }
    if (report.at("charged") < kLeastCharged) {
        complaints.emplace_back("few registrations reached a block, so nothing was tried");
    }
    return complaints;
}

}  // namespace assay::demo
