// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <contracts/chain/chain.hpp>
#include <node/api/engine_kind.hpp>

/// genesis.json: {"chain_id": "...", "protocol_version": 2, "params": {name: number, or grains as a string},
/// "balances": {address: "grains"}}, optionally with "engine" and "validators". Missing parameters have their defaults;
/// unknown, repeated and ill-typed members are errors, and so is another version of the protocol (PAR-13).
namespace assay::node {

/// The file is missing, is not JSON, or is not a valid genesis. The message names the place.
class GenesisFileError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Returns the text of a genesis file. `engine` is not part of the chain; it helps to start a home whose settings were
/// lost.
std::string to_genesis_json(const contracts::Genesis& genesis, std::optional<EngineKind> engine = std::nullopt);
/// Returns the genesis that the text describes. Throws GenesisFileError.
contracts::Genesis decode_genesis_json(std::string_view text);

/// Writes a genesis file. Throws std::runtime_error if that fails.
void write_genesis(
    const std::filesystem::path& file, const contracts::Genesis& genesis,
    std::optional<EngineKind> engine = std::nullopt
);
/// Reads a genesis file. Throws GenesisFileError.
contracts::Genesis read_genesis(const std::filesystem::path& file);
/// Returns the engine that the file is for: its "engine" member; else cometbft if it lists validators; else nullopt.
/// Throws GenesisFileError.
std::optional<EngineKind> read_genesis_engine(const std::filesystem::path& file);

}  // namespace assay::node
