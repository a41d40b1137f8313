// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include <contracts/state/slots.hpp>
#include <core/crypto/hash.hpp>
#include <core/codec/borsh.hpp>
#include <core/merkle/jmt.hpp>
#include <node/daemon/application.hpp>
#include <node/daemon/config.hpp>
#include <node/state/state_store.hpp>
#include <tests/unit/consensus/toy_machine.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::node;
using namespace assay::node::test;
using assay::solo::test::TemporaryDirectory;
using storage::Column;

namespace {

storage::StoreOptions in_memory() { return {.in_memory = true, .write_buffer_bytes = 0, .fault = {}}; }

Bytes slot_of(std::uint64_t number) {
    return {static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(number >> 8U)};
}

contracts::Changes random_changes(
    std::mt19937_64& random, std::uint64_t slots, std::uint64_t count, std::size_t bytes
) {
    contracts::Changes changes;
    for (std::uint64_t i = 0; i < count; ++i) {
        Bytes value(bytes);
        for (std::uint8_t& byte : value) {
            byte = static_cast<std::uint8_t>(random());
        }
        changes[slot_of(random() % slots)] = random() % 4 == 0 ? std::nullopt : std::optional(std::move(value));
    }
    return changes;
}

void write_height(storage::Store& store, std::uint64_t height, const contracts::Changes& changes) {
    storage::Batch batch;
    write_state(
        batch, *store.snapshot(), height == 0 ? std::nullopt : std::optional(height - 1), Height{height}, changes
    );
    store.write(batch, false);
}

void prune_height(storage::Store& store, std::uint64_t height) {
    storage::Batch batch;
    prune_state(batch, *store.snapshot(), Height{height});
    store.write(batch, false);
}

std::size_t count(const storage::Store& store, Column column) {
    return store.snapshot()->scan(column, {}, {}, 1'000'000).size();
}

std::uintmax_t bytes_on_disk(const std::filesystem::path& directory) {
    std::uintmax_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        std::error_code gone;
        const auto size = entry.file_size(gone);
        bytes += entry.path().extension() == ".sst" && !gone ? size : 0;
    }
    return bytes;
}

std::optional<Bytes> value_at(const storage::Snapshot& snapshot, const Bytes& slot, Height height) {
    const auto there = read_slot_at(snapshot, crypto::sha256(slot), height);
    return there ? std::optional(there->value) : std::nullopt;
}

}  // namespace

TEST_CASE("CMT-14: after pruning, values and proofs at every kept height are those of a node that keeps everything") {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        constexpr std::uint64_t kHeights = 40;
        const std::uint64_t slots = seed % 2 == 0 ? 12 : 200;
        std::mt19937_64 random(seed);
        storage::Store all("/memory", in_memory());
        storage::Store some("/memory", in_memory());
        std::uint64_t first = 0;
        for (std::uint64_t height = 0; height < kHeights; ++height) {
            const auto changes = random_changes(random, slots, random() % 30, 3);
            write_height(all, height, changes);
            write_height(some, height, changes);
            // Sometimes behind, sometimes up to the last height.
            for (std::uint64_t steps = random() % 3; steps > 0 && first < height; --steps) {
                prune_height(some, first++);
            }
            const auto here = some.snapshot();
            const auto there = all.snapshot();
            for (std::uint64_t kept = first; kept <= height; kept += 1 + random() % 4) {
                REQUIRE(merkle::root_at(TreeReader(*here), kept) == merkle::root_at(TreeReader(*there), kept));
                for (std::uint64_t i = 0; i < slots + 2; i += 1 + random() % 5) {
                    const Bytes slot = slot_of(i);
                    REQUIRE(value_at(*here, slot, Height{kept}) == value_at(*there, slot, Height{kept}));
                    REQUIRE(
                        merkle::prove(TreeReader(*here), kept, slot) == merkle::prove(TreeReader(*there), kept, slot)
                    );
                }
            }
        }
        // With the last state alone nothing is left over: its tree, and one value for each of its slots.
        while (first < kHeights - 1) {
            prune_height(some, first++);
        }
        contracts::Changes last;
        for (const auto& slot : scan_slots(*some.snapshot(), std::nullopt, 10'000)) {
            last[slot.key] = slot.value;
        }
        storage::Store fresh("/memory", in_memory());
        write_height(fresh, 0, last);
        CHECK(count(some, Column::kTree) == count(fresh, Column::kTree));
        CHECK(count(some, Column::kValues) == last.size());
        CHECK(count(some, Column::kStale) == 0);
    }
}

