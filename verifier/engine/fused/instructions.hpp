// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Internal to the engine: the instruction sets that it has kernels of its own for.
namespace assay::engine::fused {

/// In the order of preference: the last that a CPU has is used.
enum class Instructions : std::uint8_t {
    kNone,        ///< none: the BLAS multiplies
    kNeon,        ///< 128-bit vectors of an ARM CPU
    kAvx2,        ///< 256-bit vectors, with fused multiply-add
    kAvxVnni,     ///< the same, with products of 16-bit integers that are accumulated in one instruction
    kAvx512,      ///< 512-bit vectors
    kAvx512Vnni,  ///< the same, with such products
    kAmx,         ///< a matrix unit for bytes
};

/// Returns whether kernels for these instructions may run: the CPU and the operating system support them, and the
/// environment variable ASSAY_INSTRUCTIONS, if set, names these or later ones: "none", "neon", "avx2", "avx-vnni",
/// "avx512", "avx512-vnni" or "amx". Tests and benchmarks set it to take the place of an older CPU. Ends the process
/// with an error if the variable has another value.
bool may_use(Instructions instructions);

}  // namespace assay::engine::fused
