// SPDX-License-Identifier: Apache-2.0
#include <tests/liability/attacker.hpp>

#include <algorithm>

#include <contracts/chain/duty.hpp>
#include <contracts/duties/lane.hpp>
#include <core/codec/borsh.hpp>
#include <tests/unit/contracts/fixture.hpp>

namespace assay::liability {

using contracts::Action;
using contracts::test::kCoin;

void Attacker::add_account(const crypto::SecretKey& key) {
    accounts_.emplace(key.account(), key);
    source_.learn(key.account());
}

void Attacker::see_transaction(const Bytes& tx) {
    if (const auto decoded = codec::decode<contracts::Tx>(tx)) {
        source_.learn(decoded->body.sender);
        source_.learn(decoded->body.action);
    }
}

void Attacker::see_state(const model::Mirror& chain) {
    for (const auto& [id, task] : chain.world.tasks) {
        if (known_tasks_.insert(id).second) {
            source_.learn(id);
            source_.learn(task.spec);
        }
        for (const Hash256& root : task.checkpoints) {
            if (source_.chance(5)) {
                source_.learn(root);
            }
        }
    }
    for (const auto& [id, dispute] : chain.world.disputes) {
        if (known_disputes_.insert(id).second) {
            source_.learn(id);
        }
    }
}

Action Attacker::choose_action(const AccountId& sender, const model::Mirror& chain) {
    const auto person = chain.world.people.find(sender);
    const std::uint64_t balance = person == chain.world.people.end() ? 0 : person->second.balance;
    if (source_.chance(10) && balance > 100 * kCoin) {
        return contracts::Bond{source_.make<contracts::Role>(), {(1 + source_.below(60)) * kCoin}};
    }
    return source_.make<Action>();
}

contracts::TxBody Attacker::make_body(
    const simulation::Replica& node, const AccountId& sender, std::uint64_t nonce, bool is_answer, const Action& action
) {
    const contracts::Params& params = node.state()->params();
    if (is_answer) {
        const auto duty = contracts::find_duty(*node.state(), params, sender, action);
        const std::uint64_t due = duty && source_.chance(80) ? duty->due.value : source_.below(node.height() + 100);
        return {genesis_.chain_id, sender, due, Amount{}, action};
    }
    const std::uint64_t imposed = contracts::imposed_gas(action, params) * params.gas_price_min.grains;
    return {genesis_.chain_id, sender, nonce, Amount{2'000'000 + imposed}, action};
}

void Attacker::act(simulation::Replica& node, const model::Mirror& chain) {
    see_state(chain);
    for (const auto& [account, key] : accounts_) {
        const auto person = chain.world.people.find(account);
        const std::uint64_t committed = person == chain.world.people.end() ? 0 : person->second.nonce;
        std::uint64_t& next = next_nonces_[account];
        // What the mempool has dropped is sent anew under its nonce.
        next = source_.chance(10) ? committed : std::max(next, committed);
        for (std::uint64_t n = source_.below(4); n > 0; --n) {
            const bool is_answer = source_.chance(20);
            contracts::TxBody body = make_body(node, account, next, is_answer, choose_action(account, chain));
            if (source_.chance(15)) {
                body.owner = source_.make<AccountId>();  // OPR-5: of an account that has not named it, mostly
            }
            const bool is_new = node.submit(codec::encode(contracts::sign_tx(body, key))).has_value();
            next += is_new && !is_answer ? 1 : 0;
        }
    }
}

}  // namespace assay::liability
