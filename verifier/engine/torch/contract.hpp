// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <verifier/engine/backend/product_choice.hpp>
#include <verifier/engine/torch/kernels.hpp>
#include <verifier/engine/torch/math.hpp>

/// Internal to the engine: kContract on libtorch, for any device (NUM-16, NUM-17).
namespace assay::engine {

struct ContractOperands {
    Quantised left;  ///< without own kernels always as words
    at::Tensor e_left;
    Quantised right;
    at::Tensor e_right;
};

/// Contracts with libtorch's operations. `operands` are the node's qa, ea, qb, eb; `kind` is one of its exact_products.
at::Tensor contract(
    const DeviceMath& math, const canonical::Node& node, ProductKind kind, const std::array<at::Tensor, 4>& operands
);

/// Contracts with the method chosen for the node's sizes. Not thread-safe.
class Contractor {
  public:
    /// `math` and `kernels` must outlive it. Without kernels, libtorch's operations do everything.
    Contractor(const DeviceMath& math, DeviceKernels* kernels, ProductChoice choice)
        : math_(math), kernels_(kernels), choice_(choice) {}

    /// Returns the contraction. Throws std::runtime_error if two exact methods disagree when they are measured: the
    /// device then computes incorrectly, and neither is used.
    at::Tensor contract(const canonical::Node& node, bool is_bounded, const ContractOperands& operands);

  private:
    ProductKind measured(
        const canonical::Node& node, const std::vector<ProductKind>& kinds, const ContractOperands& operands
    );

    const DeviceMath& math_;
    DeviceKernels* kernels_;
    ProductChoice choice_;
    ProductChooser chooser_;
};

}  // namespace assay::engine
