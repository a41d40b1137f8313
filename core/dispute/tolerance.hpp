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

/// What a rule does with measurements of the distance between a claimed and a replayed state (TOL rules). Integers
/// only: numbers of f32 are their bits.
namespace assay::dispute {

/// Tensors of a state that can be measured (TOL-1).
inline constexpr std::uint32_t kMaxMeasuredTensors = 256;

/// One row of a measurement, each field the bits of an f32 (canonical::MeasuredColumn has the meanings).
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

/// What the tile of a measurement holds. `tile` is well-formed and of f32.
Measurement decode_measurement(const canonical::Tile& tile) noexcept;
/// The state root after the distance program's initialisation, if this is what it wrote.
Hash256 measurement_root(const Measurement& measurement) noexcept;
/// TOL-2: whether some execution can have written it: every number finite, no square, maximum or count negative.
bool is_possible(const Measurement& measurement) noexcept;

/// TOL-1: the state root of the distance program's initial tensors, from the Merkle roots over the tensors' commitments
/// of start, replayed and claimed state, each of `tensors` (1 to 256) tensors. nullopt when one of them does not lead
/// to its state root (TRC-3).
std::optional<Hash256> measured_root(
    std::uint32_t tensors, std::span<const Hash256, 3> state_roots, std::span<const Hash256, 3> merkle_roots
) noexcept;

/// TOL-1: how many tensors the distance program of `tensors` tensors reads, empty ones included.
std::uint32_t measured_tensors(std::uint32_t tensors) noexcept;

struct Ratio {
    std::uint32_t numerator = 0;
    std::uint32_t denominator = 1;  ///< at least 1
    bool operator==(const Ratio&) const = default;
    static constexpr auto fields() { return Fields<&Ratio::numerator, &Ratio::denominator>{}; }
};

/// TOL-6: whether the drift is longer than `bound` updates, drift2 > bound^2 update2, exactly; always when an element is
/// not finite or an integer differs. Of a possible measurement.
bool exceeds(const GroupMeasurement& group, Ratio bound) noexcept;

/// A length in billionths of the segment's own update. Anything from kMaxRelative on is kMaxRelative.
using Relative = std::uint64_t;
inline constexpr Relative kMaxRelative = 1'000'000'000'000'000;
/// TOL-6: sqrt(drift2 / update2), rounded down; kMaxRelative where exceeds() has no bound to look at: an element that
/// is not finite, an integer that differs, or drift without an update.
Relative relative_drift(const GroupMeasurement& group) noexcept;
/// The same of the claimed update, sqrt(claimed2 / update2): what a checkpoint that hardly moved has little of.
Relative relative_update(const GroupMeasurement& group) noexcept;

/// TOL-7: the square of the summed drift over the sum of the squares, in thousandths, from the sketches that the
/// segments' measurements have under one seed. Drifts that know nothing of each other give about 1000 however many
/// they are, the same drift in each of n segments 1000 n. 0 without any drift; at most 2^32. At most 2^20 segments.
std::uint64_t growth(std::span<const GroupMeasurement> segments) noexcept;

/// How a task's threshold follows from profiling (TOL-8).
struct ThresholdRule {
    std::uint32_t quantile_ppm = 990'000;    ///< of honest segments, at least this share is to lie below the largest sample
    std::uint32_t confidence_ppm = 950'000;  ///< with this confidence
    Ratio margin{3, 1};                      ///< what the threshold has to be of the largest sample; at least 1
    std::uint32_t separation = 10;           ///< d_ref over the threshold; at least 1
    bool operator==(const ThresholdRule&) const = default;
    static constexpr auto fields() {
        return Fields<
            &ThresholdRule::quantile_ppm, &ThresholdRule::confidence_ppm, &ThresholdRule::margin,
            &ThresholdRule::separation>{};
    }
};
enum class [[nodiscard]] ThresholdError : std::uint8_t {
    kRule = 1,          ///< a quantile or confidence not between 0 and 1, a margin below 1, a separation of 0
    kTooFew = 2,        ///< TOL-8: fewer samples than the quantile and confidence need
    kNotSeparated = 3,  ///< TOL-8: hardware drift and another seed are not far enough apart
};
/// The number n of samples from which 1 - quantile^n reaches the confidence; nullopt for more than 2^20.
std::optional<std::uint32_t> samples_needed(const ThresholdRule& rule) noexcept;
/// TOL-8: d_ref, which counts as at most 1, over the separation. `reference` is d_ref, the smallest distance that was
/// measured between segments of different seeds; samples and it are relative drifts.
Result<Relative, ThresholdError> threshold_from(
    std::span<const Relative> samples, Relative reference, const ThresholdRule& rule
) noexcept;

}  // namespace assay::dispute
