// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/state_sync.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <thread>

#include <consensus/cometbft/handler.hpp>
#include <contracts/state/slots.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <tests/unit/consensus/fake_engine.hpp>
#include <tests/unit/consensus/toy_machine.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::node;
using namespace assay::node::test;
using assay::solo::test::TemporaryDirectory;

namespace {

contracts::Genesis rich_genesis() {
    contracts::Genesis genesis = make_genesis();
    // Accounts enough for a few chunks.
    for (std::uint32_t i = 0; i < 26'000; ++i) {
        const Hash256 hash = crypto::sha256(codec::encode(i));
        AccountId account;
        std::copy(hash.data.begin(), hash.data.end(), account.data.begin());
        genesis.balances[account] = Amount{i + 1};
    }
    return genesis;
}

/// A node behind ABCI, with a database and snapshots on disk.
struct Peer {
    explicit Peer(const std::filesystem::path& home, std::uint64_t interval = 0, storage::StoreOptions options = {})
        : store(home / "db", std::move(options)),
          sync(
              app, {.directory = home / "snapshots",
                    .interval_blocks = interval,
                    .keep = 2,
                    .on_note = [this](const std::string& text) { note(text); },
                    .on_restored = {}}
          ),
          handler(
              app, {.genesis = genesis(),
                    .software_version = "1",
                    .on_commit = [this](const auto&, const auto&) { sync.note_commit(); },
                    .state_sync = &sync}
          ) {
        app.init(genesis());
    }

    static const contracts::Genesis& genesis() {
        static const contracts::Genesis kGenesis = rich_genesis();
        return kGenesis;
    }

