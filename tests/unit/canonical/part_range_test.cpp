// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include <core/canonical/part_range.hpp>

using assay::canonical::PartRange;

namespace {

// The partials of a part, written down one run after the other.
std::set<std::uint32_t> listed(const PartRange& part) {
    std::set<std::uint32_t> out;
    std::uint32_t left = part.count;
    for (std::uint32_t begin = part.first; left > 0; begin += part.period) {
        for (std::uint32_t i = 0; i < part.run && left > 0; ++i, --left) {
            out.insert(begin + i);
        }
    }
    return out;
}

}  // namespace

TEST_CASE("NUM-41: each set of partials in equal runs at equal distances is one part, in one form") {
    std::map<std::set<std::uint32_t>, PartRange> forms;
    for (std::uint32_t count = 1; count <= 7; ++count) {
        for (std::uint32_t run = 0; run <= count + 1; ++run) {
            for (std::uint32_t period = 0; period <= 9; ++period) {
                const PartRange part{.first = 3, .count = count, .run = run, .period = period};
                if (!part.is_well_formed()) {
                    continue;
                }
                CAPTURE(count);
                CAPTURE(run);
                CAPTURE(period);
                const std::set<std::uint32_t> partials = listed(part);
                CHECK(partials.size() == count);
                CHECK(forms.emplace(partials, part).second);
                std::uint32_t position = 0;
                for (const std::uint32_t partial : partials) {
                    CHECK(part.partial(position) == partial);
                    CHECK(part.position(partial) == position);
                    ++position;
                }
                for (std::uint32_t partial = 0; partial < 80; ++partial) {
                    CHECK(part.contains(partial) == partials.contains(partial));
                }
            }
        }
    }
    CHECK(forms.size() > 100);
    CHECK(forms.contains({3, 4, 5}));
    CHECK(forms.contains({3, 4, 8, 9, 13}));
    CHECK_FALSE(forms.contains({3, 5, 6}));
}

TEST_CASE("NUM-41: a part has no partial whose number needs more than 32 bits") {
    constexpr std::uint32_t kMax = std::numeric_limits<std::uint32_t>::max();
    CHECK(PartRange::consecutive(kMax, 1).is_well_formed());
    CHECK(PartRange::consecutive(0, kMax).is_well_formed());
    CHECK_FALSE(PartRange::consecutive(kMax, 2).is_well_formed());
    CHECK(PartRange{.first = 0, .count = 2, .run = 1, .period = kMax}.is_well_formed());
    CHECK_FALSE(PartRange{.first = 1, .count = 2, .run = 1, .period = kMax}.is_well_formed());
    CHECK_FALSE(PartRange{.first = 0, .count = kMax, .run = 1, .period = kMax}.is_well_formed());
    CHECK_FALSE(PartRange{}.is_well_formed());
}
