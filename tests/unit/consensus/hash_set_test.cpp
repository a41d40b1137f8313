// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <random>
#include <set>

#include <consensus/hash_set.hpp>

using namespace assay;

namespace {

Hash256 digest_of(std::uint64_t number) {
    Hash256 out;
    out.data[31] = static_cast<std::uint8_t>(number);
    out.data[30] = static_cast<std::uint8_t>(number >> 8U);
    out.data[0] = 1;
    return out;
}

}  // namespace

TEST_CASE("a set of digests holds what a plain set holds, however it grows and shrinks") {
    for (std::uint32_t seed = 1; seed <= 10; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        consensus::HashSet digests;
        std::set<Hash256> model;
        CHECK_FALSE(digests.contains(digest_of(1)));
        CHECK_FALSE(digests.erase(digest_of(1)));
        for (int step = 0; step < 20'000; ++step) {
            const Hash256 digest = digest_of(random() % (seed % 2 == 0 ? 40 : 2'000));
            // It grows in some stretches of the run and shrinks in others.
            if (random() % 8 < (step / 2'000 % 2 == 0 ? 5U : 2U)) {
                REQUIRE(digests.insert(digest) == model.insert(digest).second);
            } else {
                REQUIRE(digests.erase(digest) == (model.erase(digest) > 0));
            }
            const Hash256 other = digest_of(random() % 2'000);
            REQUIRE(digests.contains(other) == model.contains(other));
            REQUIRE(digests.size() == model.size());
        }
        for (std::uint64_t number = 0; number < 2'000; ++number) {
            REQUIRE(digests.contains(digest_of(number)) == model.contains(digest_of(number)));
        }
    }
}
