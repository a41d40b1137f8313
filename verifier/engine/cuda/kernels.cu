// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include <verifier/engine/cuda/dispatch.hpp>

namespace assay::engine::cuda {

namespace {

constexpr int kWarp = 32;
constexpr int kThreads = 256;
/// Blocks to a multiprocessor: enough to hide memory's latency; each thread then works through the rest.
constexpr Rank kBlocksPerProcessor = 16;

template <class Body>
__global__ void __launch_bounds__(kThreads) run_each(Rank count, const __grid_constant__ Body body) {
    const Rank step = Rank{gridDim.x} * kThreads;
    for (Rank i = Rank{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
        body(i);
    }
}

/// A warp to a row and chunk.
__global__ void __launch_bounds__(kThreads) run_rows(Rank count, const __grid_constant__ RowExponentBody body) {
    const Rank lane = threadIdx.x % kWarp;
    const Rank step = Rank{gridDim.x} * (kThreads / kWarp);
    for (Rank i = Rank{blockIdx.x} * (kThreads / kWarp) + threadIdx.x / kWarp; i < count; i += step) {
        const std::uint32_t best = __reduce_max_sync(0xffffffffU, body.largest(i, lane, kWarp));
        if (lane == 0) {
            body.write(i, best);
        }
    }
}

class CudaLauncher {
  public:
    CudaLauncher() {
        int device = 0;
        int processors = 0;
        require(cudaGetDevice(&device));
        require(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
        most_blocks_ = processors * kBlocksPerProcessor;
    }

    void use_stream(void* stream) { stream_ = static_cast<cudaStream_t>(stream); }

    template <class Body>
    void each(Rank count, const Body& body) {
        if (count > 0) {
            run_each<<<blocks((count + kThreads - 1) / kThreads), kThreads, 0, stream_>>>(count, body);
            require(cudaGetLastError());
        }
    }

    void each_row(Rank count, const RowExponentBody& body) {
        if (count > 0) {
            constexpr Rank kRows = kThreads / kWarp;
            run_rows<<<blocks((count + kRows - 1) / kRows), kThreads, 0, stream_>>>(count, body);
            require(cudaGetLastError());
        }
    }

  private:
    static void require(cudaError_t error) {
        if (error != cudaSuccess) {
            throw std::runtime_error(std::string("engine: CUDA: ") + cudaGetErrorString(error));
        }
    }
    unsigned blocks(Rank wanted) const { return static_cast<unsigned>(std::min(wanted, most_blocks_)); }

    cudaStream_t stream_ = nullptr;
    Rank most_blocks_ = 1;
};

}  // namespace

std::unique_ptr<Kernels> make_cuda_kernels() { return std::make_unique<KernelsOf<CudaLauncher>>(); }

}  // namespace assay::engine::cuda
