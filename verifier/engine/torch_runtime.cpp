// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/torch_runtime.hpp>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <dlfcn.h>
#include <torch/version.h>

namespace assay::engine {

void set_threads(int threads) {
    at::set_num_threads(threads);
    // libtorch does not pass its thread count on to OpenBLAS, whose pool would take every core.
    using SetThreads = void (*)(int);
    if (void* found = dlsym(RTLD_DEFAULT, "openblas_set_num_threads"); found != nullptr) {
        reinterpret_cast<SetThreads>(found)(threads);
    }
}

std::string torch_version() {
    return std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR) + "." +
           std::to_string(TORCH_VERSION_PATCH);
}

void multiply_nt(const Product& p) {
    const c10::InferenceMode no_autograd;
    const auto view = [](const double* data, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
        // libtorch has no tensors of constants; mm only reads these.
        return at::from_blob(const_cast<double*>(data), {rows, cols}, {stride, 1}, at::kDouble);
    };
    at::Tensor out = view(p.out, p.m, p.n, p.n);
    at::mm_out(out, view(p.a, p.m, p.k, p.a_stride), view(p.b, p.n, p.k, p.b_stride).t());
}

}  // namespace assay::engine
