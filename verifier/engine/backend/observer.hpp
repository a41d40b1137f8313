// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::engine {

/// Rows of a node's output, as they lie in a tensor.
struct OutputRows {
    std::uint32_t node = 0;
    std::uint32_t first = 0;  ///< a multiple of canonical::kTileDim
    std::uint32_t count = 0;  ///< a multiple of canonical::kTileDim, or all that are left
    const std::byte* data = nullptr;
};

/// Sees the outputs of all nodes while a step is executed.
class OutputObserver {
  public:
    virtual ~OutputObserver() = default;
    /// Called once for each row of each node but kCommit, in any order and by several threads at once. Must not throw.
    virtual void see(const OutputRows& rows) = 0;
    /// Whether nothing more is wanted, so that the step may be abandoned.
    virtual bool is_done() const { return false; }
};

}  // namespace assay::engine
