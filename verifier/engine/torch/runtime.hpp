// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

/// Inside engine only: the little of libtorch that the CPU path needs, without its headers.
namespace assay::engine {

/// Threads of libtorch's own loops and of its BLAS, for the whole process.
void set_threads(int torch_threads, int blas_threads);
/// "1.13.1"
std::string torch_version();
/// Whether libtorch was built for CUDA and finds a device.
bool has_cuda();

template <class T>
struct ProductOf {
    const T* a = nullptr;  ///< [m,k] with row stride `a_stride`
    const T* b = nullptr;  ///< [n,k] with row stride `b_stride`
    T* out = nullptr;      ///< [m,n], contiguous
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    std::int64_t a_stride = 0;
    std::int64_t b_stride = 0;
};
/// out = a b^T, in any order: exact when every partial sum is an integer below 2^53, or 2^24 in floats. The BLAS that
/// libtorch brings, called at once; may be called from several threads at a time.
void multiply_nt(const ProductOf<double>& product);
void multiply_nt(const ProductOf<float>& product);

}  // namespace assay::engine
