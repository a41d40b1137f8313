// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verifier/engine/fused/vectorised.hpp>

/// Internal to the engine: marks functions written for 512-bit vectors, and detects CPU support for them.
#if defined(__x86_64__)
// g++ 12 warns that placeholder operands in its own headers are read uninitialised.
#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop
#define ASSAY_WIDE __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx512vnni")))
#endif

namespace assay::engine::fused {

inline bool has_wide_vectors() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
}

}  // namespace assay::engine::fused
