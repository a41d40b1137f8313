// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Inside engine only: marks a function that is compiled for several instruction sets, the best of which is chosen when
/// the program starts. Without contraction every level computes the same bits (NUM-2).
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define ASSAY_VECTORISED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ASSAY_VECTORISED
#endif
#define ASSAY_INLINE inline __attribute__((always_inline))
