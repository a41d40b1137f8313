// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>

/// Where values of a plan lie in one piece of memory, decided when the plan is made. Sizes are multiples of the
/// alignment.
namespace assay::engine::fused {

/// The first gap that is large enough.
class FirstFit {
  public:
    std::size_t take(std::size_t size);
    void give_back(std::size_t offset) { used_.erase(offset); }
    /// How much memory there has to be.
    std::size_t size_bytes() const { return size_bytes_; }

  private:
    std::map<std::size_t, std::size_t> used_;  // offset, end
    std::size_t size_bytes_ = 0;
};

/// What was given back and has exactly this size, or else memory at the end.
class SameSize {
  public:
    std::size_t take(std::size_t size);
    void give_back(std::size_t size, std::size_t offset) { free_.emplace(size, offset); }
    /// How much memory there has to be.
    std::size_t size_bytes() const { return size_bytes_; }

  private:
    std::multimap<std::size_t, std::size_t> free_;  // size, offset
    std::size_t size_bytes_ = 0;
};

}  // namespace assay::engine::fused
