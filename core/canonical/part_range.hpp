// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include <core/base/fields.hpp>

namespace assay::canonical {

/// NUM-41: partials of a tile that are executed apart from the others: runs of equal length whose beginnings lie at
/// equal distances, as a rank has them that holds some heads of queries, keys and values side by side. The last run may
/// be shorter.
struct PartRange {
    std::uint32_t first = 0;   ///< the first partial
    std::uint32_t count = 0;   ///< partials in all runs
    std::uint32_t run = 0;     ///< partials of a run
    std::uint32_t period = 0;  ///< from the beginning of a run to that of the next; 0 if there is one run

    /// Partials without a gap.
    static constexpr PartRange consecutive(std::uint32_t first, std::uint32_t count) {
        return {.first = first, .count = count, .run = count, .period = 0};
    }
    /// Whether it is the one form of a set of partials: it has some, of 32 bits each, and runs do not touch.
    constexpr bool is_well_formed() const {
        const bool is_one_form = run == count ? period == 0 : period > run;
        return run > 0 && run <= count && is_one_form &&
               partial(count - 1) <= std::numeric_limits<std::uint32_t>::max();
    }
    /// The partial at a position, of `count`. It must have a run.
    constexpr std::uint64_t partial(std::uint32_t position) const {
        return first + std::uint64_t{position / run} * period + position % run;
    }
    /// Whether a well-formed part has the partial, and then where.
    constexpr bool contains(std::uint32_t other) const {
        return other >= first && other <= partial(count - 1) && (period == 0 || (other - first) % period < run);
    }
    constexpr std::uint32_t position(std::uint32_t contained) const {
        const std::uint32_t offset = contained - first;
        return period == 0 ? offset : offset / period * run + offset % period;
    }
    bool operator==(const PartRange&) const = default;
    auto operator<=>(const PartRange&) const = default;
    static constexpr auto fields() {
        return Fields<&PartRange::first, &PartRange::count, &PartRange::run, &PartRange::period>{};
    }
};

}  // namespace assay::canonical
