// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/signatures.hpp>

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>

#include <contracts/chain/router.hpp>
#include <core/base/assert.hpp>

namespace assay::node {
namespace {

constexpr std::size_t kGenerationBytes = 16U << 20U;
constexpr std::size_t kKeys = 100'000;
/// Fewer signatures than this are not worth a thread.
constexpr std::size_t kThreadSignatures = 16;

}  // namespace

void DecodedTxs::add(contracts::DecodedTxPtr tx) {
    ASSERT(tx->is_signed);
    const std::lock_guard lock(mutex_);
    if (recent_bytes_ >= kGenerationBytes) {
        older_ = std::exchange(recent_, {});
        recent_bytes_ = 0;
    }
    recent_bytes_ += tx->size_bytes;
    const Hash256 hash = tx->hash;
    recent_.insert_or_assign(hash, std::move(tx));
}

contracts::DecodedTxPtr DecodedTxs::find(const Hash256& tx) const {
    const std::lock_guard lock(mutex_);
    for (const Table* table : {&recent_, &older_}) {
        if (const auto found = table->find(tx); found != table->end()) {
            return found->second;
        }
    }
    return nullptr;
}

void DecodedTxs::forget(const std::vector<Hash256>& txs) {
    const std::lock_guard lock(mutex_);
    for (const Hash256& tx : txs) {
        if (const auto found = recent_.find(tx); found != recent_.end()) {
            recent_bytes_ -= std::min(recent_bytes_, found->second->size_bytes);
            recent_.erase(found);
        }
        older_.erase(tx);
    }
}

std::optional<crypto::PublicKey> SignatureVerifier::find(const AccountId& signer) const {
    const std::lock_guard lock(mutex_);
    const auto known = keys_.find(signer);
    return known == keys_.end() ? std::nullopt : std::optional(known->second);
}

bool SignatureVerifier::operator()(const AccountId& signer, ByteView message, const Signature& signature) const {
    if (const auto known = find(signer)) {
        return known->verifies(message, signature);
    }
    const auto key = crypto::PublicKey::of(signer);
    if (!key || !key->verifies(message, signature)) {
        return false;
    }
    const std::lock_guard lock(mutex_);
    if (keys_.size() >= kKeys) {
        keys_.clear();
    }
    keys_.emplace(signer, *key);
    return true;
}

std::vector<contracts::BlockEntry> decode_block(
    const std::vector<Bytes>& txs, const std::vector<Hash256>& hashes, const contracts::Params& params,
    const SignatureVerifier& verifier, DecodedTxs& known
) {
    ASSERT(hashes.size() == txs.size());
    std::vector<contracts::BlockEntry> entries;
    std::vector<std::size_t> unknown;
    entries.reserve(txs.size());
    for (std::size_t i = 0; i < txs.size(); ++i) {
        contracts::DecodedTxPtr tx = known.find(hashes[i]);
        if (tx == nullptr) {
            unknown.push_back(i);
        }
        entries.push_back({.hash = hashes[i], .size_bytes = txs[i].size(), .decoded = std::move(tx)});
    }
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t parts = std::clamp(unknown.size() / kThreadSignatures, std::size_t{1}, cores);
    const contracts::CheckAction check = [](const contracts::TxBody& body) {
        return contracts::check_action_stateless(body);
    };
    // Each part has a thread of its own but the last, which is this one's.
    const auto decode = [&](std::size_t part) {
        for (std::size_t k = unknown.size() * part / parts; k < unknown.size() * (part + 1) / parts; ++k) {
            const std::size_t i = unknown[k];
            entries[i] = contracts::make_entry(txs[i], hashes[i], params, std::cref(verifier), check);
        }
    };
    std::vector<std::jthread> threads;
    for (std::size_t part = 0; part + 1 < parts; ++part) {
        threads.emplace_back(decode, part);
    }
    decode(parts - 1);
    threads.clear();
    for (const std::size_t i : unknown) {
        if (entries[i].decoded && (*entries[i].decoded)->is_signed) {
            known.add(*entries[i].decoded);
        }
    }
    return entries;
}

}  // namespace assay::node
