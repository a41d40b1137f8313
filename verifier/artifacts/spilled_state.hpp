// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include <core/canonical/node.hpp>
#include <core/canonical/tile.hpp>

namespace assay::artifacts {

/// A state that lies on disk instead of in memory, in a file that has no name and is gone with the object or the
/// process. Functions throw std::runtime_error if the disk fails.
class SpilledState {
  public:
    /// Writes `count` tensors, one after another, to a file in `directory`.
    SpilledState(
        const std::filesystem::path& directory, std::size_t count,
        const std::function<canonical::Tensor(std::size_t)>& tensor
    );
    ~SpilledState();
    SpilledState(SpilledState&& other) noexcept;
    SpilledState& operator=(SpilledState&& other) noexcept;

    std::size_t size() const { return entries_.size(); }
    canonical::Tensor load(std::size_t index) const;

  private:
    struct Entry {
        canonical::TensorType type;
        std::uint64_t offset = 0;
    };
    int file_ = -1;
    std::vector<Entry> entries_;
};

}  // namespace assay::artifacts
