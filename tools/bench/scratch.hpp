// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace assay::bench {

/// A temporary directory; the destructor removes it.
class Scratch {
  public:
    /// Creates it in `parent`; empty: in the temporary directory.
    explicit Scratch(const std::filesystem::path& parent = {});
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace assay::bench
