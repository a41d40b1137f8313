// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace assay::system {

/// Bytes that the machine could give without swapping; nullopt where the system does not say.
std::optional<std::uint64_t> available_memory();

/// Gives memory that the program has freed back to the operating system, as far as the C library can. Without this it
/// keeps as much as a model's state for later allocations.
void release_free_memory() noexcept;

}  // namespace assay::system
