// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace assay::sandbox {

/// What one call of a parser may use. What goes beyond is refused (Refusal).
struct Limits {
    std::uint64_t memory_bytes = std::uint64_t{512} << 20U;  ///< beyond the program itself and the files that it reads
    std::uint64_t output_bytes = std::uint64_t{64} << 20U;
    std::uint32_t cpu_s = 30;
    std::chrono::milliseconds deadline{120'000};  ///< of real time, for a parser that waits
};

/// The limits of a parser that takes up to `factor` bytes of memory for each byte that it reads, and answers at most
/// as much as it may take. Time grows with the size as well: a machine of today parses a MiB in a small part of a
/// second.
Limits limits_for(std::uint64_t input_bytes, std::uint32_t factor);

/// Multiplies the limits of memory and time that limits_for() returns from now on. At least 1.
void set_limits_factor(std::uint32_t factor) noexcept;

}  // namespace assay::sandbox
