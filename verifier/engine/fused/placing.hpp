// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

/// Where values of a plan lie in one piece of memory, decided when the plan is made. Sizes are multiples of the
/// alignment.
namespace assay::engine::fused {

/// A value that is needed from stage `first` to stage `last`, both included.
struct Lifetime {
    std::size_t size = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t offset = 0;
};

/// Returns how much memory values need at a stage.
std::size_t needed_at(std::span<const Lifetime> values, std::size_t stage);
/// Returns the stage at which they need the most. No placing has less memory than that.
std::size_t busiest_stage(std::span<const Lifetime> values);

/// Sets the offsets, so that values that are needed at one time do not overlap. Returns how much memory there has to
/// be. Each value gets the first gap in the order of stages, where recently used memory is used again. If that takes
/// over a tenth more than they need at one time, other orders are tried: by size, by size and time, by time. The least
/// is taken.
std::size_t place(std::span<Lifetime> values);

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
