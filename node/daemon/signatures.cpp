// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/signatures.hpp>

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>

#include <core/base/assert.hpp>
#include <contracts/chain/chain.hpp>

namespace assay::node {
namespace {

constexpr std::size_t kGeneration = 200'000;
constexpr std::size_t kKeys = 100'000;
/// Fewer signatures than this are not worth a thread.
constexpr std::size_t kThreadSignatures = 16;

}  // namespace

void VerifiedSignatures::add(const Hash256& tx) {
    const std::lock_guard lock(mutex_);
    if (recent_.size() >= kGeneration) {
        older_ = std::exchange(recent_, {});
    }
    recent_.insert(tx);
}

bool VerifiedSignatures::contains(const Hash256& tx) const {
    const std::lock_guard lock(mutex_);
    return recent_.contains(tx) || older_.contains(tx);
}

void VerifiedSignatures::forget(const std::vector<Hash256>& txs) {
    const std::lock_guard lock(mutex_);
    for (const Hash256& tx : txs) {
        recent_.erase(tx);
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

std::vector<bool> find_signed(
    const std::vector<Bytes>& txs, const std::vector<Hash256>& hashes, const contracts::Params& params,
    const SignatureVerifier& verifier, VerifiedSignatures& verified
) {
    ASSERT(hashes.size() == txs.size());
    std::vector<bool> out(txs.size());
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; i < txs.size(); ++i) {
        out[i] = verified.contains(hashes[i]);
        if (!out[i]) {
            unknown.push_back(i);
        }
    }
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t parts = std::clamp(unknown.size() / kThreadSignatures, std::size_t{1}, cores);
    // A thread of its own for every part but the last, which is this one's. Parts are far apart, not single bits.
    std::vector<char> is_signed(unknown.size());
    const auto verify = [&](std::size_t part) {
        for (std::size_t k = unknown.size() * part / parts; k < unknown.size() * (part + 1) / parts; ++k) {
            is_signed[k] = contracts::is_signed(txs[unknown[k]], params, std::cref(verifier)) ? 1 : 0;
        }
    };
    std::vector<std::jthread> threads;
    for (std::size_t part = 0; part + 1 < parts; ++part) {
        threads.emplace_back(verify, part);
    }
    verify(parts - 1);
    threads.clear();
    for (std::size_t k = 0; k < unknown.size(); ++k) {
        out[unknown[k]] = is_signed[k] != 0;
        if (is_signed[k] != 0) {
            verified.add(hashes[unknown[k]]);
        }
    }
    return out;
}

}  // namespace assay::node
