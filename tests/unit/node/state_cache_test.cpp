// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

#include <node/state/slot_table.hpp>
#include <node/state/state_cache.hpp>

using namespace assay;
using namespace assay::node;

namespace {

Bytes key_of(std::uint8_t number) { return {7, number}; }
const std::optional<Bytes> kEmpty;

}  // namespace

TEST_CASE("a cache answers for the last committed state and no other") {
    StateCache cache(1U << 20U);
    const Bytes key = key_of(1);
    CHECK_FALSE(cache.find({0}, key).has_value());
    cache.keep({0}, key, Bytes{1});
    REQUIRE(cache.find({0}, key).has_value());
    CHECK(cache.find({0}, key).value() == Bytes{1});
    cache.advance({1}, {{key, std::nullopt}});
    CHECK_FALSE(cache.find({0}, key).has_value());
    REQUIRE(cache.find({1}, key).has_value());
    CHECK(cache.find({1}, key).value() == kEmpty);
    cache.keep({0}, key, Bytes{1});  // a reader of the older state comes late
    CHECK(cache.find({1}, key).value() == kEmpty);
    CHECK(cache.height() == Height{1});
    cache.reset({9});
    CHECK_FALSE(cache.find({9}, key).has_value());
    CHECK(cache.height() == Height{9});
}

TEST_CASE("whatever is read, changed and dropped for room, a cache says what the state says") {
    std::mt19937 random(3);
    for (const std::size_t bytes_max : {std::size_t{1} << 20U, std::size_t{20'000}}) {
        StateCache cache(bytes_max);
        std::vector<std::map<Bytes, std::optional<Bytes>>> states(1);
        std::size_t held = 0;
        for (std::uint64_t height = 0; height < 60; ++height) {
            for (int i = 0; i < 200; ++i) {
                const Bytes key = key_of(static_cast<std::uint8_t>(random()));
                const std::uint64_t of = height - random() % (height < 3 ? 1 : 3);
                const auto stored = states[of].contains(key) ? states[of].at(key) : kEmpty;
                const auto found = cache.find({of}, key);
                if (found) {
                    ++held;
                    REQUIRE(*found == stored);
                } else {
                    cache.keep({of}, key, stored);
                }
            }
            contracts::Changes changes;
            for (int i = 0; i < 20; ++i) {
                const auto value = static_cast<std::uint8_t>(random());
                changes[key_of(static_cast<std::uint8_t>(random()))] =
                    value < 64 ? kEmpty : std::optional(Bytes(value, value));
            }
            states.push_back(states.back());
            for (const auto& [key, value] : changes) {
                states.back()[key] = value;
            }
            cache.advance({height + 1}, changes);
        }
        CHECK(held > 1'000);
    }
}

TEST_CASE("a table of slots holds what a plain map holds, however it grows") {
    std::mt19937 random(5);
    SlotTable table;
    std::map<Bytes, std::optional<Bytes>> model;
    const auto random_key = [&random] {
        Bytes key(random() % 3, 7);
        key.push_back(static_cast<std::uint8_t>(random()));
        key.push_back(static_cast<std::uint8_t>(random() % 16));
        return key;
    };
    for (int step = 0; step < 20'000; ++step) {
        if (step == 10'000) {
            CHECK(model.size() > 5'000);
            table.clear();
            model.clear();
            CHECK(table.size_bytes() == 0);
        }
        const Bytes key = random_key();
        const auto value = random() % 4 == 0 ? kEmpty : std::optional(Bytes(random() % 70, 1));
        table.put(key, value);
        model[key] = value;
        const Bytes other = random_key();
        const auto found = table.find(other);
        REQUIRE(found.has_value() == model.contains(other));
        REQUIRE((!found || *found == model.at(other)));
    }
    for (const auto& [key, value] : model) {
        REQUIRE(table.find(key).has_value());
        REQUIRE(*table.find(key) == value);
    }
}
