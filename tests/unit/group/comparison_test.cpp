// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <core/codec/borsh.hpp>
#include <tests/unit/group/comparisons.hpp>

using namespace assay;
using namespace assay::group::testing;
using group::Equivocation;
using group::Told;

TEST_CASE("STM-3: ranks that were told neither of two values learn who told them to others") {
    const Compared compared = two_are_told().compare();
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        CAPTURE(rank);
        CHECK_FALSE(compared.errors[rank].has_value());
        CHECK(compared.found[rank].size() == (rank == kLiar ? 0 : 1));
        for (const Equivocation& found : compared.found[rank]) {
            CHECK(found.author == kLiar);
            CHECK(group::is_proven(found, kOccasion, is_signed));
        }
    }
}

TEST_CASE("STM-3: who shows no evidence hides none that another honest rank has") {
    for (const std::uint32_t silent : {1U, 2U, 3U, kLiar}) {
        CAPTURE(silent);
        Group group = two_are_told();
        group.shows[silent] = [](const Bytes&) { return list_of({}); };
        CHECK(group.compare().has(0, kLiar));
    }
}

TEST_CASE("STM-3: what was told alike in an earlier run of the segment hides nothing that was told in this one") {
    const auto message = message_of(1, 3);
    Group group = two_are_told();
    for (const std::uint32_t rank : {1U, 2U}) {
        const auto value = static_cast<std::uint8_t>(rank);
        group.earlier[rank] = {told_of(message, {.value = value, .session = hash_of(8)})};
    }
    const Compared compared = group.compare();
    CHECK(compared.has(0, kLiar));
    CHECK(compared.has(1, kLiar));
}

TEST_CASE("STM-3: a rank that is told two values itself shows both") {
    const auto message = message_of(1, 3);
    Group group;
    group.told[3] = {told_of(message, {.value = 1}), told_of(message, {.value = 2})};
    const Compared compared = group.compare();
    for (std::uint32_t rank = 0; rank < kLiar; ++rank) {
        CHECK(compared.has(rank, kLiar));
    }
}

TEST_CASE("STM-3: what is told of one thing is compared whatever else the messages say, and in whatever order") {
    const auto one = message_of(1, 3);
    for (const std::uint8_t value : {std::uint8_t{0}, std::uint8_t{1}}) {
        CAPTURE(static_cast<int>(value));
        Group group;
        group.told[1] = {told_of(one, {.value = 0})};
        group.told[2] = {told_of(message_around(*one, false), {.value = value})};
        const Compared compared = group.compare();
        CHECK(compared.has(0, kLiar) == (value != 0));
        CHECK(compared.has(1, kLiar) == (value != 0));
        CHECK(compared.has(2, kLiar) == (value != 0));
    }
}

TEST_CASE("STM-3: a message that says one thing twice contradicts itself if it says it otherwise") {
    for (const std::uint8_t value : {std::uint8_t{0}, std::uint8_t{1}}) {
        CAPTURE(static_cast<int>(value));
        Group group;
        const auto inner = message_of(1, 3);
        const Told twice = told_of(message_around(*inner, true), {.value = value});
        group.told[2] = {twice};
        CHECK(group.compare().has(0, kLiar) == (value != 0));
        group.told[2] = {told_of(inner, {.value = 0}), twice};  // the first one is as `twice` begins
        CHECK(group.compare().has(0, kLiar) == (value != 0));
    }
}

TEST_CASE("STM-3: of several that equivocate all are found, each once") {
    Group group = two_are_told();
    const auto message = message_of(2, 1);
    group.told[1].push_back(told_of(message, {.author = 3, .value = 1}));
    group.told[0].push_back(told_of(message, {.author = 3, .value = 2}));
    const Compared compared = group.compare();
    CHECK(compared.has(0, kLiar));
    CHECK(compared.has(0, 3));
    CHECK(compared.has(2, 3));
    CHECK_FALSE(compared.has(3, 3));
    CHECK(compared.has(3, kLiar));
}

