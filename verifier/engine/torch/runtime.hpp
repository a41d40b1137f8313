// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

/// Internal to the engine: the few parts of libtorch that the CPU path needs, without its headers.
namespace assay::engine {

/// Sets the thread counts of libtorch's own loops and of its BLAS, for the whole process.
void set_threads(int torch_threads, int blas_threads);
/// Returns the version, such as "1.13.1".
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
/// out = a b^T, with sums in any order: exact if every partial sum is an integer below 2^53 (doubles) or 2^24 (floats).
/// Calls libtorch's BLAS directly. Thread-safe.
void multiply_nt(const ProductOf<double>& product);
void multiply_nt(const ProductOf<float>& product);

}  // namespace assay::engine
