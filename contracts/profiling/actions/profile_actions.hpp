// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/params/answer.hpp>
#include <contracts/params/prices.hpp>
#include <contracts/state/ids.hpp>
#include <contracts/state/profile.hpp>
#include <contracts/state/verdict.hpp>

/// Actions of profilers (PRF rules), and challenges of their profiles.
namespace assay::contracts {

struct CommitProfile {
    static constexpr const char* kName = "commit_profile";
    static constexpr Answer kAnswer{.owed = Owed::kTask, .bytes_max = kPlainAnswer};
    static constexpr bool kByOperator = true;
    TaskId task;
    Hash256 commitment;  ///< profile_commitment(...)
    static constexpr auto fields() { return Fields<&CommitProfile::task, &CommitProfile::commitment>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.task(3); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct PublishProfile {
    static constexpr const char* kName = "publish_profile";
    static constexpr Answer kAnswer{.owed = Owed::kTask, .bytes_max = kOpeningAnswer};
    static constexpr bool kByOperator = true;
    TaskId task;
    ProfileReport report;
    Hash256 salt;
    static constexpr auto fields() {
        return Fields<&PublishProfile::task, &PublishProfile::report, &PublishProfile::salt>{};
    }
    std::uint64_t gas(const Prices& prices) const { return prices.task(4) + prices.hashed(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct ChallengeProfile {  // states that `part` of the report that `profiler` published is wrong
    static constexpr const char* kName = "challenge_profile";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = true;
    TaskId task;
    AccountId profiler;
    Role role = Role::kWhistleblower;  ///< role whose stake is locked as the challenger's bond
    ProfilePart part = ProfilePart::kStart;
    std::uint32_t segment = 0;           ///< from 1; 0 if the part does not belong to a segment
    std::optional<MeasuredRoots> roots;  ///< present if and only if the part is a measurement
    static constexpr auto fields() {
        return Fields<
            &ChallengeProfile::task, &ChallengeProfile::profiler, &ChallengeProfile::role, &ChallengeProfile::part,
            &ChallengeProfile::segment, &ChallengeProfile::roots>{};
    }
    std::uint64_t gas(const Prices& prices) const { return prices.opening(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

}  // namespace assay::contracts
