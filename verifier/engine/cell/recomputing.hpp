// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <verifier/compile/program/program.hpp>
#include <verifier/plan/layout.hpp>

namespace assay::engine {

/// A program whose steps leave the same state, with so many nodes a second time that each rank of the layout has about
/// `memory_bytes` at most: outputs of the first pass are computed again for the second one instead of being kept. If
/// none fits, the one that needs the least; the program itself if that fits, has no plan, or nothing helps, and with
/// micro-batches. Its nodes are not those of a trace, so ranks that answer for what they send cannot use it.
program::Program recomputing(const program::Program& program, const plan::Layout& layout, std::uint64_t memory_bytes);

}  // namespace assay::engine