    std::string run_block(const std::vector<Bytes>& txs = {}) {
        const auto height = static_cast<std::int64_t>(app.info().height.value + 1);
        const auto response = handler.handle(cometbft::test::finalize_request(height, txs));
        handler.handle(cometbft::test::commit_request());
        return response.finalize_block().app_hash();
    }
    abci::ResponseListSnapshots list() {
        abci::Request request;
        request.mutable_list_snapshots();
        return handler.handle(request).list_snapshots();
    }
    std::string load(const abci::Snapshot& snapshot, std::uint32_t index) {
        abci::Request request;
        request.mutable_load_snapshot_chunk()->set_height(snapshot.height());
        request.mutable_load_snapshot_chunk()->set_format(snapshot.format());
        request.mutable_load_snapshot_chunk()->set_chunk(index);
        return handler.handle(request).load_snapshot_chunk().chunk();
    }
    abci::ResponseOfferSnapshot::Result offer(const abci::Snapshot& snapshot, const Hash256& app_hash) {
        abci::Request request;
        *request.mutable_offer_snapshot()->mutable_snapshot() = snapshot;
        request.mutable_offer_snapshot()->set_app_hash(string_of(app_hash));
        return handler.handle(request).offer_snapshot().result();
    }
    abci::ResponseApplySnapshotChunk apply(
        std::uint32_t index, const std::string& chunk, const std::string& sender = "s"
    ) {
        abci::Request request;
        request.mutable_apply_snapshot_chunk()->set_index(index);
        request.mutable_apply_snapshot_chunk()->set_chunk(chunk);
        request.mutable_apply_snapshot_chunk()->set_sender(sender);
        return handler.handle(request).apply_snapshot_chunk();
    }
    bool await_snapshot(std::uint64_t height) {
        for (int i = 0; i < 3'000; ++i) {
            const auto listed = list();
            for (const abci::Snapshot& snapshot : listed.snapshots()) {
                if (snapshot.height() == height) {
                    return true;
                }
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return false;
    }
    void note(const std::string& text) {
        const std::lock_guard lock(notes_mutex);
        notes += text + "\n";
    }
    bool noted(const std::string& text) {
        const std::lock_guard lock(notes_mutex);
        return notes.find(text) != std::string::npos;
    }

    std::mutex notes_mutex;
    std::string notes;
    storage::Store store;
    Application app{store, [] { return std::uint64_t{0}; }, true};
    StateSync sync;
    cometbft::Handler handler;
};

using Apply = abci::ResponseApplySnapshotChunk;
using Offer = abci::ResponseOfferSnapshot;

/// A peer with a snapshot of height 4 and blocks up to 6.
struct Server {
    TemporaryDirectory directory;
    Peer peer{directory.path(), 4};
    Hash256 app_hash;
    abci::Snapshot snapshot;

    Server() {
        for (std::uint64_t i = 0; i < 6; ++i) {
            peer.run_block({transfer(key(1), i, key(8).account(), 10 + i)});
            if (i == 3) {
                app_hash = peer.app.info().app_hash;
                REQUIRE(peer.await_snapshot(4));
            }
        }
        snapshot = peer.list().snapshots(0);
        REQUIRE(snapshot.chunks() >= 2);
    }
};

void restore(Peer& peer, Server& server) {
    REQUIRE(peer.offer(server.snapshot, server.app_hash) == Offer::ACCEPT);
    for (std::uint32_t i = 0; i < server.snapshot.chunks(); ++i) {
        REQUIRE(peer.apply(i, server.peer.load(server.snapshot, i)).result() == Apply::ACCEPT);
    }
}

/// The newcomer has the server's state of height 4 and does what it did.
void check_restored(Peer& peer, Server& server) {
    CHECK(peer.app.info().height == Height{4});
    CHECK(peer.app.committed()->first_history() == Height{5});
    CHECK(peer.app.info().app_hash == server.app_hash);
    const auto info = peer.handler.handle(cometbft::test::info_request()).info();
    CHECK(info.last_block_height() == 4);
    CHECK(info.last_block_app_hash() == string_of(server.app_hash));
    for (std::uint64_t height = 5; height <= 6; ++height) {
        const auto block = server.peer.app.kept_block(Height{height});
        CHECK(peer.run_block(block.txs) == string_of(server.peer.app.app_hash_at(Height{height})));
    }
    for (std::uint8_t seed = 1; seed <= 8; ++seed) {
        const Bytes slot = contracts::keys::account(key(seed).account());
        for (const std::uint64_t height : {4U, 5U, 6U}) {
            const auto here = peer.app.query({.key = slot, .height = Height{height}});
            const auto there = server.peer.app.query({.key = slot, .height = Height{height}});
            CHECK(here.value == there.value);
            CHECK(here.proof == there.proof);
            CHECK(here.app_hash == there.app_hash);
        }
    }
    CHECK_THROWS_AS(peer.app.query({.key = {1}, .height = Height{3}}), consensus::HeightNotKept);
    CHECK_THROWS_AS(peer.app.kept_block(Height{4}), consensus::HeightNotKept);
    CHECK(peer.app.kept_block(Height{5}).txs == server.peer.app.kept_block(Height{5}).txs);
}

/// A snapshot like the server's, of which chunk `index` was changed and the metadata with it.
abci::Snapshot forge(Server& server, std::uint32_t index, const std::string& chunk) {
    auto metadata = snapshot::decode_metadata(to_bytes(server.snapshot.metadata())).value();
    metadata.chunks[index] = crypto::sha256(to_bytes(chunk));
    abci::Snapshot out = server.snapshot;
    out.set_metadata(string_of(codec::encode(metadata)));
    out.set_hash(string_of(crypto::sha256(codec::encode(metadata))));
    return out;
}

}  // namespace

TEST_CASE("CMT-12: every node makes the same snapshots, keeps the last ones and serves them after a restart") {
    TemporaryDirectory one_home;
    TemporaryDirectory two_home;
    abci::ResponseListSnapshots before;
    {
        Peer one(one_home.path(), 2);
        Peer two(two_home.path(), 2);
        for (std::uint64_t i = 0; i < 6; ++i) {
            const std::vector<Bytes> txs{transfer(key(2), i, key(7).account(), 1)};
            one.run_block(txs);
            two.run_block(txs);
            if (i % 2 == 1) {
                REQUIRE(one.await_snapshot(i + 1));
                REQUIRE(two.await_snapshot(i + 1));
            }
        }
        before = one.list();
        REQUIRE(before.snapshots_size() == 2);
        CHECK(before.snapshots(0).height() == 6);
        CHECK(before.snapshots(1).height() == 4);
        CHECK(before.SerializeAsString() == two.list().SerializeAsString());
        for (std::uint32_t i = 0; i < before.snapshots(0).chunks(); ++i) {
            const std::string chunk = one.load(before.snapshots(0), i);
            CHECK(chunk == two.load(before.snapshots(0), i));
            CHECK(chunk.size() < 2 * snapshot::kChunkBytes);
        }
        CHECK(one.load(before.snapshots(0), before.snapshots(0).chunks()).empty());
        CHECK(std::distance(std::filesystem::directory_iterator(one_home.path() / "snapshots"), {}) == 2);
    }
    // What was half made when the process died is not offered, and goes.
    const auto part = one_home.path() / "snapshots" / "8.part";
    std::filesystem::copy(one_home.path() / "snapshots" / "6", part);
    const auto damaged = one_home.path() / "snapshots" / "10";
    std::filesystem::create_directory(damaged);
    Peer again(one_home.path(), 2);
    CHECK(again.list().SerializeAsString() == before.SerializeAsString());
    CHECK_FALSE(std::filesystem::exists(part));
    CHECK_FALSE(std::filesystem::exists(damaged));
}

TEST_CASE("CMT-13: a new node restores a snapshot and goes on as the others do") {
    Server server;
    TemporaryDirectory home;
    {
        Peer peer(home.path(), 5);
        const auto genesis_state = peer.app.committed();
        restore(peer, server);
        CHECK(peer.noted("restored chunk 1 of"));
        CHECK(peer.noted("the state is that of height 4"));
        // A view from before is what it was.
        CHECK(genesis_state->height() == Height{0});
        CHECK(contracts::get_account(*genesis_state, key(1).account()).balance.grains == kRich);
        CHECK(contracts::get_account(*peer.app.committed(), key(8).account()).balance.grains == 10 + 11 + 12 + 13);
        check_restored(peer, server);
        // It serves what it got, too.
        REQUIRE(peer.await_snapshot(5));
        CHECK(peer.offer(server.snapshot, server.app_hash) == Offer::ABORT);
        CHECK(peer.noted("has executed blocks of its own"));
    }
    Peer again(home.path(), 5);
    CHECK(again.app.info().height == Height{6});
    CHECK(again.app.info().app_hash == server.peer.app.info().app_hash);
}

TEST_CASE("CMT-13: a chunk that is not the announced one is asked for again elsewhere, and the rest goes on") {
    Server server;
    TemporaryDirectory home;
    Peer peer(home.path());
    REQUIRE(peer.offer(server.snapshot, server.app_hash) == Offer::ACCEPT);
    std::string bad = server.peer.load(server.snapshot, 0);
    bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] ^ 1);
    for (const std::string& chunk : {bad, std::string(), server.peer.load(server.snapshot, 1)}) {
        const auto answer = peer.apply(0, chunk, "liar");
        CHECK(answer.result() == Apply::RETRY);
        REQUIRE(answer.refetch_chunks_size() == 1);
        CHECK(answer.refetch_chunks(0) == 0);
        REQUIRE(answer.reject_senders_size() == 1);
        CHECK(answer.reject_senders(0) == "liar");
    }
    CHECK(peer.noted("from liar is not the one announced"));
    CHECK(peer.app.info().height == Height{0});
    for (std::uint32_t i = 0; i < server.snapshot.chunks(); ++i) {
        CHECK(peer.apply(i, server.peer.load(server.snapshot, i)).result() == Apply::ACCEPT);
    }
    check_restored(peer, server);
}

