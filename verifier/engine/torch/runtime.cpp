// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/torch/runtime.hpp>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <dlfcn.h>
#include <torch/version.h>

namespace assay::engine {
namespace {

// The BLAS's own interface costs less than libtorch's around it, which matters for the small products of attention.
template <class T>
using Gemm =
    void (*)(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*, const T*, const int*, const T*, T*, const int*);

template <class T>
Gemm<T> find_gemm(const char* name) {
    return reinterpret_cast<Gemm<T>>(dlsym(RTLD_DEFAULT, name));
}

template <class T>
void multiply_with_torch(const ProductOf<T>& p) {
    const c10::InferenceMode no_autograd;
    const auto view = [](const T* data, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
        // libtorch has no tensors of constants; mm only reads these.
        return at::from_blob(const_cast<T*>(data), {rows, cols}, {stride, 1}, c10::CppTypeToScalarType<T>::value);
    };
    at::Tensor out = view(p.out, p.m, p.n, p.n);
    at::mm_out(out, view(p.a, p.m, p.k, p.a_stride), view(p.b, p.n, p.k, p.b_stride).t());
}

// Row-major out = a b^T is column-major out^T = b a^T.
template <class T>
void multiply(const ProductOf<T>& p, Gemm<T> gemm) {
    if (gemm == nullptr) {
        return multiply_with_torch(p);
    }
    const auto as_int = [](std::int64_t n) { return static_cast<int>(n); };
    const int m = as_int(p.n);
    const int n = as_int(p.m);
    const int k = as_int(p.k);
    const int stride_b = as_int(p.b_stride);
    const int stride_a = as_int(p.a_stride);
    const T one = 1;
    const T zero = 0;
    gemm("T", "N", &m, &n, &k, &one, p.b, &stride_b, p.a, &stride_a, &zero, p.out, &m);
}

}  // namespace

void set_threads(int torch_threads, int blas_threads) {
    // Setting the number builds a thread pool anew even where it is the same.
    if (at::get_num_threads() != torch_threads) {
        at::set_num_threads(torch_threads);
    }
    // libtorch does not pass its thread count on to OpenBLAS, whose pool would take every core.
    using SetThreads = void (*)(int);
    if (void* found = dlsym(RTLD_DEFAULT, "openblas_set_num_threads"); found != nullptr) {
        reinterpret_cast<SetThreads>(found)(blas_threads);
    }
}

std::string torch_version() {
    return std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR) + "." +
           std::to_string(TORCH_VERSION_PATCH);
}

bool has_cuda() { return at::hasCUDA(); }

void multiply_nt(const ProductOf<double>& product) {
    static const auto kGemm = find_gemm<double>("dgemm_");
    multiply(product, kGemm);
}

void multiply_nt(const ProductOf<float>& product) {
    static const auto kGemm = find_gemm<float>("sgemm_");
    multiply(product, kGemm);
}

}  // namespace assay::engine
