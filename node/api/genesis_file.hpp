// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <contracts/chain/chain.hpp>
#include <node/api/engine_kind.hpp>

/// genesis.json: {"chain_id": "...", "params": {name: number, or grains as a string}, "balances": {address: "grains"}}.
/// Parameters that are left out have their defaults; unknown, repeated and ill-typed members are errors.
namespace assay::node {

/// The file is missing, is not JSON, or says something that a genesis cannot say; the text names the place.
class GenesisFileError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The text of a genesis file.
/// `engine` is for whoever starts a home whose settings are lost; it is no part of the chain.
std::string to_genesis_json(const contracts::Genesis& genesis, std::optional<EngineKind> engine = std::nullopt);
/// Throws GenesisFileError.
contracts::Genesis decode_genesis_json(std::string_view text);

/// Throws std::runtime_error when the file cannot be written.
void write_genesis(
    const std::filesystem::path& file, const contracts::Genesis& genesis, std::optional<EngineKind> engine = std::nullopt
);
/// Throws GenesisFileError.
contracts::Genesis read_genesis(const std::filesystem::path& file);
/// The engine that the file is for: what its "engine" says; else cometbft when it names validators; else nullopt. Throws
/// GenesisFileError.
std::optional<EngineKind> read_genesis_engine(const std::filesystem::path& file);

}  // namespace assay::node
