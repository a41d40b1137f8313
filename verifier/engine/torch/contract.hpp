// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <verifier/engine/backend/product_choice.hpp>
#include <verifier/engine/torch/kernels.hpp>
#include <verifier/engine/torch/math.hpp>

/// Inside engine only: kContract over libtorch, on any device (NUM-16, NUM-17).
namespace assay::engine {

struct ContractOperands {
    Quantised left;  ///< without kernels of our own always as words
    at::Tensor e_left;
    Quantised right;
    at::Tensor e_right;
};

/// qa, ea, qb, eb as the node has them, with libtorch's operations; `kind` is one of the node's exact_products.
at::Tensor contract(
    const DeviceMath& math, const canonical::Node& node, ProductKind kind, const std::array<at::Tensor, 4>& operands
);

/// Contracts in the way that was chosen for the node's sizes. Not thread-safe.
class Contractor {
  public:
    /// `math` and `kernels` outlive it; without kernels libtorch's operations do everything.
    Contractor(const DeviceMath& math, DeviceKernels* kernels, ProductChoice choice)
        : math_(math), kernels_(kernels), choice_(choice) {}

    /// Throws std::runtime_error where two exact ways disagree when they are measured: then the device does not compute
    /// what it should, and neither is used.
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
