// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/canonical/node.hpp>

/// The distance between a claimed and a replayed state, as output by the program of program/distance.hpp: one f32
/// tensor of one tile (TOL-2). Rules use only its bits.
namespace assay::canonical {

/// Rows of the measurement.
enum class MeasuredGroup : std::uint8_t {
    kParameters = 0,
    kOther = 1,  ///< optimizer slots and running values; differing integers are counted here
};
inline constexpr std::uint32_t kMeasuredGroups = 2;

/// Columns of the measurement. Sums are over the elements of the row's group.
enum class MeasuredColumn : std::uint8_t {
    kDrift2 = 0,     ///< sum of (claimed - replayed)^2
    kUpdate2 = 1,    ///< sum of (replayed - start)^2
    kClaimed2 = 2,   ///< sum of (claimed - start)^2
    kDot = 3,        ///< sum of (claimed - replayed)(replayed - start)
    kDriftMax = 4,   ///< largest |claimed - replayed|
    kUpdateMax = 5,  ///< largest |replayed - start|
    kNotFinite = 6,  ///< elements of claimed that are not finite
    kIntegers = 7,   ///< i32 elements of claimed and replayed that differ
    kSketch = 8,     ///< first of eight: sums of (claimed - replayed) under pseudo-random signs
};
inline constexpr std::uint32_t kSketches = 8;
inline constexpr std::uint32_t kMeasuredColumns = static_cast<std::uint32_t>(MeasuredColumn::kSketch) + kSketches;

inline constexpr Shape kMeasurementShape{kMeasuredGroups, kMeasuredColumns};

}  // namespace assay::canonical
