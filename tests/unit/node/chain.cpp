// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/node/chain.hpp>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <tests/unit/consensus/toy_machine.hpp>

namespace assay::node::test {

crypto::SecretKey key(std::uint8_t seed) { return solo::test::toy_key(seed); }

contracts::Genesis make_genesis() {
    contracts::Genesis genesis{.chain_id = kChainId, .params = {}, .balances = {}};
    for (std::uint8_t seed = 1; seed <= 4; ++seed) {
        genesis.balances[key(seed).account()] = Amount{kRich};
    }
    return genesis;
}

Bytes make_tx(const crypto::SecretKey& from, std::uint64_t nonce, const contracts::Action& action, Amount fee) {
    return codec::encode(contracts::sign_tx(
        {.chain_id = kChainId, .sender = from.account(), .nonce = nonce, .fee = fee, .action = action}, from
    ));
}

Bytes transfer(const crypto::SecretKey& from, std::uint64_t nonce, const AccountId& to, std::uint64_t grains) {
    return make_tx(from, nonce, contracts::Transfer{.to = to, .amount = {grains}});
}

consensus::FinalizeRequest make_block(std::uint64_t height, std::vector<Bytes> txs) {
    return {
        .height = {height},
        .time_ms = 1'000 * height,
        .block_hash = crypto::sha256(as_bytes("block " + std::to_string(height))),
        .proposer = key(9).account(),
        .txs = std::move(txs),
    };
}

}  // namespace assay::node::test
