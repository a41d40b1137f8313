// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <consensus/state_machine.hpp>
#include <contracts/chain/chain.hpp>
#include <core/crypto/keys.hpp>

/// Genesis, keys and signed transactions for the node's tests.
namespace assay::node::test {

inline constexpr const char* kChainId = "node-1";
inline constexpr std::uint64_t kRich = 1'000'000'000'000;

crypto::SecretKey key(std::uint8_t seed);
/// Keys 1 to 4 have kRich grains each.
contracts::Genesis make_genesis();
Bytes make_tx(
    const crypto::SecretKey& from, std::uint64_t nonce, const contracts::Action& action, Amount fee = {5'000'000}
);
Bytes transfer(const crypto::SecretKey& from, std::uint64_t nonce, const AccountId& to, std::uint64_t grains);
/// Block `height` of a chain whose block hashes are made up.
consensus::FinalizeRequest make_block(std::uint64_t height, std::vector<Bytes> txs);

}  // namespace assay::node::test
