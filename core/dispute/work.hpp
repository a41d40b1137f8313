// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/canonical/node.hpp>

/// What a program states of itself: how much there is to compute, and how much memory that takes (WRK rules). Both
/// follow from the graphs alone, so whoever has the program can check the statement.
namespace assay::dispute {

/// WRK-1: in multiply-adds; 2^64 - 1 when it does not fit.
std::uint64_t work_of(const canonical::Node& node) noexcept;
std::uint64_t work_of(const canonical::Graph& graph) noexcept;

/// WRK-2: the most bytes that are alive at once when the nodes of a well-formed graph are executed in their order: the
/// tensors of the state that the graph reads, throughout, and each node's output until its last reader. 2^64 - 1 when
/// it does not fit.
std::uint64_t memory_of(const canonical::Graph& graph);
/// Of all outputs together, which a party to a dispute keeps.
std::uint64_t output_bytes(const canonical::Graph& graph) noexcept;

}  // namespace assay::dispute
