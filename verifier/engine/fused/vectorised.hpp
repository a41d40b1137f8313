// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Internal to the engine: marks a function that is compiled for several instruction sets, of which the best is chosen
/// at program start. Without floating-point contraction all of them compute the same bits (NUM-2).
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define ASSAY_VECTORISED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ASSAY_VECTORISED
#endif
#define ASSAY_INLINE inline __attribute__((always_inline))
