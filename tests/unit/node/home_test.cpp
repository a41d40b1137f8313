// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <fstream>

#include <unistd.h>

#include <node/daemon/home.hpp>
#include <tests/unit/consensus/toy_machine.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::node;
using namespace assay::node::test;
using assay::solo::test::TemporaryDirectory;

TEST_CASE("a node key is the owner's alone and reads back") {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "node_key";
    write_node_key(file, key(5));
    using std::filesystem::perms;
    CHECK(std::filesystem::status(file).permissions() == (perms::owner_read | perms::owner_write));
    CHECK(read_node_key(file).account() == key(5).account());
    CHECK_THROWS_AS(write_node_key(file, key(6)), HomeError);
    std::filesystem::permissions(file, perms::group_read, std::filesystem::perm_options::add);
    CHECK_THROWS_WITH_AS(static_cast<void>(read_node_key(file)), doctest::Contains("chmod 600"), HomeError);
    CHECK_THROWS_AS(static_cast<void>(read_node_key(directory.path() / "none")), HomeError);
    std::filesystem::permissions(file, perms::owner_read | perms::owner_write);
    std::ofstream(file) << "00\n";
    CHECK_THROWS_AS(static_cast<void>(read_node_key(file)), HomeError);
}

TEST_CASE("a home is held by one at a time and the refusal names the process") {
    const TemporaryDirectory directory;
    const Home home{directory.path()};
    std::filesystem::create_directories(home.data());
    {
        const HomeLock lock(home);
        CHECK_THROWS_WITH_AS(
            HomeLock{home}, doctest::Contains(("process " + std::to_string(::getpid())).c_str()), HomeError
        );
    }
    CHECK_NOTHROW(HomeLock{home});
}

TEST_CASE("the last stop is first, clean once marked, and unclean otherwise") {
    const TemporaryDirectory directory;
    const Home home{directory.path()};
    std::filesystem::create_directories(home.data());
    CHECK(take_last_stop(home) == LastStop::kFirstStart);
    std::ofstream(home.block_log()) << "x";
    CHECK(take_last_stop(home) == LastStop::kUnclean);
    mark_clean_stop(home);
    CHECK(take_last_stop(home) == LastStop::kClean);
    CHECK(take_last_stop(home) == LastStop::kUnclean);
}
