// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <core/crypto/keys.hpp>
#include <contracts/state/params.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/transaction/transaction.hpp>

/// Transactions that are decoded once: from the mempool's check to the execution of a block the same object is passed
/// on.
namespace assay::contracts {

struct DecodedTx {
    Tx tx;
    Hash256 hash;                ///< TX-4
    std::size_t size_bytes = 0;  ///< of the encoding
    std::uint64_t gas = 0;       ///< GAS-1
    /// Whether the signature has been verified. It depends on the bytes alone, so a block need not verify it again.
    bool is_signed = false;
    /// Whether check_action_stateless() has passed, which depends on the bytes alone as well.
    bool is_checked = false;
};
using DecodedTxPtr = std::shared_ptr<const DecodedTx>;

/// An entry of a block: a transaction, or bytes that are none, which a decided block may contain.
struct BlockEntry {
    Hash256 hash;
    std::size_t size_bytes = 0;
    Result<DecodedTxPtr, TxError> decoded;  ///< or kTooLarge (TX-2) or kUndecodable (TX-1)
};

/// ENC-2: crypto::verify_signature, or an equivalent function that caches decoded keys.
using VerifySignature = std::function<bool(const AccountId&, ByteView, const Signature&)>;

/// check_action_stateless(), which this layer does not know.
using CheckAction = std::function<Result<void, TxError>(const TxBody&)>;

/// Decodes a transaction, and does not verify its signature. Fails with kTooLarge (TX-2) or kUndecodable (TX-1).
/// `hash` is the hash of the bytes.
Result<DecodedTx, TxError> decode_tx(ByteView tx_bytes, const Hash256& hash, const Params& params) noexcept;
/// TX-3: whether the signature is the sender's.
bool verify_tx(const Tx& tx, const VerifySignature& verify) noexcept;
/// The entry of a block that these bytes make. With `verify`, is_signed tells whether the signature is valid, and with
/// `check` is_checked whether the action of a signed transaction has passed.
BlockEntry make_entry(
    ByteView tx_bytes, const Hash256& hash, const Params& params, const VerifySignature& verify = nullptr,
    const CheckAction& check = nullptr
) noexcept;
/// The entries of a block, with no signature verified.
std::vector<BlockEntry> make_entries(const std::vector<Bytes>& txs, const Params& params) noexcept;

}  // namespace assay::contracts
