// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <consensus/cometbft/supervisor.hpp>
#include <core/system/file.hpp>
#include <node/daemon/node.hpp>
#include <tests/unit/consensus/toy_machine.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::node;
using namespace assay::node::test;
using assay::solo::test::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

void append(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::app) << text; }

}  // namespace

TEST_CASE("the remote signer of the settings reaches the command line of the engine") {
    const TemporaryDirectory directory;
    const Home home{directory.path() / "home"};
    fs::create_directories(home.cometbft() / "config");
    append(home.cometbft() / "config" / "genesis.json", "{}");
    // Says that it is CometBFT, writes down what it is started with, and ends.
    const fs::path program = directory.path() / "engine";
    const fs::path heard = directory.path() / "heard";
    append(
        program,
        "#!/bin/sh\nif [ \"$1\" = version ]; then echo 0.38.25; exit; fi\necho \"$@\" >" + heard.string() + "\nexit 1\n"
    );
    fs::permissions(program, fs::perms::owner_all);
    NodeOptions asked{.home = home, .config = {}, .genesis = make_genesis(), .key = key(9), .on_failure = {}};
    asked.config.engine = EngineKind::kCometBft;
    asked.config.cometbft_program = program.string();
    asked.config.cometbft_rpc_port = 1;
    asked.config.cometbft_remote_signer = "tcp://127.0.0.1:26659";
    Node node(asked);
    CHECK_THROWS_AS(node.start(), cometbft::EngineError);
    CHECK(
        system::read_file(heard).value_or("").find("--priv_validator_laddr=tcp://127.0.0.1:26659") != std::string::npos
    );
    asked.config.cometbft_remote_signer = "127.0.0.1:26659";
    asked.home = Home{directory.path() / "other"};
    CHECK_THROWS_WITH_AS(Node{asked}, doctest::Contains("must be tcp://"), ConfigError);
}
