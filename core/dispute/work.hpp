// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/canonical/node.hpp>

/// What a program's commitment states about its cost: amount of computation, memory and hashing (WRK rules). All
/// of it follows from the graphs alone, so anyone who has the program can check them.
namespace assay::dispute {

/// WRK-1: in multiply-adds; 2^64 - 1 on overflow.
std::uint64_t work_of(const canonical::Node& node) noexcept;
std::uint64_t work_of(const canonical::Graph& graph) noexcept;

/// WRK-2: peak memory in bytes when the nodes of a well-formed graph are executed in order: the state tensors that the
/// graph reads are alive throughout, and each node's output until its last reader. 2^64 - 1 on overflow.
std::uint64_t memory_of(const canonical::Graph& graph);

/// WRK-2: bytes of the outputs of all nodes, which a party to a dispute hashes; 2^64 - 1 on overflow.
std::uint64_t outputs_of(const canonical::Graph& graph) noexcept;

}  // namespace assay::dispute
