// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <core/crypto/keys.hpp>
#include <contracts/transaction/actions.hpp>

/// Transactions: Borsh bytes, signed with BIP-340 over a tagged hash that includes the chain id (TX rules).
namespace assay::contracts {

struct TxBody {
    std::string chain_id;
    AccountId sender;  ///< who signs, and pays the fee
    /// Number of transactions by the sender that were charged so far; in an answer to a duty, the duty's due height
    /// (DTY-2).
    std::uint64_t nonce = 0;
    Amount fee;
    Action action;
    /// OPR-2: the account that the action is for, which has named the sender as its operator; absent: for the sender.
    std::optional<AccountId> owner = std::nullopt;
    static constexpr auto fields() {
        return Fields<
            &TxBody::chain_id, &TxBody::sender, &TxBody::nonce, &TxBody::fee, &TxBody::action, &TxBody::owner>{};
    }
    /// OPR-2: whose action it is: the owner's, if one is named.
    const AccountId& actor() const { return owner ? *owner : sender; }
};
struct Tx {
    TxBody body;
    Signature signature;
    static constexpr auto fields() { return Fields<&Tx::body, &Tx::signature>{}; }
};

/// TX-3: the hash that the sender signs: "assay/tx" over Borsh(body).
Hash256 signing_hash(const TxBody& body);
/// The same for a body that is encoded already.
Hash256 signing_hash(ByteView encoded_body);
/// TX-4: the transaction's id: SHA-256 of its bytes.
Hash256 tx_hash(ByteView tx_bytes) noexcept;
std::vector<Hash256> tx_hashes(const std::vector<Bytes>& txs);
Tx sign_tx(TxBody body, const crypto::SecretKey& key);

/// GAS-1: gas of a transaction; depends only on the transaction, its size and the parameters.
std::uint64_t gas_of(const Tx& tx, std::size_t size_bytes, const Params& params) noexcept;
/// GAS-6: gas of bytes that do not decode as a transaction; a decided block may contain any bytes.
std::uint64_t gas_of_undecodable(std::size_t size_bytes) noexcept;
/// Gas of an entry of a block, decodable or not.
std::uint64_t gas_of_bytes(ByteView tx_bytes, const Params& params) noexcept;
/// GAS-8: upper bound for the gas of any transaction of at most `tx_size_max` bytes.
std::uint64_t gas_max(const Params& params) noexcept;

}  // namespace assay::contracts
