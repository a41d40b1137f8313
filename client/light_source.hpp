// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

#include <client/engine_rpc.hpp>
#include <consensus/light/light_block.hpp>

/// Light blocks from the engine's own RPC.
namespace assay::client {

/// Returns block `height` with its commit and validators. Throws http::NetError, and std::runtime_error if the engine
/// does not have it or gives an unexpected answer.
light::LightBlock read_light_block(const EngineRpc& rpc, std::uint64_t height);

/// Builds a light block from the results of the engine's `commit` and `validators`. Throws std::runtime_error that
/// names what is not valid.
light::LightBlock decode_light_block(const nlohmann::json& commit, const nlohmann::json& validators);

}  // namespace assay::client
