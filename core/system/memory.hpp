// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace assay::system {

/// Bytes that the machine could give without swapping; nullopt where the system does not say.
std::optional<std::uint64_t> available_memory();

}  // namespace assay::system
