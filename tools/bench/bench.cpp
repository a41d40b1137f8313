// SPDX-License-Identifier: Apache-2.0
// assay-bench: what things cost, as ratios measured side by side in one run. Prints JSON on stdout.
#include <exception>
#include <iostream>

#include <tools/bench/commands.hpp>

namespace assay::bench {
namespace {

int run(int argc, char** argv) {
    CLI::App app("Measures Assay side by side and prints ratios as JSON.", "assay-bench");
    app.require_subcommand(1);
    Commands commands(app);
    add_chain_command(commands);
    add_transfers_command(commands);
    add_gas_command(commands);
    add_tables_command(commands);
    add_hashes_command(commands);
    add_artifacts_command(commands);
    add_sealed_command(commands);
#ifdef ASSAY_BENCH_TRAINING
    add_training_commands(commands);
#endif
    CLI11_PARSE(app, argc, argv);
    try {
        std::cout << commands.run() << "\n";
        return 0;
    } catch (const std::exception& failure) {
        std::cerr << "assay-bench: " << failure.what() << "\n";
        return 1;
    }
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) { return assay::bench::run(argc, argv); }
