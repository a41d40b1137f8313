// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

#include <client/engine_rpc.hpp>
#include <consensus/light/light_block.hpp>

/// Light blocks as the engine's own RPC gives them.
namespace assay::client {

/// Block `height` with its commit and validators. Throws http::NetError, and std::runtime_error when the engine has none
/// or answers with something else.
light::LightBlock read_light_block(const EngineRpc& rpc, std::uint64_t height);

/// From the results of the engine's `commit` and `validators`. Throws std::runtime_error naming what is not as it must be.
light::LightBlock decode_light_block(const nlohmann::json& commit, const nlohmann::json& validators);

}  // namespace assay::client
