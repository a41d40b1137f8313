// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <fstream>

#include <consensus/solo/block_log.hpp>
#include <consensus/solo/engine.hpp>
#include <contracts/state/slots.hpp>
#include <core/system/file.hpp>
#include <node/api/genesis_file.hpp>
#include <node/daemon/backup.hpp>
#include <node/daemon/config.hpp>
#include <node/daemon/node.hpp>
#include <node/daemon/prune.hpp>
#include <node/daemon/replay.hpp>
#include <node/daemon/state_sync.hpp>
#include <node/state/archive.hpp>
#include <tests/unit/consensus/toy_machine.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::node;
using namespace assay::node::test;
using assay::solo::test::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kKeep = kKeepBlocksMin;

contracts::Genesis genesis_of(const std::string& chain_id) {
    contracts::Genesis genesis = make_genesis();
    genesis.chain_id = chain_id;
    return genesis;
}

Home make_home(const fs::path& root, const std::string& chain_id = kChainId) {
    const Home home{root};
    fs::create_directories(home.data());
    write_text(home.config(), to_config_toml());
    write_genesis(home.genesis(), genesis_of(chain_id), EngineKind::kSolo);
    write_node_key(home.node_key(), key(9));
    return home;
}

/// Adds blocks up to `height` to the home's chain. On the chain kChainId every tenth has a transfer.
void make_blocks(const Home& home, std::uint64_t height) {
    storage::Store store(home.db(), {.in_memory = false, .fault = {}});
    Application application(store, [] { return std::uint64_t{0}; });
    const auto genesis = read_genesis(home.genesis());
    application.init(genesis);
    solo::BlockLog log(home.block_log());
    std::uint64_t now = 1'000 + 10 * log.height().value;
    solo::SoloEngine engine(
        application, log,
        {.chain_id = genesis.chain_id,
         .proposer = key(9),
         .mempool = {},
         .now_ms = [&] { return now += 10; },
         .signing_randomness = [] { return std::array<std::uint8_t, 32>{}; },
         .after_stage = {},
         .on_failure = {}}
    );
    while (log.height().value < height) {
        if (genesis.chain_id == kChainId && (log.height().value + 1) % 10 == 0) {
            const auto nonce = contracts::get_account(*application.committed(), key(1).account()).nonce;
            REQUIRE(engine.submit(transfer(key(1), nonce, key(2).account(), 1'000)));
        }
        engine.make_block();
    }
}

NodeOptions options(const Home& home) {
    return {.home = home, .config = {}, .genesis = read_genesis(home.genesis()), .key = key(9), .on_failure = {}};
}

Hash256 app_hash_of(const Home& home) { return Node(options(home)).status().app_hash; }

std::string prune_error(const PruneOptions& options) {
    try {
        prune_log(options);
    } catch (const PruneError& error) {
        return error.what();
    }
    return "";
}

std::string start_error(const Home& home) {
    try {
        const Node node(options(home));
    } catch (const solo::HandshakeError& error) {
        return error.what();
    }
    return "";
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a pruned log goes on, also without its database, and the archive has the whole chain") {
    const TemporaryDirectory directory;
    const Home home = make_home(directory.path() / "home");
    const fs::path archive = directory.path() / "archive.log";
    make_blocks(home, 250);
    const Hash256 before = app_hash_of(home);

    const PruneReport report = prune_log({.home = home, .keep_blocks = kKeep, .archive = archive});
    CHECK(report.first.value == 151);
    CHECK(report.height.value == 250);
    CHECK(report.removed_blocks == 150);
    CHECK(report.bytes_after < report.bytes_before / 2);
    CHECK(report.archive_first.value == 1);
    CHECK(report.archive_height.value == 250);
    {
        const Node node(options(home));
        CHECK(node.status().app_hash == before);
        CHECK(node.status().first_block.value == 151);
        CHECK(node.block(Height{151}).has_value());
        CHECK_THROWS_AS(static_cast<void>(node.block(Height{150})), consensus::HeightNotKept);
        // Of the 25 transfers those in the 100 blocks that are left are listed.
        CHECK(node.account_history(key(1).account(), 0, 100).items.size() == 10);
    }
    make_blocks(home, 260);
    const Hash256 after = app_hash_of(home);
    CHECK(after != before);

    fs::remove_all(home.db());
    {
        const Node node(options(home));
        CHECK(node.status().app_hash == after);
        CHECK(node.status().first_block.value == 251);
        CHECK(node.start_notes().front().find("restored the state at height 250") == 0);
    }
    make_blocks(home, 270);
    const auto genesis = read_genesis(home.genesis());
    const ReplayReport short_replay = replay_log(genesis, home.block_log(), home.log_base(), {});
    CHECK(short_replay.from.value == 250);
    CHECK(short_replay.blocks == 20);

    const PruneReport again = prune_log({.home = home, .keep_blocks = kKeep, .archive = archive});
    CHECK(again.first.value == 171);
    CHECK(again.archive_first.value == 1);
    const ReplayReport whole = replay_log(genesis, archive, {}, {});
    CHECK(whole.from.value == 0);
    CHECK(whole.blocks == 270);
    CHECK(whole.app_hash == app_hash_of(home));
}

TEST_CASE("pruning changes nothing where there is nothing to cut, and still extends the archive") {
    const TemporaryDirectory directory;
    const Home home = make_home(directory.path() / "home");
    const fs::path archive = directory.path() / "archive.log";
    make_blocks(home, kKeep);
    const PruneReport report = prune_log({.home = home, .keep_blocks = kKeep, .archive = archive});
    CHECK(report.removed_blocks == 0);
    CHECK(report.first.value == 1);
    CHECK(report.archive_height.value == kKeep);
    CHECK_FALSE(fs::exists(home.log_base()));
    CHECK(has(prune_error({.home = home, .keep_blocks = kKeep - 1, .discards = true}), "at least 100"));
}

TEST_CASE("an archive of another chain, and one with a gap before the log, are refused and the log stays") {
    const TemporaryDirectory directory;
    const Home home = make_home(directory.path() / "home");
    const Home other = make_home(directory.path() / "other", "node-2");
    make_blocks(home, 220);
    make_blocks(other, 120);
    CHECK(has(prune_error({.home = home, .keep_blocks = kKeep, .archive = other.block_log()}), "another chain"));
    CHECK(start_error(home).empty());

    const fs::path old = directory.path() / "old.log";
    solo::BlockLog(old).append_from(solo::BlockLog(home.block_log(), solo::BlockLog::Mode::kReadOnly), Height{1});
    fs::resize_file(old, fs::file_size(old) / 4);
    prune_log({.home = home, .keep_blocks = kKeep, .discards = true});
    CHECK(has(prune_error({.home = home, .keep_blocks = kKeep, .archive = old}), "the archive of the last pruning"));
}

TEST_CASE("without its database a pruned log is refused where the state that it begins with is missing or damaged") {
    const TemporaryDirectory directory;
    const Home home = make_home(directory.path() / "home");
    make_blocks(home, 220);
    prune_log({.home = home, .keep_blocks = kKeep, .discards = true});
    const fs::path chunk = home.log_base() / "220" / "0";
    REQUIRE(fs::exists(chunk));
    const auto whole = system::read_file(chunk).value();
    auto damaged = whole;
    damaged[damaged.size() / 2] ^= 1;
    std::ofstream(chunk, std::ios::binary) << damaged;
    CHECK(start_error(home).empty());  // the database has what is needed

    fs::remove_all(home.db());
    CHECK(has(start_error(home), "is damaged: restore a backup"));
    CHECK(has(start_error(home), "is damaged: restore a backup"));
    std::ofstream(chunk, std::ios::binary) << whole;
    CHECK(start_error(home).empty());

    fs::remove_all(home.db());
    fs::remove_all(home.log_base());
    CHECK(has(start_error(home), "is missing: restore a backup"));
    CHECK_FALSE(fs::exists(home.log_base()));
}

TEST_CASE("a process that dies while it prunes leaves a home that starts, and pruning again ends as it should") {
    const TemporaryDirectory directory;
    const Home origin = make_home(directory.path() / "origin");
    make_blocks(origin, 230);
    const Hash256 app_hash = app_hash_of(origin);
    const Home pruned{directory.path() / "pruned"};
    fs::copy(origin.root, pruned.root, fs::copy_options::recursive);
    prune_log({.home = pruned, .keep_blocks = kKeep, .discards = true});

    enum class Death : std::uint8_t { kBeforeBase, kInBase, kAfterBase, kInCopy, kAfterRename };
    for (const Death death :
         {Death::kBeforeBase, Death::kInBase, Death::kAfterBase, Death::kInCopy, Death::kAfterRename}) {
        CAPTURE(static_cast<int>(death));
        const Home home{directory.path() / ("home" + std::to_string(static_cast<int>(death)))};
        fs::copy(origin.root, home.root, fs::copy_options::recursive);
        if (death == Death::kInBase) {
            fs::create_directories(home.log_base() / "230.part");
            std::ofstream(home.log_base() / "230.part" / "0") << "half";
        }
        if (death >= Death::kAfterBase) {
            fs::copy(pruned.log_base(), home.log_base(), fs::copy_options::recursive);
        }
        if (death == Death::kInCopy) {
            fs::copy(pruned.block_log(), home.block_log().string() + ".pruned");
            fs::resize_file(home.block_log().string() + ".pruned", 1'000);
        }
        if (death == Death::kAfterRename) {
            fs::copy(pruned.block_log(), home.block_log(), fs::copy_options::overwrite_existing);
        }
        CHECK(app_hash_of(home) == app_hash);
        CHECK(Node(options(home)).status().first_block.value == (death == Death::kAfterRename ? 131 : 1));
        const PruneReport report = prune_log({.home = home, .keep_blocks = kKeep, .discards = true});
        CHECK(report.first.value == 131);
        fs::remove_all(home.db());
        CHECK(app_hash_of(home) == app_hash);
    }
}

TEST_CASE("a backup of a pruned home has the state that its log begins with") {
    const TemporaryDirectory directory;
    const Home home = make_home(directory.path() / "home");
    make_blocks(home, 220);
    prune_log({.home = home, .keep_blocks = kKeep, .discards = true});
    make_blocks(home, 225);
    const fs::path backup = directory.path() / "backup";
    make_backup({.home = home, .out = backup});
    const Home restored{directory.path() / "restored"};
    CHECK(restore_backup(backup, restored, {}).height.value == 225);
    write_node_key(restored.node_key(), key(9));
    CHECK(app_hash_of(restored) == app_hash_of(home));
    fs::remove_all(backup / "data/base");
    CHECK_THROWS(restore_backup(backup, Home{directory.path() / "again"}, {}));
}
