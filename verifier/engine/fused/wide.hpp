// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verifier/engine/fused/vectorised.hpp>

/// Internal to the engine: marks functions that are written for vectors of one instruction set (see instructions.hpp).
#if defined(__x86_64__)
// g++ 12 warns that placeholder operands in its own headers are read uninitialised.
#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop
#define ASSAY_AVX2 __attribute__((target("avx2,fma")))
#define ASSAY_AVX_VNNI __attribute__((target("avx2,fma,avxvnni")))
#define ASSAY_WIDE __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw")))
#define ASSAY_WIDE_VNNI __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx512vnni")))
#endif