TEST_CASE("CMT-13: a snapshot that does not lead to the app hash is refused at its first bad chunk") {
    Server server;
    const std::string first = server.peer.load(server.snapshot, 0);
    auto chunk = snapshot::decode_chunk(to_bytes(first)).value();
    std::vector<std::string> forgeries;
    auto changed = chunk;
    changed.slots[7].value.back() ^= 1U;
    forgeries.push_back(string_of(codec::encode(changed)));
    changed = chunk;
    changed.slots.erase(changed.slots.begin() + 100);
    forgeries.push_back(string_of(codec::encode(changed)));
    changed = chunk;
    std::swap(changed.slots[3], changed.slots[4]);
    forgeries.push_back(string_of(codec::encode(changed)));
    changed = chunk;
    changed.slots.pop_back();
    forgeries.push_back(string_of(codec::encode(changed)));
    forgeries.push_back("no chunk");
    TemporaryDirectory home;
    Peer peer(home.path());
    for (const std::string& forgery : forgeries) {
        REQUIRE(peer.offer(forge(server, 0, forgery), server.app_hash) == Offer::ACCEPT);
        CHECK(peer.apply(0, forgery).result() == Apply::REJECT_SNAPSHOT);
        CHECK(peer.apply(0, first).result() == Apply::ABORT);
        CHECK(peer.app.info().height == Height{0});
    }
    CHECK(peer.noted("its proof does not lead to the app hash"));
    CHECK(peer.noted("do not follow those before it in order"));
    // A right snapshot for another app hash.
    REQUIRE(peer.offer(server.snapshot, server.peer.app.info().app_hash) == Offer::ACCEPT);
    CHECK(peer.apply(0, first).result() == Apply::REJECT_SNAPSHOT);
    // The first chunk alone is not the state, nor is there more after the last.
    abci::Snapshot shorter = forge(server, 0, first);
    auto metadata = snapshot::decode_metadata(to_bytes(shorter.metadata())).value();
    metadata.chunks.resize(1);
    shorter.set_chunks(1);
    shorter.set_metadata(string_of(codec::encode(metadata)));
    shorter.set_hash(string_of(crypto::sha256(codec::encode(metadata))));
    REQUIRE(peer.offer(shorter, server.app_hash) == Offer::ACCEPT);
    CHECK(peer.apply(0, first).result() == Apply::REJECT_SNAPSHOT);
    // After all that a sound one restores.
    restore(peer, server);
    check_restored(peer, server);
}

