// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include <consensus/solo/block_log.hpp>
#include <consensus/solo/engine.hpp>
#include <node/daemon/application.hpp>
#include <node/api/genesis_file.hpp>
#include <tests/unit/folders.hpp>

using namespace assay;

namespace {

/// Executes every block of a recorded log again and compares the app hash after each.
void replay(const std::string& name) {
    CAPTURE(name);
    const std::filesystem::path folder = std::filesystem::path(folders::source()) / "tests/vectors/chain" / name;
    storage::Store store{"/memory", {.in_memory = true, .fault = {}}};
    node::Application app{store, [] { return std::uint64_t{0}; }};
    app.init(node::read_genesis(folder / "genesis.json"));
    const solo::BlockLog log(folder / "blocks.log", solo::BlockLog::Mode::kReadOnly);
    REQUIRE_FALSE(log.torn_tail());
    REQUIRE(log.height().value > 20);
    std::size_t txs = 0;
    for (Height height{1}; height <= log.height(); ++height.value) {
        const auto record = log.read(height).value();
        REQUIRE(app.finalize(solo::to_request(record.block)).app_hash == record.app_hash);
        app.commit();
        txs += record.block.txs.size();
    }
    CHECK(txs > 20);
}

}  // namespace

// The logs were written by `assay demo --steps 60 --home DIR`, the second with `--mode tolerance`.
TEST_CASE("BLK-2: recorded chains give the app hashes that they gave") {
    replay("exact");
    replay("tolerance");
}
