// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <iostream>

#include <node/daemon/commands.hpp>

/// `assayd start --home HOME` of a release that implements the next version of the protocol, whose rules are the same.
/// For tests of upgrades.
int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "assayd_next HOME\n";
        return assay::node::kExitUsage;
    }
    assay::node::StartOptions options;
    options.home = {argv[1]};
    options.protocol_version = assay::contracts::kProtocolVersion + 1;
    try {
        return assay::node::run_start(options);
    } catch (const assay::consensus::HaltError& error) {
        std::cerr << error.what() << std::endl;
        return assay::node::kExitHalted;
    }
}
