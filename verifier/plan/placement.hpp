// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/canonical/node.hpp>
#include <verifier/plan/index_set.hpp>

namespace assay::plan {

/// The elements of a tensor in some rows and some columns. In memory they are a matrix of their own, rows and columns
/// in ascending order.
struct Block {
    IndexSet rows;
    IndexSet cols;
    bool is_empty() const { return rows.is_empty() || cols.is_empty(); }
    std::uint64_t element_count() const { return std::uint64_t{rows.count()} * cols.count(); }
    bool contains(const Block& other) const;
    canonical::Shape shape() const { return {rows.count(), cols.count()}; }
    bool operator==(const Block&) const = default;
};
Block whole(canonical::Shape shape);
Block intersection(const Block& a, const Block& b);
/// The smallest block that contains both.
Block hull(const Block& a, const Block& b);

/// What each rank has of a tensor, or is to have.
using Placement = std::vector<Block>;
/// Whether each element is in some rank's block.
bool covers(const Placement& placement, canonical::Shape shape);

/// Elements that one rank sends to another.
struct Transfer {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    Block block;
};
/// What has to be sent so that all ranks have `wanted` of a tensor of which they have `held`. Each element that a rank
/// lacks comes from one rank that has it. `held` must have every wanted element.
std::vector<Transfer> transfers(const Placement& held, const Placement& wanted, canonical::Shape shape);

}  // namespace assay::plan
