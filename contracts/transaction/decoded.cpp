// SPDX-License-Identifier: Apache-2.0
#include <contracts/transaction/decoded.hpp>

#include <utility>

#include <core/codec/borsh.hpp>

namespace assay::contracts {

Result<DecodedTx, TxError> decode_tx(ByteView tx_bytes, const Hash256& hash, const Params& params) noexcept {
    if (tx_bytes.size() > params.tx_size_max) {
        return Unexpected{TxError::kTooLarge};  // TX-2
    }
    auto tx = codec::decode<Tx>(tx_bytes);
    if (!tx) {
        return Unexpected{TxError::kUndecodable};  // TX-1
    }
    const std::uint64_t gas = gas_of(*tx, tx_bytes.size(), params);
    return DecodedTx{.tx = *std::move(tx), .hash = hash, .size_bytes = tx_bytes.size(), .gas = gas};
}

bool verify_tx(const Tx& tx, const VerifySignature& verify) noexcept {
    return verify(tx.body.sender, signing_hash(tx.body).view(), tx.signature);
}

BlockEntry make_entry(
    ByteView tx_bytes, const Hash256& hash, const Params& params, const VerifySignature& verify,
    const CheckAction& check
) noexcept {
    auto decoded = decode_tx(tx_bytes, hash, params);
    if (!decoded) {
        return {.hash = hash, .size_bytes = tx_bytes.size(), .decoded = Unexpected{decoded.error()}};
    }
    decoded->is_signed = verify && verify_tx(decoded->tx, verify);
    decoded->is_checked = decoded->is_signed && check && check(decoded->tx.body);
    return {
        .hash = hash, .size_bytes = tx_bytes.size(), .decoded = std::make_shared<const DecodedTx>(*std::move(decoded))};
}

std::vector<BlockEntry> make_entries(const std::vector<Bytes>& txs, const Params& params) noexcept {
    std::vector<BlockEntry> entries;
    entries.reserve(txs.size());
    for (const Bytes& tx : txs) {
        entries.push_back(make_entry(tx, tx_hash(tx), params));
    }
    return entries;
}

}  // namespace assay::contracts
