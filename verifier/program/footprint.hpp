// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <verifier/canonical/node.hpp>

namespace assay::program {

/// The most bytes of outputs alive at once when each is freed after the last node that reads it.
std::uint64_t peak_bytes(const canonical::Graph& graph);
/// Of all outputs together, which a party to a dispute keeps.
std::uint64_t output_bytes(const canonical::Graph& graph);
/// Multiply-adds of products, and one for each value that any other node writes.
std::uint64_t work_of(const canonical::Graph& graph);

}  // namespace assay::program
