// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include <core/base/bytes.hpp>
#include <node/api/genesis_file.hpp>
#include <tools/bench/chain_load.hpp>
#include <tools/bench/commands.hpp>

namespace assay::bench {
namespace {

struct TransfersOptions {
    std::uint64_t count = 60'000;
    std::uint64_t senders = 2'000;
    std::uint64_t accounts = 20'000;
    std::string genesis;
    std::string out;
};

/// Writes a genesis with the parameters that a chain has by default, and transfers of its accounts, one in a line, in
/// hex.
std::string write_transfers(const TransfersOptions& options) {
    Load load(options.senders, options.accounts, 1);
    contracts::Genesis genesis = load.genesis();
    genesis.params = {};
    node::write_genesis(options.genesis, genesis);
    std::ofstream out(options.out);
    const auto lanes = load.next(options.count);
    for (const Bytes& tx : lanes.front()) {
        out << to_hex(tx) << '\n';
    }
    if (!out.flush()) {
        throw std::runtime_error("cannot write " + options.out);
    }
    return nlohmann::json{
        {"bench", "transfers"},
        {"count", options.count},
        {"tx_bytes", lanes.front().empty() ? 0 : lanes.front().front().size()},
        {"block_gas_max", genesis.params.block_gas_max}}
        .dump();
}

}  // namespace

void add_transfers_command(Commands& commands) {
    const auto held = std::make_shared<TransfersOptions>();
    TransfersOptions& options = *held;
    CLI::App* const command = commands.add(
        "transfers", "Writes signed transfers, and the genesis of a chain that takes them, for front_door.py",
        [held] { return write_transfers(*held); }
    );
    command->add_option("--count", options.count, "Transfers")->capture_default_str();
    command->add_option("--senders", options.senders, "Accounts that take turns")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    command->add_option("--accounts", options.accounts, "Accounts that receive")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    command->add_option("--genesis", options.genesis, "The genesis file to write")->required();
    command->add_option("--out", options.out, "The file of transfers to write")->required();
}

}  // namespace assay::bench
