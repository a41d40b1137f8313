// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Internal to the engine: marks functions that a CUDA compiler compiles for both host and device; empty for other
/// compilers.
#ifdef __CUDACC__
#define ASSAY_HOST_DEVICE __host__ __device__
#else
#define ASSAY_HOST_DEVICE
#endif
