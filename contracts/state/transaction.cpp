// SPDX-License-Identifier: Apache-2.0
#include <core/base/fields.hpp>
#include <contracts/state/transaction.hpp>

#include <utility>

#include <core/crypto/hash.hpp>

namespace assay::contracts {
namespace {

struct TaskName {
    AccountId sender;
    std::uint64_t nonce = 0;
    static constexpr auto fields() { return Fields<&TaskName::sender, &TaskName::nonce>{}; }
};

struct VerdictName {
    TaskId task;
    std::uint32_t segment = 0;
    AccountId verifier;
    VerdictOpening opening;
    static constexpr auto fields() {
        return Fields<&VerdictName::task, &VerdictName::segment, &VerdictName::verifier, &VerdictName::opening>{};
    }
};

struct ProfileName {
    TaskId task;
    AccountId profiler;
    ProfileReport report;
    Hash256 salt;
    static constexpr auto fields() {
        return Fields<&ProfileName::task, &ProfileName::profiler, &ProfileName::report, &ProfileName::salt>{};
    }
};

}  // namespace

Hash256 signing_hash(const TxBody& body) {
    static const crypto::TaggedHash kTag("assay/tx");  // TX-3
    return kTag(codec::encode(body));
}

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

TaskId task_id(const AccountId& sender, std::uint64_t nonce) noexcept {
    static const crypto::TaggedHash kTag("assay/task");  // TASK-2
    return TaskId{kTag(codec::encode(TaskName{sender, nonce})).data};
}

Hash256 verdict_commitment(
    const TaskId& task, std::uint32_t segment, const AccountId& verifier, const VerdictOpening& opening
) noexcept {
    static const crypto::TaggedHash kTag("assay/verdict");  // VER-2
    return kTag(codec::encode(VerdictName{task, segment, verifier, opening}));
}

Hash256 profile_commitment(
    const TaskId& task, const AccountId& profiler, const ProfileReport& report, const Hash256& salt
) noexcept {
    static const crypto::TaggedHash kTag("assay/profile");  // PRF-3
    return kTag(codec::encode(ProfileName{task, profiler, report, salt}));
}

Hash256 beacon_commitment(const AccountId& account, const Hash256& secret) noexcept {
    static const crypto::TaggedHash kTag("assay/secret");  // BCN-1
    return kTag(account.view(), secret.view());
}

}  // namespace assay::contracts
