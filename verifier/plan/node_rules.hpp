// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <core/canonical/node.hpp>
#include <verifier/plan/placement.hpp>

/// Internal to verifier/plan: which elements of its inputs a node reads for which elements of its output.
namespace assay::plan {

/// Whether a node's result is a sum or a maximum over its *depth* that ranks may divide, each reducing some positions:
/// the columns of a product's operands or of a row, or the rows that are scattered. Integers modulo 2^64 and maxima do
/// not depend on the order, and a product's chunks are added in their own.
bool is_reduction(canonical::Op op);
/// The number of those positions.
std::uint32_t depth_of(const canonical::Node& node);
/// Whether input `input` is read only where the parts of a reduction are put together: a product's exponents.
bool is_for_finish(canonical::Op op, std::size_t input);
/// Whether every element of the output is of its own inputs' row and column, or of none, so that fewer may be computed.
bool is_elementwise(canonical::Op op);

/// The elements of input `input` that are read for `out` of the output; of a reduction, at positions `depth` alone.
Block needed(const canonical::Node& node, std::size_t input, const Block& out, const IndexSet& depth);

/// The largest block of a node's output that a rank can compute from `held` of its inputs, with the whole depth. Not
/// for kView.
Block computable(const canonical::Node& node, std::span<const Block> held);

/// A rank's share of a reduction.
struct Part {
    Block block;
    IndexSet depth;
};
/// The same of a reduction, at the positions of which the rank has the inputs. Empty if the rank can do nothing.
Part computable_part(const canonical::Node& node, std::span<const Block> held);

/// What each rank can compute of a kView from `held` of its input.
Placement computable_view(const canonical::Node& node, const Placement& held);

}  // namespace assay::plan
