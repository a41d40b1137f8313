// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <set>

#include <doctest/doctest.h>

#include <verifier/plan/index_set.hpp>

using namespace assay::plan;

namespace {

constexpr std::uint32_t kSize = 24;

std::set<std::uint32_t> plain(const IndexSet& set) {
    const auto indices = set.indices();
    return {indices.begin(), indices.end()};
}

IndexSet drawn(std::mt19937& random) {
    IndexSet out;
    for (std::uint32_t i = 0; i < kSize; ++i) {
        if (random() % 2 == 0) {
            out.add(i, i + 1);
        }
    }
    return out;
}

}  // namespace

TEST_CASE("index sets behave as plain sets do") {
    std::mt19937 random(1);
    for (int run = 0; run < 500; ++run) {
        const IndexSet a = drawn(random);
        const IndexSet b = drawn(random);
        const auto in_a = plain(a);
        const auto in_b = plain(b);
        std::set<std::uint32_t> both;
        std::set<std::uint32_t> any = in_a;
        std::set<std::uint32_t> only_a;
        any.insert(in_b.begin(), in_b.end());
        for (const std::uint32_t i : in_a) {
            (in_b.contains(i) ? both : only_a).insert(i);
        }
        CHECK(plain(intersection(a, b)) == both);
        CHECK(plain(union_of(a, b)) == any);
        CHECK(plain(difference(a, b)) == only_a);
        CHECK(a.count() == in_a.size());
        CHECK(a.contains(b) == (both.size() == in_b.size()));
        for (std::uint32_t i = 0; i < kSize; ++i) {
            CHECK(a.contains(i) == in_a.contains(i));
            CHECK(a.position(i) == std::distance(in_a.begin(), in_a.lower_bound(i)));
        }
        for (std::size_t i = 1; i < a.ranges().size(); ++i) {
            CHECK(a.ranges()[i - 1].end < a.ranges()[i].begin);
        }
    }
}

TEST_CASE("classes divide indices by the ranks that have them") {
    std::mt19937 random(2);
    for (int run = 0; run < 200; ++run) {
        const std::vector<IndexSet> sets{drawn(random), drawn(random), drawn(random)};
        const std::vector<const IndexSet*> pointers{&sets[0], &sets[1], &sets[2]};
        std::set<std::uint32_t> seen;
        for (const IndexClass& found : classes_of(pointers, kSize)) {
            for (const std::uint32_t i : found.indices.indices()) {
                CHECK(seen.insert(i).second);
                for (std::size_t rank = 0; rank < sets.size(); ++rank) {
                    CHECK(((found.ranks >> rank) & 1U) == (sets[rank].contains(i) ? 1U : 0U));
                }
            }
        }
        CHECK(seen.size() == kSize);
    }
}

TEST_CASE("a cut gives each part its share, and everything once") {
    const std::vector<std::uint32_t> shares{5, 0, 3};
    const auto parts = cut(16, shares);
    REQUIRE(parts.size() == 3);
    CHECK(parts[0] == IndexSet(0, 10));
    CHECK(parts[1].is_empty());
    CHECK(parts[2] == IndexSet(10, 16));
    const std::vector<std::uint32_t> many(7, 1);
    std::uint32_t sum = 0;
    for (const IndexSet& part : cut(3, many)) {
        sum += part.count();
    }
    CHECK(sum == 3);
}
