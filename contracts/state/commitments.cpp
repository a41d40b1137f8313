// SPDX-License-Identifier: Apache-2.0
#include <core/codec/borsh.hpp>
#include <contracts/state/beacon.hpp>
#include <contracts/state/profile.hpp>
#include <contracts/state/spec.hpp>
#include <contracts/state/verdict.hpp>

#include <core/base/fields.hpp>
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
