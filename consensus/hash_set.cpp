// SPDX-License-Identifier: Apache-2.0
#include <consensus/hash_set.hpp>

#include <algorithm>
#include <utility>

#include <core/base/assert.hpp>
#include <consensus/seeded_hash.hpp>

namespace assay::consensus {
namespace {

constexpr std::size_t kFirstPlaces = 16;
constexpr Hash256 kFree{};

}  // namespace

std::size_t HashSet::home_of(const Hash256& digest) const { return SeededHash{}(digest.view()) & (places_.size() - 1); }

/// Where it is, or the free place where it would be.
std::size_t HashSet::place_of(const Hash256& digest) const {
    std::size_t at = home_of(digest);
    while (places_[at] != kFree && places_[at] != digest) {
        at = (at + 1) & (places_.size() - 1);
    }
    return at;
}

bool HashSet::contains(const Hash256& digest) const { return count_ != 0 && places_[place_of(digest)] == digest; }

bool HashSet::insert(const Hash256& digest) {
    ASSERT(digest != kFree);
    if (2 * count_ >= places_.size()) {
        grow();
    }
    Hash256& place = places_[place_of(digest)];
    const bool is_new = place == kFree;
    place = digest;
    count_ += is_new ? 1U : 0U;
    return is_new;
}

bool HashSet::erase(const Hash256& digest) {
    if (!contains(digest)) {
        return false;
    }
    const std::size_t mask = places_.size() - 1;
    std::size_t hole = place_of(digest);
    // What follows without a gap moves up, unless its own place lies behind the hole.
    for (std::size_t at = (hole + 1) & mask; places_[at] != kFree; at = (at + 1) & mask) {
        if (((at - home_of(places_[at])) & mask) >= ((at - hole) & mask)) {
            places_[hole] = places_[at];
            hole = at;
        }
    }
    places_[hole] = kFree;
    --count_;
    return true;
}

void HashSet::grow() {
    const auto before = std::exchange(places_, std::vector<Hash256>(std::max(kFirstPlaces, 2 * places_.size())));
    for (const Hash256& digest : before) {
        if (digest != kFree) {
            places_[place_of(digest)] = digest;
        }
    }
}

}  // namespace assay::consensus
