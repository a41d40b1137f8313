// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/canonical/node.hpp>
#include <verifier/compile/program/state_tensor.hpp>

/// The graph of the distance program, for one way to divide a state.
namespace assay::program {

/// How a state's tensors are divided into the parts that are measured.
struct DistanceLayout {
    std::uint64_t part;    ///< most elements of a part
    std::uint32_t joined;  ///< most tensors of a part
};

/// Returns the initialisation of the distance program (TOL-1, TOL-2), or nothing if it would have more than kMaxNodes
/// nodes. The state must be one that TOL-4 admits, and a row of each tensor must fit a part.
std::optional<canonical::Graph> write_distance_graph(
    const std::vector<StateTensor>& state, const DistanceLayout& layout
);

}  // namespace assay::program