TEST_CASE("STM-3: evidence is proven by two signatures of this task, session and segment, and by nothing less") {
    const auto message = message_of(1, 3);
    const Told one = told_of(message, {.value = 1});
    const Told other = told_of(message, {.value = 2});
    const Equivocation right = evidence_of(one, other, 2);
    CHECK(group::is_proven(right, kOccasion, is_signed));
    CHECK(codec::encode(right).size() <= group::kEquivocationBytesMax);

    const auto is_refused = [&](const Equivocation& shown) { return !group::is_proven(shown, kOccasion, is_signed); };
    CHECK(is_refused(evidence_of(one, other, 1)));  // the same value
    CHECK(is_refused(evidence_of(one, one, 2)));
    Equivocation altered = right;
    altered.author = 1;  // who has signed neither
    CHECK(is_refused(altered));
    altered = right;
    altered.other_signature = altered.one_signature;
    CHECK(is_refused(altered));
    altered = right;
    altered.other.piece.values = hash_of(9);
    CHECK(is_refused(altered));
    altered = right;
    altered.other.path.pop_back();
    CHECK(is_refused(altered));
    altered = right;
    altered.one.statement.root = hash_of(9);
    CHECK(is_refused(altered));
    altered = right;
    altered.other.piece.row += 1;
    CHECK(is_refused(altered));
    const std::vector<std::pair<Saying, Saying>> others{
        {{.value = 1, .session = hash_of(8)}, {.value = 2, .session = hash_of(8)}},  // another run of the segment
        {{.value = 1, .before = hash_of(8)}, {.value = 2, .before = hash_of(8)}},    // another segment
        {{.value = 1, .task = hash_of(8)}, {.value = 2, .task = hash_of(8)}},        // another task
        {{.value = 1, .step = kFirstStep - 1}, {.value = 2, .step = kFirstStep - 1}},
        {{.value = 1}, {.value = 2, .session = hash_of(8)}},  // a run, and the next one
        {{.value = 1}, {.value = 2, .step = kFirstStep + 1}},
        {{.value = 1}, {.author = 1, .value = 2}}};
    for (std::size_t i = 0; i < others.size(); ++i) {
        CAPTURE(i);
        CHECK(is_refused(evidence_of(told_of(message, others[i].first), told_of(message, others[i].second), 2)));
    }
}

TEST_CASE("STM-3: the longest evidence has the length that a rank makes room for") {
    Equivocation longest;
    for (dispute::StatedPiece* const stated : {&longest.one, &longest.other}) {
        stated->piece.part = canonical::PartRange{};
        stated->path.assign(32, Hash256{});
    }
    CHECK(codec::encode(longest).size() == group::kEquivocationBytesMax);
}

TEST_CASE("STM-3: false evidence convicts nobody, ends nobody's session and hides nothing") {
    const auto message = message_of(1, 3);
    const Told honest = told_of(message, {.author = 1, .value = 1});
    const Told forged = [&] {
        Told out = told_of(message, {.author = kLiar, .value = 2});  // who signs for rank 1
        out.author = 1;
        return out;
    }();
    const Equivocation slander = evidence_of(honest, forged, 2);
    Equivocation nobody = slander;
    nobody.author = kRanks;
    std::vector<Equivocation> many(kRanks, slander);
    many.back() = nobody;
    const std::vector<Bytes> all{Bytes{},           Bytes{1},     Bytes(100, 0xff), list_of({slander}),
                                 list_of({nobody}), list_of(many)};
    for (std::size_t i = 0; i < all.size(); ++i) {
        CAPTURE(i);
        for (const bool lies : {false, true}) {
            Group group = lies ? two_are_told() : Group{};
            group.shows[3] = [&, i](const Bytes&) { return all[i]; };
            const Compared compared = group.compare();
            for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
                CAPTURE(rank);
                CHECK_FALSE(compared.errors[rank].has_value());
                const bool learns = lies && rank != kLiar;
                CHECK(compared.found[rank].size() == (learns ? 1 : 0));
                CHECK(compared.has(rank, kLiar) == learns);
            }
        }
    }
}

TEST_CASE("STM-3: who shows more evidence than there are ranks ends the session, and is named") {
    for (const std::size_t more : {0U, 1U}) {
        Group group;
        group.shows[3] = [&](const Bytes&) {
            return Bytes(sizeof(std::uint32_t) + kRanks * group::kEquivocationBytesMax + more);
        };
        const Compared compared = group.compare();
        for (std::uint32_t rank = 0; rank < 3; ++rank) {
            REQUIRE(compared.errors[rank].has_value() == (more != 0));
            if (more != 0) {
                CHECK(compared.errors[rank]->rank() == 3);
                CHECK(compared.errors[rank]->fault() == engine::RankFault::kOtherLength);
            }
        }
    }
}
