// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>

#include <core/codec/borsh.hpp>
#include <node/state/store.hpp>
#include <tests/unit/consensus/toy_machine.hpp>

using namespace assay;
using namespace assay::storage;
using assay::solo::test::TemporaryDirectory;

namespace {

constexpr Column kColumns[] = {Column::kMeta,  Column::kState,   Column::kValues, Column::kTree,
                               Column::kStale, Column::kHistory, Column::kTxs};

Bytes key(std::string_view text) {
    const auto view = as_bytes(text);
    return Bytes(view.begin(), view.end());
}

/// The same number under one key of every column, with ballast so that a few fill the smallest buffer.
Batch numbered(std::uint64_t number) {
    Batch batch;
    for (const Column column : kColumns) {
        batch.put(column, key("number"), codec::encode(number));
        Bytes ballast = key("ballast");
        append(ballast, codec::encode(number));
        batch.put(column, ballast, Bytes(9'000, static_cast<std::uint8_t>(number)));
    }
    return batch;
}

/// The number that every column agrees on; fails the test when they do not, or a ballast is missing.
std::uint64_t number_in(const Store& store) {
    const auto snapshot = store.snapshot();
    std::optional<std::uint64_t> out;
    for (const Column column : kColumns) {
        const auto bytes = snapshot->get(column, key("number"));
        const std::uint64_t number = bytes ? *codec::decode<std::uint64_t>(*bytes) : 0;
        REQUIRE(out.value_or(number) == number);
        out = number;
        const auto ballasts = snapshot->scan(column, key("ballast"), key("ballast"), 100);
        REQUIRE(ballasts.size() == number);
        for (const Entry& entry : ballasts) {
            REQUIRE(entry.value.size() == 9'000);
        }
    }
    return *out;
}

}  // namespace

TEST_CASE("reads, scans and the last entry until a key see one moment") {
    Store store("/memory", {.in_memory = true, .fault = {}});
    Batch batch;
    batch.put(Column::kValues, key("a1"), Bytes{1});
    batch.put(Column::kValues, key("a3"), Bytes{3});
    batch.put(Column::kValues, key("b1"), Bytes{9});
    batch.put(Column::kState, key("a1"), {});
    store.write(batch, true);
    const auto before = store.snapshot();
    Batch change;
    change.erase(Column::kValues, key("a1"));
    change.put(Column::kValues, key("a2"), Bytes{2});
    store.write(change, false);
    const auto after = store.snapshot();

    CHECK(before->get(Column::kValues, key("a1")) == Bytes{1});
    CHECK_FALSE(after->get(Column::kValues, key("a1")).has_value());
    CHECK(after->get(Column::kState, key("a1")) == Bytes{});
    CHECK_FALSE(after->get(Column::kTree, key("a2")).has_value());
    CHECK(before->scan(Column::kValues, key("a"), key("a"), 10).size() == 2);
    CHECK(after->scan(Column::kValues, key("a"), key("a3"), 10).size() == 1);
    CHECK(after->scan(Column::kValues, key("a"), key("a"), 1).at(0).value == Bytes{2});
}

TEST_CASE("of several changes to a key in one batch the last one counts, whatever lies between them") {
    Store store("/memory", {.in_memory = true, .fault = {}});
    Batch batch;
    for (const char* const name : {"b", "a", "c"}) {
        batch.put(Column::kState, key(name), Bytes{1});
        batch.put(Column::kTree, key(name), Bytes{2});
    }
    batch.erase(Column::kState, key("a"));
    batch.erase(Column::kState, key("b"));
    batch.put(Column::kState, key("b"), Bytes{3});
    batch.put(Column::kState, key("c"), {});
    CHECK(batch.count() == 10);
    CHECK(batch.size_bytes() == 10 + 7);
    store.write(batch, false);
    const auto snapshot = store.snapshot();
    CHECK_FALSE(snapshot->get(Column::kState, key("a")).has_value());
    CHECK(snapshot->get(Column::kState, key("b")) == Bytes{3});
    CHECK(snapshot->get(Column::kState, key("c")) == Bytes{});
    CHECK(snapshot->get(Column::kTree, key("a")) == Bytes{2});
}

TEST_CASE("what was written is there after reopening, also without a sync") {
    const TemporaryDirectory directory;
    {
        Store store(directory.path());
        store.write(numbered(1), true);
        store.write(numbered(2), false);
    }
    CHECK(number_in(Store(directory.path())) == 2);
}

TEST_CASE("a second process cannot open the store") {
    const TemporaryDirectory directory;
    const Store store(directory.path());
    CHECK_THROWS_AS(Store(directory.path()), StorageError);
}

TEST_CASE(
    "where a write to the device fails the state is that of a whole batch after reopening, none before a synced one" *
    doctest::test_suite("full")
) {
    constexpr std::uint64_t kBatches = 40;
    constexpr std::uint64_t kSynced = 12;  // between them the buffers fill by themselves
    bool was_synced = false;
    bool was_later = false;
    for (const Fault fault : {Fault::kFail, Fault::kTear}) {
        bool fired = true;
        for (std::uint64_t n = 0; fired; n += 29) {
            CAPTURE(static_cast<int>(fault));
            CAPTURE(n);
            const TemporaryDirectory directory;
            fired = false;
            std::uint64_t attempted = 0;
            std::uint64_t synced = 0;
            try {
                Store store(
                    directory.path(), {.in_memory = false,
                                       .write_buffer_bytes = std::size_t{64} << 10U,
                                       .fault =
                                           [&fired, fault, n](std::uint64_t count) {
                                               fired = fired || count == n;
                                               return count == n ? fault : Fault::kNone;
                                           }}
                );
                for (std::uint64_t number = 1; number <= kBatches; ++number) {
                    attempted = number;
                    store.write(numbered(number), number % kSynced == 0);
                    synced = number % kSynced == 0 ? number : synced;
                }
            } catch (const StorageError&) {
                REQUIRE(fired);
            }
            const std::uint64_t found = number_in(Store(directory.path()));
            REQUIRE(found >= synced);
            REQUIRE(found <= attempted);
            was_synced = was_synced || (fired && found == synced && synced > 0);
            was_later = was_later || (fired && found > synced);
        }
    }
    CHECK(was_synced);
    CHECK(was_later);
}

TEST_CASE("after a failed write every further write throws") {
    const TemporaryDirectory directory;
    bool broken = false;
    Store store(directory.path(), {.in_memory = false, .fault = [&broken](std::uint64_t) {
                                       return broken ? Fault::kFail : Fault::kNone;
                                   }});
    store.write(numbered(1), true);
    broken = true;
    CHECK_THROWS_AS(store.write(numbered(2), true), StorageError);
    broken = false;
    CHECK_THROWS_AS(store.write(numbered(3), true), StorageError);
    CHECK_THROWS_AS(store.write(numbered(3), false), StorageError);
    CHECK_FALSE(store.snapshot()->get(Column::kState, key("number")) == codec::encode(std::uint64_t{3}));
}

TEST_CASE("a write that fails is told before the database goes on") {
    const TemporaryDirectory directory;
    std::atomic<bool> is_broken = false;
    std::atomic<int> told = 0;
    {
        Store store(
            directory.path() / "db", {.in_memory = false,
                                      .fault = [&](std::uint64_t) { return is_broken ? Fault::kFail : Fault::kNone; },
                                      .on_disk_failure = [&](const std::string&) { ++told; }}
        );
        store.write(numbered(1), true);
        CHECK(told == 0);
        is_broken = true;
        CHECK_THROWS_AS(store.write(numbered(2), true), StorageError);
        CHECK(told > 0);
    }
    const Store again(directory.path() / "db");
    CHECK(number_in(again) == 1);
}
