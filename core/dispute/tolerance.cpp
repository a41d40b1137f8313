// SPDX-License-Identifier: Apache-2.0
#include <core/dispute/tolerance.hpp>

#include <algorithm>
#include <bit>
#include <compare>

#include <core/base/assert.hpp>
#include <core/merkle/tree.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::dispute {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::size_t kMaxSegments = std::size_t{1} << 20U;
constexpr std::uint64_t kMaxGrowth = std::uint64_t{1} << 32U;
constexpr std::uint32_t kMillion = 1'000'000;
constexpr Relative kOneUpdate = 1'000'000'000;  ///< as long as the segment's own update

// value * 2^exponent
struct Scaled {
    Wide value = 0;
    std::int32_t exponent = 0;
};

std::int32_t bit_length(Wide x) {
    const auto high = static_cast<std::uint64_t>(x >> 64U);
    const auto low = static_cast<std::uint64_t>(x);
    return static_cast<std::int32_t>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(low));
}

std::strong_ordering compare(const Scaled& a, const Scaled& b) {
    if (a.value == 0 || b.value == 0) {
        return a.value <=> b.value;
    }
    const auto order = bit_length(a.value) + a.exponent <=> bit_length(b.value) + b.exponent;
    if (order != std::strong_ordering::equal) {
        return order;
    }
    // Of equal length once shifted: the shift leaves the value within 128 bits.
    const std::int32_t shift = a.exponent - b.exponent;
    return shift >= 0 ? (a.value << static_cast<std::uint32_t>(shift)) <=> b.value
                      : a.value <=> (b.value << static_cast<std::uint32_t>(-shift));
}

// The magnitude of a finite f32.
Scaled magnitude(std::uint32_t bits) {
    const std::uint32_t fraction = bits & 0x7fffffU;
    const auto exponent = static_cast<std::int32_t>(bits >> 23U & 0xffU);
    return exponent == 0 ? Scaled{fraction, -149} : Scaled{fraction | 0x800000U, exponent - 150};
}
bool is_negative(std::uint32_t bits) { return bits >> 31U != 0; }
bool is_finite(std::uint32_t bits) { return (bits & 0x7f800000U) != 0x7f800000U; }

std::array<std::uint32_t, 8> leading(const GroupMeasurement& g) {
    return {g.drift2, g.update2, g.claimed2, g.dot, g.drift_max, g.update_max, g.not_finite, g.integers};
}

std::uint32_t load_u32(const std::uint8_t* from) {
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
        value |= std::uint32_t{from[i]} << (8 * i);
    }
    return value;
}
void store_u32(std::uint8_t* to, std::uint32_t value) {
    for (std::uint32_t i = 0; i < 4; ++i) {
        to[i] = static_cast<std::uint8_t>(value >> (8 * i));
    }
}

GroupMeasurement group_at(const canonical::Tile& tile, std::uint32_t row) {
    const auto at = [&](std::uint32_t column) {
        return load_u32(tile.data.data() + (std::size_t{row} * canonical::kTileDim + column) * 4);
    };
    GroupMeasurement g{
        .drift2 = at(0),
        .update2 = at(1),
        .claimed2 = at(2),
        .dot = at(3),
        .drift_max = at(4),
        .update_max = at(5),
        .not_finite = at(6),
        .integers = at(7),
        .sketch = {}};
    for (std::uint32_t k = 0; k < canonical::kSketches; ++k) {
        g.sketch[k] = at(8 + k);
    }
    return g;
}

void store_group(const GroupMeasurement& g, std::uint32_t row, canonical::Tile& tile) {
    std::uint8_t* to = tile.data.data() + std::size_t{row} * canonical::kTileDim * 4;
    for (const std::uint32_t bits : leading(g)) {
        store_u32(to, bits);
        to += 4;
    }
    for (const std::uint32_t bits : g.sketch) {
        store_u32(to, bits);
        to += 4;
    }
}

