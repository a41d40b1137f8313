// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <doctest/doctest.h>

#include <core/codec/borsh.hpp>
#include <tests/unit/group/comparisons.hpp>

using namespace assay;
using namespace assay::group::testing;
using group::Told;

TEST_CASE("STM-3: ranks that were told more than they show at once compare all of it") {
    Group group;
    const auto message = message_of(1, 3);
    for (std::uint64_t step = kFirstStep; step < kFirstStep + 7; ++step) {
        const Told alike = told_of(message, {.author = 0, .step = step});
        group.told[1].push_back(alike);
        if (step != kFirstStep) {
            group.told[2].push_back(alike);
        }
    }
    for (const std::uint32_t at_once : {1U, 2U, 3U, 7U, 8U, 100U}) {
        CAPTURE(at_once);
        group.lines_at_once = at_once;
        const Compared honest = group.compare();
        // Lines are in the order of their authors and steps, so this is the last one of both.
        Group lied = group;
        for (const std::uint32_t rank : {1U, 2U}) {
            const auto value = static_cast<std::uint8_t>(rank);
            lied.told[rank].push_back(told_of(message, {.value = value, .step = kFirstStep + 99}));
        }
        const Compared compared = lied.compare();
        for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
            CAPTURE(rank);
            CHECK_FALSE(honest.errors[rank].has_value());
            CHECK(honest.found[rank].empty());
            CHECK_FALSE(compared.errors[rank].has_value());
            CHECK(compared.has(rank, kLiar) == (rank != kLiar));
        }
    }
}

TEST_CASE("STM-3: of a rank that differs in each round one message is shown, and what it makes up convicts nobody") {
    const auto message = message_of(1, 3);
    Group group = two_are_told();
    for (std::uint64_t step = kFirstStep; step < kFirstStep + 5; ++step) {
        group.told[1].push_back(told_of(message, {.author = 0, .step = step}));
        group.told[3].push_back(told_of(message, {.author = 0, .step = step}));
    }
    group.lines_at_once = 2;
    group.tampers[3] = [](std::uint32_t number, std::vector<Bytes>& to) {
        for (Bytes& slice : to) {
            if (number >= 2 && number < 5 && slice.size() > 40) {
                slice[slice.size() - 1] ^= 1;  // what the last line says
            }
        }
    };
    const Compared compared = group.compare();
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        CAPTURE(rank);
        CHECK_FALSE(compared.errors[rank].has_value());
        CHECK(compared.found[rank].size() == (rank == kLiar ? 0 : 1));
        CHECK(compared.has(rank, kLiar) == (rank != kLiar));
    }
}

TEST_CASE("STM-3: a rank that says that it was told more than it sends, or than anybody can be, is named") {
    const std::uint64_t most = kLedgerBytes / Hash256::kSizeBytes;
    for (const std::uint64_t lines : {std::uint64_t{1}, most, most + 1, ~std::uint64_t{0}}) {
        CAPTURE(lines);
        Group group;
        group.tampers[3] = [lines](std::uint32_t number, std::vector<Bytes>& to) {
            for (Bytes& each : to) {
                if (number == 0 && !each.empty()) {
                    each = codec::encode(lines);
                }
            }
        };
        const Compared compared = group.compare();
        REQUIRE(compared.errors[0].has_value());
        CHECK(compared.errors[0]->rank() == 3);
        CHECK(compared.errors[0]->fault() == engine::RankFault::kOtherLength);
    }
}

TEST_CASE("STM-3: a rank 0 that has the ranks show less than they have, or more than they can have, is named") {
    const std::uint64_t most = kLedgerBytes / Hash256::kSizeBytes;
    for (const std::uint64_t rounds : {std::uint64_t{1}, most + 1, ~std::uint64_t{0}}) {
        CAPTURE(rounds);
        Group group = two_are_told();
        group.told[1].push_back(told_of(message_of(2, 1), {.value = 1}));
        group.lines_at_once = 1;
        group.tampers[0] = [rounds](std::uint32_t number, std::vector<Bytes>& to) {
            for (Bytes& each : to) {
                if (number == 1 && !each.empty()) {
                    each = codec::encode(rounds);
                }
            }
        };
        const Compared compared = group.compare();
        REQUIRE(compared.errors[1].has_value());
        CHECK(compared.errors[1]->rank() == 0);
        CHECK(compared.errors[1]->fault() == engine::RankFault::kOtherLength);
    }
}

TEST_CASE("STM-3: a rank that tells others different numbers of lines has them show all of theirs to each other") {
    const auto message = message_of(1, 3);
    Group group = two_are_told();
    group.told[3].push_back(told_of(message, {.author = 0, .value = 1}));
    group.lines_at_once = 1;
    group.tampers[3] = [](std::uint32_t number, std::vector<Bytes>& to) {
        if (number == 0) {
            to[0] = codec::encode(std::uint64_t{0});
            to[1] = codec::encode(std::uint64_t{0});
        } else if (number == 2) {
            to[0] = to[1] = codec::encode(std::vector<std::uint32_t>());
        }
    };
    const Compared compared = group.compare();
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        CAPTURE(rank);
        CHECK_FALSE(compared.errors[rank].has_value());
        CHECK(compared.has(rank, kLiar) == (rank != kLiar));
    }
}
