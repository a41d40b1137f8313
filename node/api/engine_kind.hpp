// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::node {

/// The consensus engine that makes a node's blocks.
enum class EngineKind : std::uint8_t { kSolo = 1, kCometBft = 2 };
const char* to_string(EngineKind kind) noexcept;
std::optional<EngineKind> decode_engine(std::string_view name);

}  // namespace assay::node
