// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <fstream>

#include <consensus/solo/block_log.hpp>
#include <consensus/solo/engine.hpp>
#include <core/system/file.hpp>
#include <node/api/genesis_file.hpp>
#include <node/daemon/backup.hpp>
#include <node/daemon/node.hpp>
#include <tests/unit/consensus/toy_machine.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::node;
using namespace assay::node::test;
using namespace std::chrono_literals;
using assay::solo::test::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

/// A home as `assayd init` makes it.
Home make_home(const fs::path& root) {
    const Home home{root};
    fs::create_directories(home.data());
    Config config;
    config.block_interval_ms = 2;
    write_text(home.config(), to_config_toml(config));
    write_genesis(home.genesis(), make_genesis(), EngineKind::kSolo);
    write_node_key(home.node_key(), key(9));
    return home;
}

NodeOptions options(const Home& home) {
    Config config;
    config.block_interval_ms = 2;
    return {.home = home, .config = config, .genesis = make_genesis(), .key = key(9), .on_failure = {}};
}

void run_until(Node& node, std::uint64_t height) {
    while (node.status().height.value < height) {
        node.wait_for_block(node.status().height, 1s);
    }
}

BackupReport restore(const fs::path& from, const fs::path& to) { return restore_backup(from, Home{to}, {}); }

std::string error_of(const fs::path& from, const fs::path& to) {
    try {
        restore(from, to);
    } catch (const BackupError& error) {
        return error.what();
    } catch (const solo::HandshakeError& error) {
        return error.what();
    } catch (const solo::BlockLogError& error) {
        return error.what();
    }
    return "";
}

void append(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::app) << text; }

}  // namespace

TEST_CASE("a backup made beside a running node restores to the same app hash and goes on from there") {
    const TemporaryDirectory directory;
    const Home home = make_home(directory.path() / "home");
    const fs::path backup = directory.path() / "backup";
    BackupReport made;
    {
        Node node(options(home));
        node.start();
        run_until(node, 10);
        made = make_backup({.home = home, .out = backup});
        const auto at = made.height;
        run_until(node, at.value + 5);
        CHECK(node.block(at).value().app_hash == made.app_hash);
    }
    CHECK(made.height.value >= 10);
    CHECK_FALSE(fs::exists(backup / "node_key"));
    CHECK_THROWS_AS(make_backup({.home = home, .out = backup}), BackupError);

    const Home restored{directory.path() / "restored"};
    const BackupReport report = restore(backup, restored.root / "");
    CHECK(report.height == made.height);
    CHECK(report.app_hash == made.app_hash);
    CHECK_FALSE(fs::exists(restored.root.string() + ".partial"));
    Node node(options(restored));
    CHECK(node.status().height == made.height);
    CHECK(node.status().app_hash == made.app_hash);
    node.start();
    run_until(node, made.height.value + 3);
}

TEST_CASE("a backup holds the log up to its last whole record, and keys only when they are asked for") {
    const TemporaryDirectory directory;
    const Home home = make_home(directory.path() / "home");
    {
        Node node(options(home));
        node.start();
        run_until(node, 5);
    }
    append(home.block_log(), "a record that a crash cut sho");
    const std::uint64_t torn_size = fs::file_size(home.block_log());
    const auto made = make_backup({.home = home, .out = directory.path() / "b", .with_keys = true});
    CHECK(made.has_keys);
    CHECK(fs::file_size(home.block_log()) == torn_size);
    CHECK(fs::file_size(directory.path() / "b/data/blocks.log") == torn_size - 29);
    CHECK(restore(directory.path() / "b", directory.path() / "r").app_hash == made.app_hash);
    CHECK(read_node_key(directory.path() / "r/node_key").account() == key(9).account());
}

TEST_CASE("what a kill left of a backup or a restore does not count and is made again") {
    const TemporaryDirectory directory;
    const Home home = make_home(directory.path() / "home");
    {
        Node node(options(home));
        node.start();
        run_until(node, 3);
    }
    const fs::path backup = directory.path() / "b";
    for (const char* left : {"b.partial", "r.partial"}) {
        fs::create_directories(directory.path() / left / "data");
        append(directory.path() / left / "data/blocks.log", "half");
    }
    make_backup({.home = home, .out = backup});
    CHECK(error_of(backup, directory.path() / "r").empty());
    CHECK_FALSE(fs::exists(directory.path() / "b.partial"));
    CHECK_FALSE(fs::exists(directory.path() / "r.partial"));
}

