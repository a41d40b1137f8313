// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <verifier/engine/product_choice.hpp>
#include <verifier/engine/torch_math.hpp>

/// Inside engine only: kContract over libtorch, on any device (NUM-16, NUM-17).
namespace assay::engine {

/// qa, ea, qb, eb as the node has them. `kind` is one of the node's exact_products.
at::Tensor contract(
    const DeviceMath& math, const canonical::Node& node, ProductKind kind, const std::array<at::Tensor, 4>& operands
);

/// Contracts in the way that was chosen for the node's sizes. Not thread-safe.
class Contractor {
  public:
    /// `math` outlives it.
    Contractor(const DeviceMath& math, ProductChoice choice) : math_(math), choice_(choice) {}

    /// Throws std::runtime_error where two exact ways disagree when they are measured: then the device does not compute
    /// what it should, and neither is used.
    at::Tensor contract(const canonical::Node& node, bool is_bounded, const std::array<at::Tensor, 4>& operands);

  private:
    ProductKind measured(
        const canonical::Node& node, const std::vector<ProductKind>& kinds, const std::array<at::Tensor, 4>& operands
    );

    const DeviceMath& math_;
    ProductChoice choice_;
    ProductChooser chooser_;
};

}  // namespace assay::engine
