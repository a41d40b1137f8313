// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <core/canonical/executor.hpp>
#include <verifier/plan/placement.hpp>

/// Internal to the cell: operations whose elements depend on where they are in the whole tensor, so that a local tensor
/// does not say enough. Each computes a block of what core/canonical computes whole.
namespace assay::engine::cell {

/// Whether the operation has to know where its block is; every other one works on local tensors as on whole ones.
bool is_positional(const canonical::Node& node, const plan::Block& work);

/// The block `work` of a positional node but kView. `inputs` are local tensors of what the node needs for it.
canonical::Tensor run_positional(
    const canonical::Node& node, const plan::Block& work, std::span<const canonical::Tensor> inputs,
    const canonical::StepContext& context, const canonical::RowSource& rows
);

/// For each element of a local tensor of a view the element of the local input that it copies.
class ViewTable {
  public:
    ViewTable(const canonical::Node& node, const plan::Block& work, const plan::Block& input);
    canonical::Tensor run(const canonical::Tensor& input) const;
    bool is_for(const canonical::Node& node, const plan::Block& work, const plan::Block& input) const;

  private:
    canonical::Node node_;
    plan::Block work_;
    plan::Block input_;
    std::vector<std::uint32_t> sources_;
};

/// The largest finite magnitude of each row and chunk as the bits of an f32, in an i32 tensor; 0 where there is none
/// (NUM-13). `x` are the columns `depth` of the block's rows.
canonical::Tensor magnitudes(
    const canonical::Node& node, const plan::Block& work, const plan::IndexSet& depth, const canonical::Tensor& x
);
/// Their exponents.
canonical::Tensor exponents_of(const canonical::Tensor& magnitudes);

/// NUM-17: the block `out` of a product from the exact sums of each chunk, and the exponents that it needs.
canonical::Tensor finish_product(
    const canonical::Node& node, const plan::Block& out, std::span<const std::vector<std::int64_t>> sums,
    const canonical::Tensor& exponent_a, const canonical::Tensor& exponent_b
);

}  // namespace assay::engine::cell