TEST_CASE("CMT-14: pruning frees the disk") {
    const TemporaryDirectory directory;
    storage::StoreOptions options;
    options.write_buffer_bytes = std::size_t{128} << 10U;
    storage::Store store(directory.path() / "db", options);
    std::mt19937_64 random(3);
    constexpr std::uint64_t kHeights = 300;
    constexpr std::uint64_t kKept = 20;
    write_height(store, 0, random_changes(random, 500, 500, 200));
    std::uint64_t height = 1;
    for (; height < kHeights; ++height) {
        write_height(store, height, random_changes(random, 500, 60, 200));
    }
    const std::uintmax_t before = bytes_on_disk(directory.path() / "db");
    REQUIRE(before > 2'000'000);
    for (std::uint64_t first = 0; first + kKept < height; ++first) {
        prune_height(store, first);
    }
    // The chain goes on, and so does pruning; the database compacts beside it.
    std::uintmax_t after = before;
    for (int i = 0; i < 200 && after * 3 > before; ++i, ++height) {
        write_height(store, height, random_changes(random, 500, 60, 200));
        prune_height(store, height - kKept);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        after = bytes_on_disk(directory.path() / "db");
    }
    MESSAGE("bytes before: " << before << ", after: " << after);
    CHECK(after * 3 < before);
}

namespace {

constexpr std::uint64_t kKeep = 7;

/// Blocks with a transfer or two, some of which fail.
std::vector<std::vector<Bytes>> sample_blocks(std::uint64_t blocks) {
    std::vector<std::vector<Bytes>> out;
    for (std::uint64_t i = 0; i < blocks; ++i) {
        std::vector<Bytes> txs{transfer(key(1), i, key(5).account(), i + 1)};
        if (i % 3 == 0) {
            txs.push_back(transfer(key(2), i / 3, key(static_cast<std::uint8_t>(6 + i % 4)).account(), 5));
            txs.push_back(txs.front());  // its nonce is used
        }
        out.push_back(std::move(txs));
    }
    return out;
}

struct Chain {
    explicit Chain(std::uint64_t keep)
        : app(
              store, [] { return std::uint64_t{0}; }, true, keep
          ) {
        app.init(make_genesis());
    }
    storage::Store store{"/memory", in_memory()};
    Application app;

    void run(const std::vector<Bytes>& txs) {
        app.finalize(make_block(app.info().height.value + 1, txs));
        app.commit();
    }
};

void check_same(const Application& one, const Application& other, Height height) {
    for (std::uint8_t seed = 1; seed <= 10; ++seed) {
        const Bytes slot = contracts::keys::account(key(seed).account());
        const auto here = one.query({.key = slot, .height = height});
        const auto there = other.query({.key = slot, .height = height});
        CHECK(here.app_hash == there.app_hash);
        CHECK(here.value == there.value);
        CHECK(here.proof == there.proof);
    }
}

}  // namespace

TEST_CASE("CMT-14: a pruning node has the same app hashes, and says from which height on it has what it has") {
    Chain all(0);
    Chain some(kKeep);
    CHECK(all.app.retain_height() == Height{0});
    for (const auto& txs : sample_blocks(30)) {
        all.run(txs);
        some.run(txs);
        CHECK(all.app.info().app_hash == some.app.info().app_hash);
    }
    const auto state = some.app.committed();
    CHECK(state->first_state() == Height{30 - kKeep});
    CHECK(state->first_block() == Height{30 - kKeep + 1});
    CHECK(state->first_history() == Height{1});
    CHECK(some.app.retain_height() == state->first_block());
    for (std::uint64_t height = 30 - kKeep; height <= 30; ++height) {
        check_same(some.app, all.app, Height{height});
    }
    try {
        some.app.query({.key = {1}, .height = Height{22}});
        FAIL("the state is not kept");
    } catch (const consensus::HeightNotKept& error) {
        CHECK(error.first() == Height{23});
        CHECK(error.last() == Height{30});
        CHECK(std::string(error.what()) == "the state of height 22 is not here: heights 23 to 30 are");
    }
    CHECK_THROWS_AS(some.app.app_hash_at(Height{22}), consensus::HeightNotKept);
    CHECK_THROWS_AS(some.app.kept_block(Height{23}), consensus::HeightNotKept);
    // Of the history, what lists old blocks is gone and nothing else.
    const history::Reader here(state->snapshot());
    const auto kept_all = all.app.committed();
    const history::Reader there(kept_all->snapshot());
    for (std::uint64_t height = 1; height <= 30; ++height) {
        const bool is_kept = height > 23;
        CHECK(here.receipts(Height{height}).has_value() == is_kept);
        const auto block = there.kept_block(Height{height}).value();
        CHECK((here.find_tx(contracts::tx_hash(block.txs[0])).has_value()) == is_kept);
        if (is_kept) {
            CHECK(some.app.kept_block(Height{height}).txs == block.txs);
        }
    }
    CHECK(here.account_txs(key(1).account(), 0, 100).items.front().height == Height{24});
    CHECK(count(some.store, Column::kHistory) < count(all.store, Column::kHistory) / 2);
}

