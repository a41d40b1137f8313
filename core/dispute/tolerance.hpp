// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/result.hpp>
#include <core/canonical/measurement.hpp>
#include <core/canonical/tile.hpp>

/// Rules for measurements of the distance between a claimed and a replayed state (TOL rules). Integer arithmetic only:
/// f32 numbers are handled as their bits.
namespace assay::dispute {

/// One row of a measurement. Each field is the bits of an f32; canonical::MeasuredColumn defines the meanings.
struct GroupMeasurement {
    std::uint32_t drift2 = 0;
    std::uint32_t update2 = 0;
    std::uint32_t claimed2 = 0;
    std::uint32_t dot = 0;
    std::uint32_t drift_max = 0;
    std::uint32_t update_max = 0;
    std::uint32_t not_finite = 0;
    std::uint32_t integers = 0;
    std::array<std::uint32_t, canonical::kSketches> sketch{};
    bool operator==(const GroupMeasurement&) const = default;
    static constexpr auto fields() {
        return Fields<
            &GroupMeasurement::drift2, &GroupMeasurement::update2, &GroupMeasurement::claimed2, &GroupMeasurement::dot,
            &GroupMeasurement::drift_max, &GroupMeasurement::update_max, &GroupMeasurement::not_finite,
            &GroupMeasurement::integers, &GroupMeasurement::sketch>{};
    }
};

struct Measurement {
    GroupMeasurement parameters;
    GroupMeasurement other;
    bool operator==(const Measurement&) const = default;
    static constexpr auto fields() { return Fields<&Measurement::parameters, &Measurement::other>{}; }
};

/// Decodes the tile of a measurement, which must be well-formed and of f32.
Measurement decode_measurement(const canonical::Tile& tile) noexcept;
/// The state root after an initialisation of the distance program that outputs this measurement.
Hash256 measurement_root(const Measurement& measurement) noexcept;
/// TOL-2: whether an execution can output it: every number is finite, and no square, maximum or count is negative.
bool is_possible(const Measurement& measurement) noexcept;

/// TOL-1: the state root of the distance program's initial tensors, computed from the Merkle roots of the tensor
/// commitments of the start, replayed and claimed state, each with `tensors` (1 to 256) tensors. nullopt if one of them
/// does not match its state root (TRC-3).
std::optional<Hash256> measured_root(
    std::uint32_t tensors, std::span<const Hash256, 3> state_roots, std::span<const Hash256, 3> merkle_roots
) noexcept;

/// TOL-1: number of tensors that the distance program for states of `tensors` tensors reads, including empty ones.
std::uint32_t measured_tensors(std::uint32_t tensors) noexcept;

struct Ratio {
    std::uint32_t numerator = 0;
    std::uint32_t denominator = 1;  ///< at least 1
    bool operator==(const Ratio&) const = default;
    static constexpr auto fields() { return Fields<&Ratio::numerator, &Ratio::denominator>{}; }
};

/// TOL-6: whether drift2 > bound^2 * update2, computed exactly; always true if an element is not finite or an integer
/// differs. The measurement must be possible (is_possible).
bool exceeds(const GroupMeasurement& group, Ratio bound) noexcept;

/// A length in billionths of the length of the segment's own update; larger values are clamped to kMaxRelative.
using Relative = std::uint64_t;
inline constexpr Relative kMaxRelative = 1'000'000'000'000'000;
/// TOL-6: sqrt(drift2 / update2), rounded down. kMaxRelative if exceeds() is true for every bound: an element is not
/// finite, an integer differs, or there is drift without an update.
Relative relative_drift(const GroupMeasurement& group) noexcept;
/// The same for the claimed update, sqrt(claimed2 / update2): small if the checkpoint hardly moved.
Relative relative_update(const GroupMeasurement& group) noexcept;

/// TOL-7: the squared length of the summed drift over the sum of the squared lengths, in thousandths, estimated from
/// the segments' sketches under one seed. Independent drifts give about 1000 for any number of segments; identical
/// drift in n segments gives 1000 n. 0 without any drift; at most 2^32. At most 2^20 segments.
std::uint64_t growth(std::span<const GroupMeasurement> segments) noexcept;

/// Parameters for deriving a task's threshold from profiling (TOL-8).
struct ThresholdRule {
    std::uint32_t quantile_ppm =
        990'000;  ///< at least this share of honest segments is to lie below the largest sample
    std::uint32_t confidence_ppm = 950'000;  ///< confidence of that statement
    Ratio margin{3, 1};                      ///< minimum ratio of the threshold to the largest sample; at least 1
    std::uint32_t separation = 10;           ///< ratio of d_ref to the threshold; at least 1
    bool operator==(const ThresholdRule&) const = default;
    static constexpr auto fields() {
        return Fields<
            &ThresholdRule::quantile_ppm, &ThresholdRule::confidence_ppm, &ThresholdRule::margin,
            &ThresholdRule::separation>{};
    }
};
enum class [[nodiscard]] ThresholdError : std::uint8_t{
    kRule = 1,    ///< a quantile or confidence that is not between 0 and 1, a margin below 1, or a separation of 0
    kTooFew = 2,  ///< TOL-8: fewer samples than quantile and confidence require
    kNotSeparated = 3,  ///< TOL-8: the hardware drift is too close to the distance between seeds
};
/// The smallest number n of samples for which 1 - quantile^n reaches the confidence; nullopt if it exceeds 2^20.
std::optional<std::uint32_t> samples_needed(const ThresholdRule& rule) noexcept;
/// TOL-8: returns d_ref, counted as at most 1, divided by the separation; fails with a ThresholdError. `reference` is
/// d_ref, a measured distance between segments of different seeds (PRF-6). Samples and reference are relative drifts.
Result<Relative, ThresholdError> threshold_from(
    std::span<const Relative> samples, Relative reference, const ThresholdRule& rule
) noexcept;

}  // namespace assay::dispute