TEST_CASE("a restore refuses damage, a foreign genesis, a manifest that leads elsewhere, and a home that is there") {
    const TemporaryDirectory directory;
    const Home home = make_home(directory.path() / "home");
    {
        Node node(options(home));
        node.start();
        run_until(node, 4);
    }
    const fs::path backup = directory.path() / "b";
    const fs::path to = directory.path() / "r";
    make_backup({.home = home, .out = backup});
    const auto damaged = [&](const char* name) {
        const fs::path copy = directory.path() / name;
        fs::copy(backup, copy, fs::copy_options::recursive);
        return copy;
    };
    CHECK(error_of(backup, home.root).find("not empty") != std::string::npos);
    CHECK(error_of(directory.path(), to).find("manifest.json") != std::string::npos);

    const fs::path longer = damaged("longer");
    append(longer / "genesis.json", " ");
    CHECK(error_of(longer, to).find("genesis.json is damaged") != std::string::npos);

    // Whole by its checksums, but of another chain.
    const fs::path foreign = damaged("foreign");
    auto other = make_genesis();
    other.balances[key(7).account()] = Amount{1};
    const Home foreign_home{directory.path() / "foreign-home"};
    fs::copy(home.root, foreign_home.root, fs::copy_options::recursive);
    fs::remove(foreign_home.genesis());
    write_genesis(foreign_home.genesis(), other, EngineKind::kSolo);
    make_backup({.home = foreign_home, .out = directory.path() / "of-foreign"});
    CHECK(error_of(directory.path() / "of-foreign", to) != "");

    const fs::path leading = damaged("leading");
    std::string manifest = *system::read_file(leading / "manifest.json");
    manifest.replace(manifest.find("\"genesis.json\""), 14, "\"../outside\"");
    REQUIRE(system::write_file(leading / "manifest.json", manifest));
    CHECK(error_of(leading, to).find("damaged at the file \"../outside\"") != std::string::npos);
    CHECK_FALSE(fs::exists(to));
}

TEST_CASE("a home with CometBFT is not backed up while its node runs, nor where the engine is elsewhere") {
    const TemporaryDirectory directory;
    const Home home = make_home(directory.path() / "home");
    const HomeLock running(home);
    const BackupOptions asked{.home = home, .engine = EngineKind::kCometBft, .out = directory.path() / "b"};
    CHECK_THROWS_WITH_AS(make_backup(asked), doctest::Contains("while its node is stopped"), BackupError);
    BackupOptions attached = asked;
    attached.is_attached = true;
    CHECK_THROWS_WITH_AS(make_backup(attached), doctest::Contains("cometbft.attach"), BackupError);
    CHECK_FALSE(fs::exists(directory.path() / "b"));
}

TEST_CASE("a stopped home with CometBFT is backed up without what its validator signs with, and restored") {
    const TemporaryDirectory directory;
    const Home home = make_home(directory.path() / "home");
    {
        storage::Store store(home.db(), {.in_memory = false, .fault = {}});
        Application application(
            store, [] { return std::uint64_t{0}; }, true
        );
        application.init(make_genesis());
        application.finalize(make_block(1, {transfer(key(1), 0, key(8).account(), 5)}));
        application.commit();
    }
    for (const char* path :
         {"config/priv_validator_key.json", "config/node_key.json", "config/config.toml",
          "data/priv_validator_state.json", "data/blockstore.db/000001.log"}) {
        fs::create_directories((home.cometbft() / path).parent_path());
        append(home.cometbft() / path, path);
    }
    const fs::path backup = directory.path() / "b";
    const BackupReport made = make_backup({.home = home, .engine = EngineKind::kCometBft, .out = backup});
    CHECK(made.height.value == 1);
    CHECK(fs::exists(backup / "cometbft/data/blockstore.db/000001.log"));
    CHECK_FALSE(fs::exists(backup / "cometbft/config/priv_validator_key.json"));
    CHECK_FALSE(fs::exists(backup / "cometbft/data/priv_validator_state.json"));
    CHECK_FALSE(fs::exists(backup / "data/lock"));
    const fs::path all = directory.path() / "all";
    make_backup({.home = home, .engine = EngineKind::kCometBft, .out = all, .with_keys = true});
    CHECK(fs::exists(all / "cometbft/config/priv_validator_key.json"));
    CHECK_FALSE(fs::exists(all / "cometbft/data/priv_validator_state.json"));
    CHECK(restore(backup, directory.path() / "r").app_hash == made.app_hash);
}
