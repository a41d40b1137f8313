// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <contracts/chain/chain.hpp>
#include <core/crypto/keys.hpp>
#include <tests/liability/source.hpp>
#include <tests/model/records.hpp>
#include <tests/simulation/replica.hpp>

namespace assay::liability {

/// Owns some accounts and sends from them whatever the list of actions allows: messages of every kind whose parts are
/// invented, copied from what others sent, or damaged copies. It knows no rule but how to bond.
class Attacker {
  public:
    Attacker(std::uint64_t seed, const contracts::Genesis& genesis) : source_(seed * 31 + 7), genesis_(genesis) {}

    void add_account(const crypto::SecretKey& key);
    bool owns(const AccountId& account) const { return accounts_.contains(account); }
    /// Learns what the transaction carries, as soon as a node has it.
    void see_transaction(const Bytes& tx);
    /// Sends some messages to the node.
    void act(simulation::Replica& node, const model::Mirror& chain);

  private:
    contracts::Action choose_action(const AccountId& sender, const model::Mirror& chain);
    /// Some answers name the height at which they are due, others any.
    contracts::TxBody make_body(
        const simulation::Replica& node, const AccountId& sender, std::uint64_t nonce, bool is_answer,
        const contracts::Action& action
    );
    void see_state(const model::Mirror& chain);

    Source source_;
    const contracts::Genesis& genesis_;
    std::map<AccountId, crypto::SecretKey> accounts_;
    std::map<AccountId, std::uint64_t> next_nonces_;
    std::set<contracts::TaskId> known_tasks_;
    std::set<contracts::DisputeId> known_disputes_;
};

}  // namespace assay::liability