TEST_CASE("CMT-13: offers that contradict themselves or are of another format are refused") {
    Server server;
    TemporaryDirectory home;
    Peer peer(home.path());
    abci::Snapshot bad = server.snapshot;
    bad.set_format(2);
    CHECK(peer.offer(bad, server.app_hash) == Offer::REJECT_FORMAT);
    bad = server.snapshot;
    bad.set_height(5);
    CHECK(peer.offer(bad, server.app_hash) == Offer::REJECT);
    bad = server.snapshot;
    bad.set_chunks(bad.chunks() + 1);
    CHECK(peer.offer(bad, server.app_hash) == Offer::REJECT);
    bad = server.snapshot;
    bad.set_hash("short");
    CHECK(peer.offer(bad, server.app_hash) == Offer::REJECT);
    bad.set_hash(std::string(32, 'x'));
    CHECK(peer.offer(bad, server.app_hash) == Offer::REJECT);
    bad = server.snapshot;
    bad.set_metadata("");
    CHECK(peer.offer(bad, server.app_hash) == Offer::REJECT);
    CHECK(peer.apply(0, "").result() == Apply::ABORT);
    // Nothing was touched: the node is at its genesis and makes blocks.
    peer.run_block();
    CHECK(peer.app.info().height == Height{1});
}

