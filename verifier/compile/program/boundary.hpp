// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <verifier/compile/program/graph_builder.hpp>

/// A boundary between two machines' layers that activations cross as changes in few bits (AQ-SGD, arXiv 2206.01299).
/// docs/protocol/programs.md has the formulas.
namespace assay::program {

class ModelBuilder;

struct Boundary {
    std::uint32_t after = 0;          ///< the layer behind which it lies, from 1; 0: none
    std::uint32_t bits = 4;           ///< of an element of an activation's change, with its sign
    std::uint32_t gradient_bits = 8;  ///< of an element of the gradient that goes back
    bool operator==(const Boundary&) const = default;
};

inline constexpr std::uint32_t kMinBoundaryBits = 2;
inline constexpr std::uint32_t kMaxBoundaryBits = 24;
inline constexpr std::uint32_t kBoundaryAlignment = 32;  ///< of the number of columns that cross

/// Each row of x as integers of `bits` bits with their sign, times a power of two; rounded to even.
Value in_bits(GraphBuilder& graph, const Value& x, std::uint32_t bits);

/// Returns what arrives of x [M,N], N a multiple of kBoundaryAlignment. Row r is that of the sample ids[r], i32 [M,1],
/// below `samples`; of other ids all arrives. What both sides know of each sample is in a buffer of the builder.
Value append_boundary(
    ModelBuilder& builder, const std::string& name, const Value& x, const Value& ids, std::uint32_t samples,
    const Boundary& boundary
);

/// What crosses a boundary of `columns` columns for one row of a batch, in bits: forward, and back.
struct BoundaryTraffic {
    std::uint64_t first = 0;    ///< forward, of a sample that is seen for the first time
    std::uint64_t forward = 0;  ///< and later: with an exponent of 8 bits
    std::uint64_t back = 0;
};
BoundaryTraffic boundary_traffic(const Boundary& boundary, std::uint32_t columns);

}  // namespace assay::program
