// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Inside engine only: marks what a CUDA compiler compiles for the host and for the device; nothing to other compilers.
#ifdef __CUDACC__
#define ASSAY_HOST_DEVICE __host__ __device__
#else
#define ASSAY_HOST_DEVICE
#endif
