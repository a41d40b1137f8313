// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::demo {

/// Where a demo's solver publishes its checkpoints.
enum class StoreKind : std::uint8_t { kDirectory = 1, kS3 = 2, kIpfs = 3 };
const char* to_string(StoreKind kind) noexcept;
std::optional<StoreKind> decode_store_kind(std::string_view name);
const std::vector<std::string>& store_kind_names();

}  // namespace assay::demo