TEST_CASE("CMT-14: pruning that is switched on late catches up, some heights with each block") {
    storage::Store store("/memory", in_memory());
    const auto blocks = sample_blocks(1'500);
    const auto clock = [] { return std::uint64_t{0}; };
    {
        Application app(store, clock, true);
        app.init(make_genesis());
        for (std::uint64_t i = 0; i < 1'400; ++i) {
            app.finalize(make_block(i + 1, i < 40 ? blocks[i] : std::vector<Bytes>{}));
            app.commit();
        }
    }
    Application app(store, clock, true, kKeep);
    CHECK(app.committed()->first_state() == Height{0});
    app.finalize(make_block(1'401, {}));
    app.commit();
    const Height first = app.committed()->first_state();
    CHECK(first > Height{100});
    CHECK(first < Height{1'000});
    for (std::uint64_t height = 1'402; height <= 1'410; ++height) {
        app.finalize(make_block(height, {}));
        app.commit();
    }
    CHECK(app.committed()->first_state() == Height{1'410 - kKeep});
    CHECK(count(store, Column::kStale) == kKeep);
    CHECK(contracts::get_account(*app.committed(), key(1).account()).nonce == 40);
}

TEST_CASE("CMT-14: a node that dies at any write while it prunes goes on where it was" * doctest::test_suite("full")) {
    Chain all(0);
    const auto blocks = sample_blocks(24);
    for (const auto& txs : blocks) {
        all.run(txs);
    }
    const auto clock = [] { return std::uint64_t{0}; };
    for (std::uint64_t dies_at = 3; dies_at < 90; dies_at += 4) {
        const TemporaryDirectory directory;
        for (const bool dies : {true, false}) {
            storage::StoreOptions options;
            if (dies) {
                options.fault = [dies_at](std::uint64_t number) {
                    return number == dies_at ? storage::Fault::kTear : storage::Fault::kNone;
                };
            }
            try {
                storage::Store store(directory.path() / "db", options);
                Application app(store, clock, true, kKeep);
                app.init(make_genesis());
                while (app.info().height.value < blocks.size()) {
                    const std::uint64_t next = app.info().height.value + 1;
                    app.finalize(make_block(next, blocks[next - 1]));
                    app.commit();
                }
                CHECK(app.info().app_hash == all.app.info().app_hash);
                CHECK(app.committed()->first_state() == Height{24 - kKeep});
                for (std::uint64_t height = 24 - kKeep; height <= 24; ++height) {
                    check_same(app, all.app, Height{height});
                }
                CHECK(count(store, Column::kStale) == kKeep);
            } catch (const storage::StorageError&) {
                CHECK(dies);
            }
        }
    }
}

TEST_CASE("CMT-14: a node that would keep too little does not start") {
    Config config;
    CHECK_NOTHROW(check_pruning(config, 1'000));
    config.pruning_keep_blocks = 1'000;
    CHECK_NOTHROW(check_pruning(config, 1'000));
    CHECK_THROWS_WITH_AS(
        check_pruning(config, 1'001),
        "pruning.keep_blocks is 1000 and must be 0 or at least 1001: evidence of a validator's double signing counts "
        "for "
        "unbonding_blocks blocks",
        ConfigError
    );
    config.snapshot_interval_blocks = 333;
    CHECK_NOTHROW(check_pruning(config, 1'000));
    config.snapshot_interval_blocks = 334;
    CHECK_THROWS_AS(check_pruning(config, 1'000), ConfigError);
    config.snapshot_interval_blocks = 0;
    config.pruning_keep_blocks = 99;
    CHECK_THROWS_AS(check_pruning(config, 1), ConfigError);
}