bool is_possible(const GroupMeasurement& g) {
    const auto numbers = leading(g);
    const bool is_all_finite = std::all_of(numbers.begin(), numbers.end(), is_finite) &&
                               std::all_of(g.sketch.begin(), g.sketch.end(), is_finite);
    return is_all_finite && std::none_of(numbers.begin(), numbers.end(), [&](const std::uint32_t& bits) {
               return &bits != &numbers[static_cast<std::size_t>(canonical::MeasuredColumn::kDot)] && is_negative(bits);
           });
}

bool is_broken(const GroupMeasurement& g) {
    return magnitude(g.not_finite).value != 0 || magnitude(g.integers).value != 0;
}

// The largest x up to `limit` with x^power * unit <= of, power 1 or 2.
std::uint64_t largest_within(std::uint64_t limit, bool is_squared, const Scaled& unit, const Scaled& of) {
    std::uint64_t low = 0;
    std::uint64_t high = limit;
    while (low < high) {
        const std::uint64_t middle = low + (high - low + 1) / 2;
        const Wide factor = is_squared ? Wide{middle} * middle : Wide{middle};
        if (compare({factor * unit.value, unit.exponent}, of) <= 0) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

Relative relative_length(std::uint32_t length2, std::uint32_t update2) {
    constexpr std::uint64_t kBillion = 1'000'000'000;
    const Scaled update = magnitude(update2);
    Scaled length = magnitude(length2);
    if (length.value == 0) {
        return 0;
    }
    if (update.value == 0) {
        return kMaxRelative;
    }
    length.value *= Wide{kBillion} * kBillion;
    return largest_within(kMaxRelative, true, update, length);
}

// Adds numbers in units of 2^-8 of the last place of the largest, so that 2^20 of them stay within 52 bits.
class FixedSum {
  public:
    static constexpr std::int32_t kGuardBits = 8;
    void reach(std::uint32_t bits) {
        const Scaled x = magnitude(bits);
        exponent_ = x.value != 0 ? std::max(exponent_, x.exponent) : exponent_;
    }
    std::int64_t term(std::uint32_t bits) const {
        const Scaled x = magnitude(bits);
        const std::int32_t shift = exponent_ - x.exponent;
        const auto units = shift < 64 && x.value != 0
                               ? static_cast<std::int64_t>(x.value << kGuardBits >> static_cast<std::uint32_t>(shift))
                               : 0;
        return is_negative(bits) ? -units : units;
    }
    std::int32_t exponent() const { return exponent_ - kGuardBits; }

  private:
    std::int32_t exponent_ = -149;
};

bool is_share(std::uint32_t ppm) { return ppm > 0 && ppm < kMillion; }
bool is_rule(const ThresholdRule& rule) {
    return is_share(rule.quantile_ppm) && is_share(rule.confidence_ppm) && rule.separation >= 1 &&
           rule.margin.denominator >= 1 && rule.margin.numerator >= rule.margin.denominator;
}

}  // namespace

Measurement decode_measurement(const canonical::Tile& tile) noexcept {
    ASSERT(canonical::is_well_formed(tile) && tile.dtype == canonical::DType::kF32);
    return {.parameters = group_at(tile, 0), .other = group_at(tile, 1)};
}

Hash256 measurement_root(const Measurement& measurement) noexcept {
    canonical::Tile tile = canonical::make_tile(canonical::DType::kF32);
    store_group(measurement.parameters, 0, tile);
    store_group(measurement.other, 1, tile);
    const Hash256 commitment =
        tensor_commitment({.dtype = canonical::DType::kF32, .shape = canonical::kMeasurementShape}, tile_leaf(tile));
    return state_root_from(1, commitment);
}

bool is_possible(const Measurement& measurement) noexcept {
    return is_possible(measurement.parameters) && is_possible(measurement.other);
}

std::uint32_t measured_tensors(std::uint32_t tensors) noexcept { return (2U << merkle::tree_depth(tensors)) + tensors; }

std::optional<Hash256> measured_root(
    std::uint32_t tensors, std::span<const Hash256, 3> state_roots, std::span<const Hash256, 3> merkle_roots
) noexcept {
    ASSERT(tensors >= 1 && tensors <= canonical::kMaxStateTensors);
    for (std::size_t i = 0; i < 3; ++i) {
        if (state_root_from(tensors, merkle_roots[i]) != state_roots[i]) {
            return std::nullopt;
        }
    }
    const std::uint32_t depth = merkle::tree_depth(tensors);
    const Hash256 first = merkle::hash_children(merkle_roots[0], merkle_roots[1]);
    const Hash256 second = merkle::hash_children(merkle_roots[2], merkle::empty_root(depth));
    return state_root_from(measured_tensors(tensors), merkle::hash_children(first, second));
}

bool exceeds(const GroupMeasurement& group, Ratio bound) noexcept {
    Scaled drift = magnitude(group.drift2);
    Scaled update = magnitude(group.update2);
    drift.value *= Wide{bound.denominator} * bound.denominator;
    update.value *= Wide{bound.numerator} * bound.numerator;
    return is_broken(group) || compare(drift, update) > 0;
}

Relative relative_drift(const GroupMeasurement& group) noexcept {
    return is_broken(group) ? kMaxRelative : relative_length(group.drift2, group.update2);
}

Relative relative_update(const GroupMeasurement& group) noexcept {
    return relative_length(group.claimed2, group.update2);
}

std::uint64_t growth(std::span<const GroupMeasurement> segments) noexcept {
    ASSERT(segments.size() <= kMaxSegments);
    FixedSum sketches;
    FixedSum squares;
    for (const GroupMeasurement& segment : segments) {
        squares.reach(segment.drift2);
        for (const std::uint32_t bits : segment.sketch) {
            sketches.reach(bits);
        }
    }
    Wide summed = 0;
    for (std::uint32_t k = 0; k < canonical::kSketches; ++k) {
        std::int64_t sum = 0;
        for (const GroupMeasurement& segment : segments) {
            sum += sketches.term(segment.sketch[k]);
        }
        const auto length = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
        summed += Wide{length} * length;
    }
    Wide apart = 0;
    for (const GroupMeasurement& segment : segments) {
        apart += static_cast<std::uint64_t>(squares.term(segment.drift2));
    }
    if (apart == 0) {
        return summed == 0 ? 0 : kMaxGrowth;
    }
    return largest_within(
        kMaxGrowth, false, {apart * canonical::kSketches, squares.exponent()}, {summed * 1000U, 2 * sketches.exponent()}
    );
}

std::optional<std::uint32_t> samples_needed(const ThresholdRule& rule) noexcept {
    constexpr std::uint32_t kMost = 1U << 20U;
    constexpr std::uint32_t kBits = 32;
    constexpr std::uint64_t kOne = std::uint64_t{1} << kBits;
    if (!is_rule(rule)) {
        return std::nullopt;
    }
    // Both sides in units of 2^-32, rounded so that no sample too few is enough.
    const std::uint64_t quantile = (rule.quantile_ppm * kOne + kMillion - 1) / kMillion;
    const std::uint64_t doubt = (kMillion - rule.confidence_ppm) * kOne / kMillion;
    std::uint64_t power = kOne;
    for (std::uint32_t n = 1; n <= kMost; ++n) {
        power = (power * quantile + kOne - 1) >> kBits;
        if (power <= doubt) {
            return n;
        }
    }
    return std::nullopt;
}

Result<Relative, ThresholdError> threshold_from(
    std::span<const Relative> samples, Relative reference, const ThresholdRule& rule
) noexcept {
    if (!is_rule(rule)) {
        return Unexpected{ThresholdError::kRule};
    }
    const auto needed = samples_needed(rule);
    if (!needed || samples.size() < *needed) {
        return Unexpected{ThresholdError::kTooFew};
    }
    const Relative largest = *std::max_element(samples.begin(), samples.end());
    const Relative threshold = std::min(reference, kOneUpdate) / rule.separation;
    if (Wide{largest} * rule.margin.numerator > Wide{threshold} * rule.margin.denominator) {
        return Unexpected{ThresholdError::kNotSeparated};
    }
    return threshold;
}

}  // namespace assay::dispute
