// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <contracts/state/ids.hpp>
#include <core/dispute/tolerance.hpp>

/// What a profiler measured (PRF rules).
namespace assay::contracts {

/// A profiler's results for one segment: trained natively, and replayed canonically from the native state before it.
struct ProfileSegment {
    Hash256 native_root;
    std::string location;  ///< of the server that has the native state's file (ART-10)
    Hash256 replayed_root;
    dispute::Measurement measurement;  ///< distance of the native state from the replayed one
    bool operator==(const ProfileSegment&) const = default;
    static constexpr auto fields() {
        return Fields<
            &ProfileSegment::native_root, &ProfileSegment::location, &ProfileSegment::replayed_root,
            &ProfileSegment::measurement>{};
    }
};

/// A profiler's measurements, made before the task is solved (PRF-3).
struct ProfileReport {
    Hash256 start_root;  ///< state root before the first training step
    std::vector<ProfileSegment> segments;
    Hash256 reference_root;          ///< state root after segment 1, replayed canonically with another seed
    dispute::Measurement reference;  ///< distance of that state from the one replayed with the task's seed
    bool operator==(const ProfileReport&) const = default;
    static constexpr auto fields() {
        return Fields<
            &ProfileReport::start_root, &ProfileReport::segments, &ProfileReport::reference_root,
            &ProfileReport::reference>{};
    }
};
inline constexpr std::uint32_t kMaxProfileSegments = 8;

/// The part of a profile that is disputed.
enum class ProfilePart : std::uint8_t {
    kStart = 1,
    kReplayed = 2,     ///< per segment
    kMeasurement = 3,  ///< per segment
    kReference = 4,
    kReferenceMeasurement = 5,
};
constexpr bool is_valid(ProfilePart p) { return p >= ProfilePart::kStart && p <= ProfilePart::kReferenceMeasurement; }
constexpr bool is_of_segment(ProfilePart p) { return p == ProfilePart::kReplayed || p == ProfilePart::kMeasurement; }
constexpr bool is_measured(ProfilePart p) {
    return p == ProfilePart::kMeasurement || p == ProfilePart::kReferenceMeasurement;
}
const char* to_string(ProfilePart part) noexcept;

/// PRF-3: "assay/profile" over task, profiler, report and salt.
Hash256 profile_commitment(
    const TaskId& task, const AccountId& profiler, const ProfileReport& report, const Hash256& salt
) noexcept;

}  // namespace assay::contracts
