// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>

#include <ATen/ATen.h>

#include <core/canonical/partial.hpp>
#include <verifier/engine/native/lowering.hpp>
#include <verifier/engine/native/native_engine.hpp>
#include <verifier/engine/torch/math.hpp>
#include <verifier/engine/torch/view.hpp>

/// Internal to the engine: executes one instruction at a time with libtorch's ordinary operations.
namespace assay::engine::native {

class Operations {
  public:
    Operations(const canonical::Graph& graph, const NativeOptions& options);

    at::Device device() const { return math_.device(); }
    /// Executes an instruction; not for kBatchRows. Outputs may be strided and may share memory with inputs.
    at::Tensor run(
        const Instruction& instruction, std::span<const at::Tensor> inputs, const canonical::StepContext& context
    );
    /// Drops cached statistics of a node.
    void forget(std::uint32_t node) { statistics_.erase(node); }

  private:
    struct Statistics {
        at::Tensor mean;
        at::Tensor deviation;  ///< reciprocal of the standard deviation
    };

    at::Tensor run_node(
        const canonical::Node& node, std::uint32_t id, std::span<const at::Tensor> in,
        const canonical::StepContext& context
    );
    at::Tensor elementwise(const canonical::Node& node, std::span<const at::Tensor> in) const;
    at::Tensor source(const canonical::Node& node, const canonical::StepContext& context) const;
    at::Tensor product(const canonical::Node& contract, const at::Tensor& a, const at::Tensor& b) const;
    at::Tensor product_add(const canonical::Node& sum, std::span<const at::Tensor> in) const;
    at::Tensor cross_entropy(const at::Tensor& x, const at::Tensor& target) const;
    at::Tensor normalise(const Instruction& instruction, const at::Tensor& x);
    at::Tensor normalise_back(const Instruction& instruction, std::span<const at::Tensor> in);
    const DeviceView& view_of(const canonical::Node& node, std::uint32_t id);

    const canonical::Graph& graph_;
    at::ScalarType product_type_;
    DeviceMath math_;
    std::map<std::uint32_t, DeviceView> views_;
    std::map<std::uint32_t, Statistics> statistics_;
};

}  // namespace assay::engine::native
