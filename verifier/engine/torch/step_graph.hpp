// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include <ATen/ATen.h>

/// Internal to the engine: work on a device that is recorded and then started as one.
namespace assay::engine {

class StepGraph {
  public:
    virtual ~StepGraph() = default;

    /// Records what `work` asks of the device's current stream, which may not be the default one. Tensors that `work`
    /// makes lie in memory that only this graph uses.
    virtual void record(const std::function<void()>& work) = 0;
    /// Starts what was recorded, without waiting for it.
    virtual void replay() = 0;

    /// Returns a CUDA graph; on a CPU, for tests, `work` itself, which is then called by each replay. Returns nullptr
    /// where neither can be.
    static std::unique_ptr<StepGraph> make(at::Device device);
};

}  // namespace assay::engine
