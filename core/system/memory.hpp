// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace assay::system {

/// Bytes that the machine could give without swapping; nullopt where the system does not say.
std::optional<std::uint64_t> available_memory();

/// Returns memory that was freed to the system, as far as the C library can: it keeps blocks between others.
void release_free_memory() noexcept;

}  // namespace assay::system
