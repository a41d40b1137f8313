// SPDX-License-Identifier: Apache-2.0
#include <contracts/transaction/transaction.hpp>

#include <algorithm>
#include <utility>
#include <variant>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>

namespace assay::contracts {
namespace {

constexpr std::uint64_t kEnvelope = 95;  // GAS-2

std::uint64_t envelope(std::size_t size_bytes) { return kEnvelope + size_bytes / kBytesPerGas; }

/// The most that an action of any kind costs; GRP-2: an acceptance as the lead of the largest group.
template <std::size_t... kIndex>
std::uint64_t dearest_of(const Prices& prices, std::index_sequence<kIndex...> /*kinds*/) {
    const std::uint64_t group =
        AcceptTask{.task = {}, .seats = {}, .signatures = std::vector<Signature>(kMaxSeats - 1)}.gas(prices);
    return std::max({group, std::variant_alternative_t<kIndex, Action>{}.gas(prices)...});
}

}  // namespace

Hash256 signing_hash(ByteView encoded_body) {
    static const crypto::TaggedHash kTag("assay/tx");  // TX-3
    return kTag(encoded_body);
}

Hash256 signing_hash(const TxBody& body) { return signing_hash(codec::encode(body)); }

Hash256 tx_hash(ByteView tx_bytes) noexcept {
    return crypto::sha256(tx_bytes);  // TX-4
}

std::vector<Hash256> tx_hashes(const std::vector<Bytes>& txs) {
    std::vector<Hash256> out;
    out.reserve(txs.size());
    for (const Bytes& tx : txs) {
        out.push_back(tx_hash(tx));
    }
    return out;
}

Tx sign_tx(TxBody body, const crypto::SecretKey& key) {
    const Signature signature = key.sign(signing_hash(body).view());
    return Tx{std::move(body), signature};
}

std::uint64_t gas_of(const Tx& tx, std::size_t size_bytes, const Params& params) noexcept {
    const Prices prices(params, size_bytes);
    return envelope(size_bytes) + std::visit([&](const auto& action) { return action.gas(prices); }, tx.body.action);
}

std::uint64_t gas_of_undecodable(std::size_t size_bytes) noexcept { return envelope(size_bytes); }

std::uint64_t gas_of_bytes(ByteView tx_bytes, const Params& params) noexcept {
    if (tx_bytes.size() <= params.tx_size_max) {
        if (const auto tx = codec::decode<Tx>(tx_bytes)) {
            return gas_of(*tx, tx_bytes.size(), params);
        }
    }
    return gas_of_undecodable(tx_bytes.size());
}

std::uint64_t gas_max(const Params& params) noexcept {
    const Prices prices(params, params.tx_size_max);
    constexpr auto kKinds = std::make_index_sequence<std::variant_size_v<Action>>{};
    return envelope(params.tx_size_max) + dearest_of(prices, kKinds);
}

}  // namespace assay::contracts
