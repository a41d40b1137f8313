// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/torch/step_graph.hpp>

#ifdef ASSAY_WITH_CUDA
#include <ATen/cuda/CUDAGraph.h>
#endif

namespace assay::engine {
namespace {

class HostGraph final : public StepGraph {
  public:
    void record(const std::function<void()>& work) override { work_ = work; }
    void replay() override { work_(); }

  private:
    std::function<void()> work_;
};

#ifdef ASSAY_WITH_CUDA
class CudaGraph final : public StepGraph {
  public:
    void record(const std::function<void()>& work) override {
        // Other threads, with engines of their own, may go on asking for memory.
        graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
        work();
        graph_.capture_end();
    }
    void replay() override { graph_.replay(); }

  private:
    at::cuda::CUDAGraph graph_;
};
#endif

}  // namespace

std::unique_ptr<StepGraph> StepGraph::make(at::Device device) {
    if (device.is_cpu()) {
        return std::make_unique<HostGraph>();
    }
#ifdef ASSAY_WITH_CUDA
    if (device.is_cuda()) {
        return std::make_unique<CudaGraph>();
    }
#endif
    return nullptr;
}

}  // namespace assay::engine