TEST_CASE(
    "CMT-13: a process that dies while restoring begins with the genesis, and can restore again" *
    doctest::test_suite("full")
) {
    Server server;
    TemporaryDirectory home;
    Hash256 genesis_hash;
    {
        Peer peer(home.path());
        genesis_hash = peer.app.info().app_hash;
        REQUIRE(peer.offer(server.snapshot, server.app_hash) == Offer::ACCEPT);
        REQUIRE(peer.apply(0, server.peer.load(server.snapshot, 0)).result() == Apply::ACCEPT);
        // Neither a block nor another order of chunks.
        CHECK_THROWS(peer.run_block());
        CHECK(peer.apply(0, server.peer.load(server.snapshot, 0)).result() == Apply::ABORT);
    }
    {
        Peer peer(home.path());
        CHECK(peer.app.info().height == Height{0});
        CHECK(peer.app.info().app_hash == genesis_hash);
        CHECK(peer.app.query({.key = {1}, .height = {}}).app_hash == genesis_hash);
        CHECK(peer.apply(1, server.peer.load(server.snapshot, 1)).result() == Apply::ABORT);
        // The engine began over as well, and after the last chunk once more.
        restore(peer, server);
        restore(peer, server);
    }
    Peer peer(home.path());
    check_restored(peer, server);
}

TEST_CASE(
    "CMT-13: a process that dies at many a write of a restore has the genesis or the snapshot, and nothing between" *
    doctest::test_suite("full")
) {
    Server server;
    Hash256 genesis_hash;
    bool was_whole = false;
    bool was_genesis = false;
    for (std::uint64_t dies_at = 1; !was_whole; dies_at += 8) {
        REQUIRE(dies_at < 200);
        TemporaryDirectory home;
        {
            Peer peer(home.path());
            genesis_hash = peer.app.info().app_hash;
        }
        try {
            // Counted from the offer on.
            const auto begun = std::make_shared<std::uint64_t>(0);
            const auto is_restoring = std::make_shared<bool>(false);
            storage::StoreOptions options;
            options.fault = [=](std::uint64_t) {
                *begun += *is_restoring ? 1U : 0U;
                return *begun == dies_at ? storage::Fault::kTear : storage::Fault::kNone;
            };
            Peer peer(home.path(), 0, options);
            *is_restoring = true;
            // No check around what may throw.
            bool accepted = peer.offer(server.snapshot, server.app_hash) == Offer::ACCEPT;
            for (std::uint32_t i = 0; i < server.snapshot.chunks(); ++i) {
                accepted = peer.apply(i, server.peer.load(server.snapshot, i)).result() == Apply::ACCEPT && accepted;
            }
            CHECK(accepted);
            was_whole = true;
        } catch (const storage::StorageError&) {
        }
        Peer peer(home.path());
        const auto info = peer.app.info();
        if (info.height == Height{0}) {
            CHECK_FALSE(was_whole);
            was_genesis = true;
            CHECK(info.app_hash == genesis_hash);
            restore(peer, server);
        }
        check_restored(peer, server);
    }
    CHECK(was_genesis);
}

TEST_CASE("CMT-13: an engine that gives up a snapshot and begins at the genesis gets it") {
    Server server;
    TemporaryDirectory home;
    Peer peer(home.path());
    const Hash256 genesis_hash = peer.app.info().app_hash;
    REQUIRE(peer.offer(server.snapshot, server.app_hash) == Offer::ACCEPT);
    REQUIRE(peer.apply(0, server.peer.load(server.snapshot, 0)).result() == Apply::ACCEPT);
    const auto answer = peer.handler.handle(cometbft::test::init_request(kChainId)).init_chain();
    CHECK(answer.app_hash() == string_of(genesis_hash));
    peer.run_block({transfer(key(1), 0, key(8).account(), 10)});
    CHECK(peer.app.info().app_hash == server.peer.app.app_hash_at(Height{1}));
}
