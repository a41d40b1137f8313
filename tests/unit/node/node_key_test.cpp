// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <fstream>
#include <map>

#include <core/keys/key_file.hpp>
#include <core/keys/password.hpp>
#include <node/daemon/node_key.hpp>
#include <tests/unit/consensus/toy_machine.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::node;
using assay::node::test::key;
using assay::solo::test::TemporaryDirectory;

namespace {

constexpr crypto::KeystoreCost kCheap{.n = 16, .r = 8, .p = 1};

Environment variables(std::map<std::string, std::string> values) {
    return [values = std::move(values)](const std::string& name) {
        const auto found = values.find(name);
        return found == values.end() ? std::nullopt : std::optional(found->second);
    };
}

}  // namespace

TEST_CASE("a sealed node key opens with its password alone, and unsealed it is what it was") {
    const TemporaryDirectory directory;
    const Home home{directory.path()};
    write_node_key(home.node_key(), key(5));
    CHECK_FALSE(is_sealed_node_key(home.node_key()));
    CHECK_THROWS_AS(seal_node_key(home.node_key(), ""), HomeError);
    seal_node_key(home.node_key(), "right", kCheap);
    CHECK(is_sealed_node_key(home.node_key()));
    using std::filesystem::perms;
    CHECK(std::filesystem::status(home.node_key()).permissions() == (perms::owner_read | perms::owner_write));
    CHECK_THROWS_AS(seal_node_key(home.node_key(), "again", kCheap), HomeError);

    const auto right = directory.path() / "right";
    const auto wrong = directory.path() / "wrong";
    crypto::write_private_file(right, "right\n");
    crypto::write_private_file(wrong, "wrong\n");
    const Environment environment = variables({{"ASSAY_NODE_PASSWORD_FILE", right.string()}});
    CHECK(open_node_key(home, environment).account() == key(5).account());
    CHECK(open_node_key(home, variables({}), right).account() == key(5).account());
    CHECK_THROWS_WITH_AS(
        static_cast<void>(open_node_key(home, environment, wrong)), doctest::Contains("wrong password"), HomeError
    );
    CHECK_THROWS_AS(unseal_node_key(home.node_key(), "wrong"), HomeError);
    CHECK(is_sealed_node_key(home.node_key()));
    unseal_node_key(home.node_key(), "right");
    CHECK(read_node_key(home.node_key()).account() == key(5).account());
    CHECK_THROWS_AS(unseal_node_key(home.node_key(), "right"), HomeError);
}

TEST_CASE("the password of a node key comes from a private file, or from the credential of a service") {
    const TemporaryDirectory directory;
    const auto open = directory.path() / "open";
    std::ofstream(open) << "read by all\n";
    CHECK_THROWS_AS(
        static_cast<void>(node_password(variables({{"ASSAY_NODE_PASSWORD_FILE", open.string()}}))),
        crypto::PasswordError
    );
    std::ofstream(directory.path() / "node_password") << "of the service\nand no more\n";
    const auto service = variables({{"CREDENTIALS_DIRECTORY", directory.path().string()}});
    CHECK(node_password(service).view() == "of the service");
    const auto named = directory.path() / "named";
    crypto::write_private_file(named, "named\n");
    CHECK(node_password(service, named).view() == "named");
}
